import assert from "node:assert/strict";
import test from "node:test";
import { SECONDS, Series, linePath, rateText } from "../../static/studio/series.js";

test("what was counted before the page was opened is no rate", () => {
  const series = new Series();
  series.push(1_000_000);
  assert.equal(series.rate, 0);
  for (const n of [1_000_010, 1_000_020, 1_000_020]) series.push(n);
  assert.deepEqual(series.perSecond, [10, 10, 0]);
  assert.equal(series.peak, 10);
  assert.equal(rateText(series.rate), "6.7");
});

test("only a minute is kept, and counts past 2^53 still have a rate", () => {
  const series = new Series();
  for (let i = 0; i < 500; i += 1) series.push(9007199254740993n + BigInt(i) * 3n);
  assert.equal(series.perSecond.length, SECONDS);
  assert.equal(series.rate, 3);
});

test("the line ends at the right edge and stays in its box", () => {
  assert.equal(linePath([], 100, 40), "");
  const points = [...linePath([0, 5, 10], 118, 40).matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
  assert.equal(points.at(-1)[0], 118);
  assert.ok(points.every(([x, y]) => x >= 0 && x <= 118 && y >= 0 && y <= 40));
  assert.ok(points[2][1] < points[0][1], "more is higher");
});
