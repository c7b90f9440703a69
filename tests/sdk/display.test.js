import assert from "node:assert/strict";
import test from "node:test";
import { exact, readCounts, short } from "../../static/sdk/display.js";

test("a short count never claims more than there is, and agrees with the server", () => {
  // The vectors of src/protocol/counts.rs.
  const vectors = [
    [0, "0"], [999, "999"], [1_000, "1K"], [1_099, "1K"], [1_100, "1.1K"], [9_999, "9.9K"], [99_999, "99.9K"],
    [100_999, "100K"], [999_999, "999K"], [1_000_000, "1M"], [1_250_000, "1.2M"], [999_999_999, "999M"],
    [1_000_000_000, "1B"], [1_000_000_000_000, "1T"],
  ];
  for (const [n, text] of vectors) assert.equal(short(n), text);
});

test("a count past 2^53 keeps its last digit", () => {
  const counts = readCounts({
    taps: { heart: 9007199254740993, fire: 3 }, taps_str: { heart: "9007199254740993" },
    likes: 9223372036854775807, likes_str: "9223372036854775807",
  });
  assert.equal(counts.taps.heart, 9007199254740993n);
  assert.equal(counts.taps.fire, 3);
  assert.equal(exact(counts.likes), "9,223,372,036,854,775,807");
  assert.equal(short(counts.likes), "9223372T");
  assert.ok(!("viewers" in counts), "a field that is absent stays absent");
});
