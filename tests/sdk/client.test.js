import assert from "node:assert/strict";
import test from "node:test";
import { connect } from "../../static/sdk/client.js";
import { FakeClock, fakeSockets, hello, snapshot } from "./fakes.js";

function setUp(options = {}) {
  const clock = new FakeClock();
  const net = fakeSockets();
  let key = 0;
  const client = connect({
    base: "http://host:1", item: "demo", clock, WebSocketImpl: net.FakeSocket, random: () => 0.5, key: () => `key${(key += 1)}`, ...options,
  });
  return { clock, client, ...net };
}

function joined(options) {
  const world = setUp(options);
  world.last().accept();
  world.last().tell(hello(), snapshot());
  return world;
}

test("a burst of taps leaves as one message per interval, within n and rates, and none is lost", () => {
  const { clock, client, last } = joined();
  let total = 10;
  for (let ms = 0; ms < 4_000; ms += 10) {
    if (ms < 2_000) client.tap("heart");
    clock.advance(10);
    for (const tap of last().of("tap").filter((t) => !t.done)) {
      tap.done = true;
      total += tap.n;
      last().tell({ t: "ack", id: tap.id, accepted: tap.n, counts: { taps: { heart: total, fire: 2 } } });
    }
    assert.ok(client.count("heart") <= 10 + Math.min(200, ms / 10 + 1));
  }
  const taps = last().of("tap");
  assert.equal(taps.reduce((sum, t) => sum + t.n, 0), 200);
  assert.ok(taps.length <= 22, `${taps.length} messages for 2 s at 100 ms`);
  assert.ok(taps.every((t) => t.n >= 1 && t.n <= 100));
  assert.equal(client.count("heart"), 210);
});

test("the room's pace slows the sender down, and the first tap after a rest leaves at once", () => {
  const { clock, client, last } = joined();
  last().tell({ t: "pace", item: "demo", seq: 5, tick_ms: 1_000 });
  client.tap("heart");
  clock.advance(0);
  assert.equal(last().of("tap").length, 1);
  last().tell({ t: "ack", id: last().of("tap")[0].id, accepted: 1, counts: { taps: { heart: 11 } } });
  client.tap("heart", 7);
  clock.advance(999);
  assert.equal(last().of("tap").length, 1);
  clock.advance(2);
  assert.equal(last().of("tap")[1].n, 7);
});

test("taps made while the socket is away are sent after it is back, taps of unknown fate are not sent twice", () => {
  const { clock, client, last } = joined();
  client.tap("heart", 2);
  clock.advance(0);
  last().drop(1006);
  client.tap("heart", 3);
  assert.equal(client.count("heart"), 15, "all are shown");
  clock.advance(500);
  last().accept();
  last().tell(hello(), { t: "resumed", item: "demo", epoch: "e1", recovered: true, seq: 5 });
  last().tell({ t: "counts", item: "demo", seq: 5, taps: { heart: 12, fire: 2 } });
  clock.advance(100);
  assert.deepEqual(last().of("tap").map((t) => t.n), [3]);
  last().tell({ t: "ack", id: last().of("tap")[0].id, accepted: 3, counts: { taps: { heart: 15 } } });
  clock.advance(10_000);
  assert.equal(client.count("heart"), 15);
});

test("a comment goes again with the same key after a cut, and is there once", () => {
  const { clock, client, last } = joined();
  client.comment("Hello");
  assert.equal(last().of("comment")[0].key, "key1");
  last().drop(1006);
  clock.advance(500);
  last().accept();
  last().tell(hello(), { t: "resumed", item: "demo", epoch: "e1", recovered: true, seq: 6 });
  last().tell({ t: "comments", item: "demo", seq: 6, list: [{ id: "k2", user: "ann", text: "Hello", at: 2 }] });
  assert.equal(client.drafts.visible.length, 0, "the event stands for it");
  const again = last().of("comment")[0];
  assert.equal(again.key, "key1");
  last().tell({ t: "ack", id: again.id, comment: "k2", at: 2 });
  assert.equal(client.drafts.list.length, 0);
  assert.deepEqual(client.room().comments.map((c) => c.id), ["k1", "k2"]);
});

test("an acknowledged comment stays in sight until its event gives it its place", () => {
  const { client, last } = joined();
  client.comment(" Hello ");
  last().tell({ t: "ack", id: last().of("comment")[0].id, comment: "k2", at: 2 });
  assert.equal(client.drafts.visible[0].state, "stored");
  last().tell({ t: "comments", item: "demo", seq: 6, list: [{ id: "k2", user: "ann", text: "Hello", at: 2 }] });
  assert.equal(client.drafts.list.length, 0);
});

test("a refused comment keeps its text and tells when to send it again", () => {
  const { client, last } = joined();
  const told = [];
  client.on("refused", (event) => told.push(event.detail));
  client.comment("too fast");
  last().tell({ t: "error", id: last().of("comment")[0].id, act: "comment", code: "rate_limited", message: "slow", retryable: true, retry_after_ms: 900 });
  assert.equal(told[0].error.retry_after_ms, 900);
  assert.equal(client.drafts.visible[0].text, "too fast");
  client.retry("key1");
  assert.equal(last().of("comment")[1].key, "key1");
});

