/**
 * A token bucket: the client keeps within the rates that `hello.limits` tells, so that a fast thumb is summed up and
 * sent a little later instead of being refused. Pure: time comes in as a value.
 */
export class Bucket {
  #perSecond;
  #burst;
  #level;
  #at;

  constructor(perSecond, burst, now) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#level = burst;
    this.#at = now;
  }

  /** How many whole units may go now. */
  available(now) {
    if (this.#burst === Infinity) return Infinity;
    const gained = (Math.max(0, now - this.#at) / 1000) * this.#perSecond;
    this.#level = Math.min(this.#burst, this.#level + gained);
    this.#at = Math.max(this.#at, now);
    return Math.floor(this.#level);
  }

  /** Takes `n` units that were available. */
  take(n) {
    this.#level -= n;
  }

  /** The server said that there is nothing left. */
  empty() {
    this.#level = 0;
  }
}
