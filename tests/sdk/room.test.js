import assert from "node:assert/strict";
import test from "node:test";
import { COMMENTS_KEPT, Room } from "../../static/sdk/room.js";
import { snapshot } from "./fakes.js";

const joined = () => {
  const room = new Room("demo");
  room.apply(snapshot());
  return room;
};
const comments = (seq, ...ids) =>
  ({ t: "comments", item: "demo", seq, list: ids.map((id) => ({ id, user: "bob", text: id, at: seq })) });

test("a number that is left out is noticed, and nothing after it is applied", () => {
  const room = joined();
  assert.equal(room.apply(comments(6, "k2")).gap, false);
  const effect = room.apply(comments(8, "k4"));
  assert.equal(effect.gap, true);
  assert.deepEqual(room.comments.map((c) => c.id), ["k1", "k2"]);
  assert.equal(room.position, "e1:6", "a resume asks for everything after 6");
});

test("declared loss is no gap", () => {
  const room = joined();
  room.apply({ t: "dropped", item: "demo", seq: 9, comments: 4, since_ms: 100 });
  assert.equal(room.apply(comments(10, "k9")).gap, false);
  assert.equal(room.declaredLost, 4);
});

test("an event that is repeated after a resume changes nothing", () => {
  const room = joined();
  room.apply(comments(6, "k2"));
  room.apply({ t: "resumed", item: "demo", epoch: "e1", recovered: true, seq: 7 });
  assert.deepEqual(room.apply(comments(6, "k2")).added, []);
  assert.equal(room.apply(comments(7, "k2", "k3")).added.length, 1, "the same comment under another number neither");
  assert.deepEqual(room.comments.map((c) => c.id), ["k1", "k2", "k3"]);
});

test("counts are absolute and only what is named moves", () => {
  const room = joined();
  room.apply({ t: "counts", item: "demo", seq: 5, taps: { heart: 12 }, viewers: 2 });
  assert.deepEqual(room.counts, { taps: { heart: 12, fire: 2 }, likes: 0, comments: 1, viewers: 2 });
});

test("counts that know of a later event mark the room as behind until it comes", () => {
  const room = joined();
  room.apply({ t: "counts", item: "demo", seq: 6, taps: { heart: 12 } });
  assert.ok(room.behind > room.seq);
  room.apply(comments(6, "k2"));
  assert.ok(room.behind <= room.seq);
});

test("a snapshot after a failed resume replaces what it covers and keeps what joins on", () => {
  const room = joined();
  room.apply(comments(6, "k2", "k3"));
  const list = ["k2", "k5"].map((id) => ({ id, user: "bob", text: id, at: 9 }));
  room.apply(snapshot({ epoch: "e2", seq: 40, comments: list }));
  assert.deepEqual(room.comments.map((c) => c.id), ["k1", "k2", "k5"], "k3 was removed meanwhile");
  room.apply(snapshot({ epoch: "e3", seq: 1, comments: [{ id: "z", user: "bob", text: "z", at: 9 }] }));
  assert.deepEqual(room.comments.map((c) => c.id), ["z"], "no hole is papered over");
});

test("removed comments go, also the pinned one, and memory stays bounded", () => {
  const room = joined();
  room.apply({ t: "pinned", item: "demo", seq: 6, comment: { id: "k1", user: "bob", text: "first", at: 1 } });
  room.apply({ t: "removed", item: "demo", seq: 7, comments: ["k1"] });
  assert.equal(room.pinned, null);
  assert.equal(room.comments.length, 0);
  for (let i = 0; i < COMMENTS_KEPT * 10; i += 1) room.apply(comments(8 + i, `c${i}`));
  assert.equal(room.comments.length, COMMENTS_KEPT);
  assert.ok(room.ids.size <= 2_000);
});

test("the end carries final counts", () => {
  const room = joined();
  room.apply({ t: "ending", item: "demo", seq: 6 });
  assert.ok(room.ending && !room.ended);
  room.apply({ t: "ended", item: "demo", seq: 7, counts: { taps: { heart: 99 }, likes: 0, comments: 1, viewers: 0 } });
  assert.ok(room.ended);
  assert.equal(room.counts.taps.heart, 99);
});