test("a silent gap is healed by a resume from the last event seen", () => {
  const { clock, client, sockets, last } = joined();
  last().tell({ t: "comments", item: "demo", seq: 6, list: [{ id: "k2", user: "bob", text: "2", at: 2 }] });
  last().tell({ t: "comments", item: "demo", seq: 8, list: [{ id: "k4", user: "bob", text: "4", at: 4 }] });
  assert.equal(client.status.state, "waiting");
  clock.advance(500);
  assert.equal(sockets.length, 2);
  assert.match(last().url, /resume=e1%3A6/);
});

test("an event that counts speak of but that never comes is a gap too", () => {
  const { clock, last, sockets } = joined();
  last().tell({ t: "counts", item: "demo", seq: 6, taps: { heart: 11 } });
  clock.advance(4_000);
  assert.equal(sockets.length, 1);
  clock.advance(4_000);
  assert.equal(sockets.length, 2);
});

test("the anonymous token of hello makes the reconnect the same person", () => {
  const { clock, client, last } = setUp();
  last().accept();
  last().tell(hello({ user: "anon:1", role: "anonymous", token: "tok" }), snapshot());
  assert.equal(client.token, "tok");
  last().drop(4000);
  clock.advance(1_000);
  assert.match(last().url, /token=tok/);
});

test("a server that stops spreads its clients, and one that bans them is not asked again", () => {
  const { clock, client, sockets, last } = joined();
  last().tell({ t: "bye", code: 4000, reconnect_after_ms: 7_000 });
  last().drop(4000);
  clock.advance(6_999);
  assert.equal(sockets.length, 1);
  clock.advance(1);
  assert.equal(sockets.length, 2);
  last().accept();
  last().drop(4501);
  clock.advance(600_000);
  assert.equal(sockets.length, 2);
  assert.deepEqual(client.status, { state: "away", why: "banned", code: 4501 });
});

test("a connection that died in silence is found out and replaced", () => {
  const { clock, client, sockets, last } = joined();
  clock.advance(50_000);
  assert.equal(last().of("ping").length, 1, "2.5 pings of silence: ask");
  last().tell({ t: "pong" });
  clock.advance(49_000);
  assert.equal(sockets.length, 1);
  clock.advance(12_000);
  assert.notEqual(client.status.state, "open");
  clock.advance(1_000);
  assert.equal(sockets.length, 2);
});

test("an act that is never answered does not hold up what comes after it", () => {
  const { clock, client, last } = joined();
  client.tap("heart");
  client.comment("hello?");
  clock.advance(20);
  client.tap("heart", 4);
  clock.advance(34_000);
  assert.equal(last().of("tap").length, 1, "one message at a time");
  last().tell({ t: "counts", item: "demo", seq: 5, viewers: 4 });
  clock.advance(2_500);
  last().accept();
  last().tell(hello(), { t: "resumed", item: "demo", epoch: "e1", recovered: true, seq: 5 });
  clock.advance(200);
  assert.deepEqual(last().of("tap").map((t) => t.n), [4]);
  assert.equal(last().of("comment")[0].key, "key1");
});

test("repeated failures back off, a stable connection starts over", () => {
  const { clock, client, sockets, last } = setUp();
  const waits = [];
  for (let i = 0; i < 6; i += 1) {
    last().drop(1006);
    waits.push(client.status.retryAt - clock.now());
    clock.advance(waits[i]);
  }
  assert.deepEqual(waits, [300, 600, 1200, 2400, 4800, 9600]);
  last().accept();
  last().tell(hello(), snapshot());
  clock.advance(11_000);
  last().drop(1006);
  assert.equal(client.status.retryAt - clock.now(), 300);
  assert.equal(sockets.length, 7);
});

test("after the end nothing is tapped and the counts are final", () => {
  const { clock, client, last } = joined();
  client.tap("heart", 5);
  last().tell({ t: "ending", item: "demo", seq: 6 }, { t: "ended", item: "demo", seq: 7, counts: { taps: { heart: 12, fire: 2 }, likes: 0, comments: 1, viewers: 0 } });
  last().drop(4504);
  assert.equal(client.count("heart"), 12);
  assert.equal(client.tap("heart"), 0);
  clock.advance(100_000);
  assert.equal(client.status.why, "ended");
});

test("a host's socket keeps its items apart and resumes each", () => {
  const { clock, client, last } = setUp({ item: undefined, items: ["a", "b:1"], token: "t" });
  assert.match(last().url, /\/v1\/studio\/ws\?items=a%2Cb%3A1&token=t$/);
  last().accept();
  last().tell(hello({ role: "host" }), snapshot({ item: "a" }), snapshot({ item: "b:1", seq: 9 }));
  last().tell({ t: "counts", item: "b:1", seq: 9, taps: { heart: 77 } });
  assert.equal(client.count("heart", "a"), 10);
  assert.equal(client.count("heart", "b:1"), 77);
  client.comment("hi", "b:1");
  assert.equal(last().of("comment")[0].item, "b:1");
  last().drop(1006);
  clock.advance(500);
  assert.match(decodeURIComponent(last().url), /resume=a@e1:5,b:1@e1:9/);
});

test("bytes that are no message do not break the client", () => {
  const { client, last } = joined();
  last().onmessage({ data: "nonsense\n\n{\"t\":\"counts\",\"item\":\"demo\",\"seq\":5,\"taps\":{\"heart\":11}}\n{" });
  last().tell({ t: "someday", item: "demo", seq: 5 });
  assert.equal(client.count("heart"), 11);
});
