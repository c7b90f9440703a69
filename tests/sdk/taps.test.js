import assert from "node:assert/strict";
import test from "node:test";
import { SETTLE_MS, TapBook } from "../../static/sdk/taps.js";
import { seeded } from "./fakes.js";

test("an own tap is counted at once, and once, whether the count or the ack comes first", () => {
  for (const ackFirst of [true, false]) {
    const book = new TapBook();
    book.count(10, 0);
    book.tap(3);
    assert.equal(book.shown, 13);
    assert.equal(book.take(100), 3);
    if (!ackFirst) {
      book.count(13, 1);
      assert.equal(book.shown, 13, "the count has them already");
    }
    book.acked(3, 13, 2);
    assert.equal(book.shown, 13);
    book.count(13, 3);
    assert.equal(book.shown, 13);
  }
});

test("other people's taps do not hide or double own ones that are not sent yet", () => {
  const book = new TapBook();
  book.count(10, 0);
  book.tap(5);
  book.count(17, 1);
  assert.equal(book.shown, 22);
  book.take(100);
  book.count(18, 2);
  assert.equal(book.shown, 22, "18 may have the five in it or not: 22 is proven, 23 is not");
  book.acked(5, 23, 3);
  assert.equal(book.shown, 23);
});

test("refused taps are taken back at once, but never what others have made up for", () => {
  const book = new TapBook();
  book.count(10, 0);
  book.tap(8);
  book.take(100);
  assert.equal(book.acked(5, 15, 1), 3);
  assert.equal(book.shown, 15);
  book.tap(4);
  book.take(100);
  book.count(40, 2);
  assert.equal(book.refused(false, 3), 4);
  assert.equal(book.shown, 40);
});

test("a refusal that may be repeated sends the taps again, once", () => {
  const book = new TapBook();
  book.tap(4);
  book.take(100);
  book.refused(true, 0);
  assert.equal(book.shown, 4);
  assert.equal(book.take(100), 4);
  book.acked(4, 4, 1);
  assert.equal(book.shown, 4);
  assert.equal(book.take(100), 0);
});

test("taps lost with a cut socket are let go, and those that were in are kept without a flicker", () => {
  const lost = new TapBook();
  lost.count(10, 0);
  lost.tap(2);
  lost.take(100);
  assert.equal(lost.cut(), 2);
  lost.count(10, 100);
  assert.equal(lost.settle(100 + SETTLE_MS - 1), false);
  assert.equal(lost.shown, 12, "the server may still be about to count them");
  assert.equal(lost.settle(100 + SETTLE_MS), true);
  assert.equal(lost.shown, 10);

  const kept = new TapBook();
  kept.count(10, 0);
  kept.tap(2);
  kept.take(100);
  kept.cut();
  kept.count(10, 100);
  kept.count(12, 200);
  assert.equal(kept.settle(99_999), false);
  assert.equal(kept.shown, 12);
});

test("counts past 2^53 move by one", () => {
  const book = new TapBook();
  book.count(9007199254740993n, 0);
  book.tap(1);
  assert.equal(book.shown, 9007199254740994n);
});

test("whatever the order of counts, acks and refusals, the number is never over the truth and ends at it", () => {
  // Scenario: one person and others tap on one item; the server's counts and acks arrive over two queues, late and
  // interleaved at random. Method: 2,000 seeded histories; after each step the number shown is compared with the true
  // total (all taken taps and those still unsent or under way).
  for (let seed = 1; seed <= 2_000; seed += 1) history(seed);
});

function history(seed) {
  const random = seeded(seed);
  const book = new TapBook();
  const world = { total: 0, counts: [], wire: null, acks: [] };
  let before = 0;
  let refusedNow = false;
  const steps = {
    own: () => book.tap(1 + Math.floor(random() * 5)),
    others: () => (world.total += Math.floor(random() * 4)),
    send: () => {
      const n = book.take(4);
      if (n > 0) world.wire = n;
    },
    serve: () => {
      if (world.wire === null) return;
      const accepted = random() < 0.15 ? Math.floor(random() * (world.wire + 1)) : world.wire;
      world.total += accepted;
      world.acks.push({ accepted, total: world.total });
      world.wire = null;
    },
    count: () => world.counts.push(world.total),
    hearCount: () => world.counts.length && book.count(world.counts.shift(), 0),
    hearAck: () => {
      const ack = world.acks.shift();
      if (ack) refusedNow = book.acked(ack.accepted, ack.total, 0) > 0;
    },
  };
  const names = Object.keys(steps);
  const check = (name) => {
    const taken = world.acks.reduce((sum, ack) => sum + ack.accepted, 0);
    const possible = world.total + book.unsent + (book.inFlight - taken);
    assert.ok(book.shown <= possible, `seed ${seed}, ${name}: shown ${book.shown}, at most ${possible}`);
    assert.ok(refusedNow || book.shown >= before, `seed ${seed}, ${name}: fell from ${before} to ${book.shown}`);
    before = book.shown;
    refusedNow = false;
  };
  for (let step = 0; step < 60; step += 1) {
    const name = names[Math.floor(random() * names.length)];
    steps[name]();
    check(name);
  }
  while (world.counts.length || world.acks.length || world.wire !== null || book.unsent) {
    for (const name of ["send", "serve", "hearAck", "hearCount"]) {
      steps[name]();
      check(name);
    }
  }
  book.count(world.total, 0);
  assert.equal(book.shown, world.total, `seed ${seed}: the end`);
}
