/**
 * One person's own taps of one kind, and the number to show. Pure: time comes in as a value.
 *
 * The rule: the number shown is the largest total that is *proven*. Three things prove one:
 *   - an own tap adds one to whatever was proven before, since no evidence so far had it in it;
 *   - a count from the server proves itself plus the own taps that have not been sent yet;
 *   - so does the count in an ack, which has the acked taps in it.
 * The largest of these never falls, never has a tap twice, and needs no assumption about whether a count or the ack
 * arrives first. What can be wrong is only that a sent tap was not taken: a refusal takes it back at once, and what
 * was lost with a cut socket is let go when the server's own count has stood lower for `SETTLE_MS`.
 *
 * Taps are summed here and leave one message at a time: while one is unanswered the next ones wait, so that at most
 * one message's fate is unknown after a cut. It is not sent again: a tap shown and lost is a smaller lie than a tap
 * counted twice.
 */
import { narrow } from "./display.js";

/** How long a lower count from the server must stand, with nothing under way, before it is believed. */
export const SETTLE_MS = 2_000;
/** Taps that wait to be sent, at most: a minute of the default rate; more are refused on the spot. */
export const UNSENT_MAX = 6_000;

export class TapBook {
  #proven = 0n;
  #server = 0n;
  #unsent = 0n;
  #inFlight = 0n;
  #lowerSince = null;

  /** The number to show. */
  get shown() {
    return narrow(this.#proven);
  }

  /** Own taps not yet sent. */
  get unsent() {
    return Number(this.#unsent);
  }

  /** Own taps in the message that is under way. */
  get inFlight() {
    return Number(this.#inFlight);
  }

  /** The server's last count. */
  get server() {
    return narrow(this.#server);
  }

  /** Adds own taps; answers how many fit. */
  tap(n) {
    const room = Math.max(0, UNSENT_MAX - Number(this.#unsent));
    const taken = BigInt(Math.min(n, room));
    this.#unsent += taken;
    this.#proven += taken;
    return Number(taken);
  }

  /** Takes at most `max` for one message, nothing while another is under way. */
  take(max) {
    if (this.#inFlight > 0n || this.#unsent === 0n) return 0;
    const n = this.#unsent < BigInt(max) ? this.#unsent : BigInt(max);
    this.#unsent -= n;
    this.#inFlight = n;
    return Number(n);
  }

  /** A count from the server. */
  count(total, now) {
    this.#server = BigInt(total);
    this.#prove(now);
  }

  /** The answer to the message under way: `accepted` of it were taken, `total` (if told) has them in it. */
  acked(accepted, total, now) {
    const refused = this.#inFlight - BigInt(accepted);
    this.#inFlight = 0n;
    if (total !== undefined && BigInt(total) > this.#server) this.#server = BigInt(total);
    if (refused > 0n) this.#takeBack(refused);
    this.#prove(now);
    return Number(refused > 0n ? refused : 0n);
  }

  /** The message under way was refused as a whole; `again`: it is to be sent later. */
  refused(again, now) {
    const n = this.#inFlight;
    this.#inFlight = 0n;
    if (again) this.#unsent += n;
    else this.#takeBack(n);
    this.#prove(now);
    return Number(n);
  }

  /** The socket is gone: what was under way has an unknown fate and is not sent again. */
  cut() {
    const lost = this.#inFlight;
    this.#inFlight = 0n;
    this.#lowerSince = null;
    return Number(lost);
  }

  /** Lets go of what the server has not counted for `SETTLE_MS`. Answers whether the number moved. */
  settle(now) {
    if (this.#lowerSince === null || now - this.#lowerSince < SETTLE_MS) return false;
    this.#proven = this.#server + this.#unsent;
    this.#lowerSince = null;
    return true;
  }

  /** The final count: nothing is added to it any more. */
  final(total) {
    this.#server = this.#proven = BigInt(total);
    this.#unsent = this.#inFlight = 0n;
    this.#lowerSince = null;
  }

  #takeBack(n) {
    const without = this.#proven - n;
    const floor = this.#server + this.#unsent;
    this.#proven = without > floor ? without : floor;
  }

  #prove(now) {
    const told = this.#server + this.#unsent;
    if (told >= this.#proven) this.#proven = told;
    const lower = told < this.#proven && this.#inFlight === 0n;
    this.#lowerSince = lower ? (this.#lowerSince ?? now) : null;
  }
}
