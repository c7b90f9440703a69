/**
 * Counts as values and as text.
 *
 * A count on the wire is an exact integer; past 2^53-1 it comes as text beside the number. Here it is a Number where
 * that is exact and a BigInt otherwise, so that nothing downstream ever shows a rounded number as an exact one.
 */

const UNITS = [
  [1_000_000_000_000n, "T"],
  [1_000_000_000n, "B"],
  [1_000_000n, "M"],
  [1_000n, "K"],
];

/**
 * Short text of a count: exact below 1,000, then one decimal below 100 of a unit and none above, never rounded up:
 * 999, 1K, 1.2K, 99.9K, 100K, 1.2M. The same rules as the server's `display`.
 */
export function short(count) {
  const n = BigInt(count);
  const unit = UNITS.find(([size]) => n >= size);
  if (!unit) return n.toString();
  const [size, letter] = unit;
  const whole = n / size;
  const tenth = (n % size) / (size / 10n);
  return whole >= 100n || tenth === 0n ? `${whole}${letter}` : `${whole}.${tenth}${letter}`;
}

/** The whole number, grouped for people: 1,234,567. */
export function exact(count, locale = "en") {
  return BigInt(count).toLocaleString(locale);
}

/** A count from the wire: the text wins where there is one. `undefined` where the field is absent. */
export function countOf(number, text) {
  if (typeof text === "string" && /^-?\d+$/.test(text)) return narrow(BigInt(text));
  return Number.isFinite(number) ? number : undefined;
}

/** A BigInt as a Number where that is exact. */
export function narrow(big) {
  const small = Number(big);
  return Number.isSafeInteger(small) ? small : big;
}

/** The larger of two counts of either type. */
export const larger = (a, b) => (a > b ? a : b);

/** The fields of a `counts` object that are there: `{taps: {kind: count}, likes?, comments?, viewers?}`. */
export function readCounts(message) {
  const counts = { taps: {} };
  for (const [kind, n] of Object.entries(message.taps ?? {})) {
    const value = countOf(n, message.taps_str?.[kind]);
    if (value !== undefined) counts.taps[kind] = value;
  }
  for (const name of ["likes", "comments", "viewers"]) {
    const value = countOf(message[name], message[`${name}_str`]);
    if (value !== undefined) counts[name] = value;
  }
  return counts;
}
