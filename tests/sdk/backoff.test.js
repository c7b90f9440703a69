import assert from "node:assert/strict";
import test from "node:test";
import { MAX_MS, closeMeaning, delayMs, waitAfter } from "../../static/sdk/backoff.js";

test("a fleet does not come back in step, nor ever faster than it may", () => {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const [low, high] = [delayMs(attempt, () => 0), delayMs(attempt, () => 0.999999)];
    assert.ok(low >= 100 && high <= MAX_MS && high >= low * 4.5, `${attempt}: ${low}-${high}`);
  }
  assert.ok(delayMs(3, () => 0.5) > delayMs(1, () => 0.5));
});

test("what the server told to wait is taken as it is, also on later attempts", () => {
  assert.equal(waitAfter({ attempt: 9, told: 1234, random: () => 0.5 }), 1234);
  assert.equal(waitAfter({ attempt: 0, told: undefined, random: () => 0 }), 100);
  assert.equal(waitAfter({ attempt: 0, told: 1e12, random: () => 0 }), 300_000, "but not for ever");
});

test("a deploy never tells viewers to stay away, a ban always does", () => {
  for (const code of [1000, 1001, 1006, 1012, 4000, 4001, 4002, 4003, 4499]) assert.equal(closeMeaning(code).come, "back");
  for (const code of [4500, 4501, 4502, 4504, 4999]) assert.equal(closeMeaning(code).come, "away");
});
