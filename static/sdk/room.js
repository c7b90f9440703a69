/**
 * One item as its client knows it: what the server's messages add up to. Pure: a message goes in, what changed comes
 * out; no socket, no page.
 *
 * The invariant: `seq` is the number of the last event that is in this state, and every event up to it is too, unless
 * the server declared its loss. An event that leaves a number out is not applied: `gap` asks for a resume from here.
 */
import { larger, readCounts } from "./display.js";

/** Comments that are kept: about an hour of scrolling up in a calm room, a few hundred KB at worst. */
export const COMMENTS_KEPT = 300;
/** Ids that are remembered against doubles, longer than the comments themselves. */
const IDS_KEPT = 2_000;
/** Messages that take the next number; `counts`, `pace` and `dropped` carry the current one. */
const EVENTS = new Set(["comments", "removed", "pinned", "item", "poll", "giveaway", "auction", "ending", "ended"]);

export class Room {
  constructor(item) {
    this.item = item;
    this.epoch = null;
    this.seq = 0;
    this.settings = null;
    this.counts = { taps: {}, likes: 0, comments: 0, viewers: 0 };
    this.comments = [];
    this.pinned = null;
    this.ending = false;
    this.ended = false;
    this.tickMs = null;
    this.behind = 0;
    this.declaredLost = 0;
    this.you = null;
    this.ids = new Set();
  }

  /** `epoch:seq` to resume from, or null before the first snapshot. */
  get position() {
    return this.epoch === null ? null : `${this.epoch}:${this.seq}`;
  }

  /** Applies one message: `{changed: […names], added: […comments], removed: […ids], gap: bool}`. */
  apply(message) {
    const effect = { changed: [], added: [], removed: [], gap: false };
    if (EVENTS.has(message.t) && !this.#next(message.seq, effect, message.t === "ended")) return effect;
    this[`on_${message.t}`]?.(message, effect);
    return effect;
  }

  /** Whether an event is the next one. Older: seen already, no effect. Later: a silent gap. */
  #next(seq, effect, final) {
    // The end is a fact, whatever was missed before it: it is told again to whoever joins later, and no resume follows.
    if (final) return (this.seq = larger(this.seq, seq)) >= 0;
    if (this.epoch === null || seq <= this.seq) return false;
    effect.gap = seq !== this.seq + 1;
    if (!effect.gap) this.seq = seq;
    return !effect.gap;
  }

  on_snapshot(message, effect) {
    this.epoch = message.epoch;
    this.seq = message.seq;
    this.behind = 0;
    this.#settings(message);
    this.counts = { taps: {}, likes: 0, comments: 0, viewers: 0 };
    this.#count(message.counts);
    this.pinned = message.pinned ?? null;
    this.#replace(message.comments ?? []);
    effect.changed.push("snapshot", "counts", "item", "pinned");
  }

  on_resumed(message, effect) {
    if (message.recovered) this.epoch = message.epoch;
    effect.changed.push("resumed");
  }

  on_counts(message, effect) {
    // An event may be written just after the counts of its tick: this alone proves no gap yet.
    this.behind = message.seq > this.seq ? message.seq : 0;
    this.#count(message);
    effect.changed.push("counts");
  }

  on_comments(message, effect) {
    effect.added = message.list.filter((comment) => this.#remember(comment.id));
    this.comments.push(...effect.added);
    this.comments.splice(0, Math.max(0, this.comments.length - COMMENTS_KEPT));
    effect.changed.push("comments");
  }

  on_removed(message, effect) {
    const gone = new Set(message.comments);
    this.comments = this.comments.filter((comment) => !gone.has(comment.id));
    if (this.pinned && gone.has(this.pinned.id)) this.pinned = null;
    effect.removed = [...gone];
    effect.changed.push("comments", "pinned");
  }

  on_pinned(message, effect) {
    this.pinned = message.comment ?? null;
    effect.changed.push("pinned");
  }

  on_item(message, effect) {
    this.#settings(message);
    effect.changed.push("item");
  }

  on_ending(_message, effect) {
    this.ending = true;
    effect.changed.push("item");
  }

  on_ended(message, effect) {
    this.ended = true;
    this.settings = { ...this.settings, state: "ended" };
    this.#count(message.counts);
    effect.changed.push("counts", "item", "ended");
  }

  on_pace(message, effect) {
    this.tickMs = message.tick_ms;
    effect.changed.push("pace");
  }

  on_dropped(message, effect) {
    this.declaredLost += message.comments ?? 0;
    this.seq = larger(this.seq, message.seq);
    this.behind = 0;
    effect.changed.push("dropped");
  }

  on_you(message, effect) {
    this.you = message;
    effect.changed.push("you");
  }

  #settings({ item, title, state, reactions, comments_mode, slow_mode_ms, started_at, ended_at }) {
    this.settings = { item, title, state, reactions, comments_mode, slow_mode_ms, started_at, ended_at };
    if (state === "ended") this.ended = true;
  }

  #count(message) {
    const { taps, ...rest } = readCounts(message);
    Object.assign(this.counts.taps, taps);
    Object.assign(this.counts, rest);
  }

  #remember(id) {
    if (this.ids.has(id)) return false;
    this.ids.add(id);
    if (this.ids.size > IDS_KEPT) this.ids.delete(this.ids.values().next().value);
    return true;
  }

  /** A snapshot's comments are the truth from its first one on; older ones stay only where they join without a hole. */
  #replace(list) {
    const joins = list.length ? this.comments.findIndex((comment) => comment.id === list[0].id) : -1;
    const older = joins > 0 ? this.comments.slice(0, joins) : [];
    this.comments = [...older, ...list];
    this.comments.forEach((comment) => this.#remember(comment.id));
  }
}
