/**
 * The last minute of one count, a value a second. Pure: it is fed by whoever has a clock.
 */

/** Seconds that are kept and drawn. */
export const SECONDS = 60;
/** A rate is told over this many seconds: long enough to stand still, short enough to follow the show. */
const RATE_SECONDS = 5;

export class Series {
  #last = null;
  #perSecond = [];
  #levels = [];

  /** The count at the end of a second. The first one only sets the mark: what was before is no rate. */
  push(count) {
    const n = BigInt(count);
    if (this.#last !== null) {
      this.#perSecond.push(Math.max(0, Number(n - this.#last)));
      this.#levels.push(Number(n));
    }
    this.#last = n;
    for (const list of [this.#perSecond, this.#levels]) list.splice(0, Math.max(0, list.length - SECONDS));
  }

  /** What was added per second, oldest first. */
  get perSecond() {
    return this.#perSecond;
  }

  /** What it stood at, oldest first. */
  get levels() {
    return this.#levels;
  }

  /** Per second, over the last few. */
  get rate() {
    const recent = this.#perSecond.slice(-RATE_SECONDS);
    return recent.length ? recent.reduce((sum, n) => sum + n, 0) / recent.length : 0;
  }

  /** The highest second of the minute. */
  get peak() {
    return Math.max(0, ...this.#perSecond);
  }
}

/** Text of a rate: whole from 10 on, one decimal below. */
export function rateText(rate) {
  if (rate >= 9.95) return Math.round(rate).toLocaleString("en");
  return rate === 0 ? "0" : rate.toFixed(1);
}

/** SVG path of a line through `values` in a box of `width` × `height`, right-aligned, the lowest at the bottom. */
export function linePath(values, width, height, floor = 0) {
  if (values.length === 0) return "";
  const top = Math.max(...values, floor + 1);
  const step = width / (SECONDS - 1);
  const start = width - (values.length - 1) * step;
  const y = (value) => height - 2 - ((value - floor) / (top - floor)) * (height - 6);
  return values.map((value, i) => `${i === 0 ? "M" : "L"}${(start + i * step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
}
