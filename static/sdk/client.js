/**
 * The Heartline client: one item for a viewer, or several for a host, over one socket that keeps coming back.
 *
 * ```js
 * import { connect } from "/sdk/heartline.js";
 * const client = connect({ item: "demo" });
 * client.on("counts", () => console.log(client.count("heart")));
 * client.tap("heart");
 * client.comment("Hello!");
 * ```
 *
 * Events (`client.on(type, fn)`, or `addEventListener`; what is told is in `event.detail`): `status`, `hello`,
 * `snapshot`, `ready`, `counts`, `comments` `{item, added}`, `removed` `{item, ids}`, `item`, `pinned`, `pace`, `dropped`,
 * `ended`, `liked`, `drafts`, `refused` `{act, kind?, n?, error}`, `message` (each message as it came).
 *
 * What the state means lives in pure modules of its own: `room.js`, `taps.js`, `likes.js`, `drafts.js`, `backoff.js`. This file
 * connects them and keeps no rules; it never touches a page or a storage.
 */
import { Drafts } from "./drafts.js";
import { countOf } from "./display.js";
import { LikeBook } from "./likes.js";
import { Link } from "./link.js";
import { Bucket } from "./rate.js";
import { Room } from "./room.js";
import { TapBook } from "./taps.js";

/** Counts that tell of an event which does not come: after so long it is a gap. */
const BEHIND_MS = 5_000;
/** The server answers every act within 30 s, if only with an unknown outcome; a socket on which it does not is given up. */
const ANSWER_MS = 35_000;
/** We stay a little under the told rates: clocks differ, and networks push messages together. */
const RATE_MARGIN = 0.95;
/** The interval until the server has told one. */
const TICK_MS = 100;

const REAL_CLOCK = {
  now: () => Date.now(),
  setTimeout: (fn, ms) => setTimeout(fn, ms),
  clearTimeout: (id) => clearTimeout(id),
  setInterval: (fn, ms) => setInterval(fn, ms),
  clearInterval: (id) => clearInterval(id),
};

/**
 * Connects. `item` for a viewer, or `items` for a host; `base` is the server's origin (default: the page's); `token`
 * a bearer token; `observe` does not count this socket as a viewer. The rest is for tests.
 */
export function connect(options) {
  const client = new HeartlineClient(options);
  client.open();
  return client;
}

export class HeartlineClient extends EventTarget {
  #o;
  #link;
  #clock;
  #rooms = new Map();
  #books = new Map();
  #likes = new Map();
  #tapTimer = null;
  #sentAt = -Infinity;
  #serial = 0;
  #asked = new Map();
  #tapRate = null;
  #messageRate = null;
  #behindSince = null;

  constructor(options) {
    super();
    this.#o = { random: Math.random, key: () => globalThis.crypto.randomUUID(), ...options };
    this.#clock = options.clock ?? REAL_CLOCK;
    this.items = options.items ?? [options.item];
    this.token = options.token ?? null;
    this.hello = null;
    this.drafts = new Drafts();
    for (const item of this.items) this.#rooms.set(item, new Room(item));
    this.#link = new Link({
      url: () => this.#url(),
      WebSocketImpl: options.WebSocketImpl ?? globalThis.WebSocket,
      clock: this.#clock,
      random: this.#o.random,
      protocols: ["heartline.v1"],
      onOpen: () => {},
      onMessage: (message) => this.#receive(message),
      onDown: () => this.#cut(),
      onStatus: (status) => this.#emit("status", status),
      onWatch: (now) => this.#look(now),
    });
  }

  /** `{state: connecting|open|waiting|away|closed, …}`, see `link.js`. */
  get status() {
    return this.#link.status;
  }

  /** The state of an item (the only one, if not named): settings, counts, comments, pinned. */
  room(item = this.items[0]) {
    return this.#rooms.get(item);
  }

  /** The number to show for a kind of tap: the server's, with the own taps that it cannot have yet. */
  count(kind, item = this.items[0]) {
    return this.#book(item, kind).shown;
  }

  on(type, fn) {
    this.addEventListener(type, fn);
    return () => this.removeEventListener(type, fn);
  }

  open() {
    this.#link.open();
  }

  close() {
    this.#link.close();
  }

  /** The page is looked at again, or the network came back. */
  nudge() {
    this.#link.nudge();
  }

  /** Becomes somebody else: comes back at once with this token. */
  setToken(token) {
    this.token = token;
    this.#likes.clear();
    this.#link.restart(true);
  }

  /** Renews the token of the same person in place. */
  renew(token) {
    this.token = token;
    this.#link.send({ t: "auth", token, id: this.#ask({ act: "auth" }) });
  }

  /** Adds own taps: shown at once, sent with the next interval. Answers how many were taken. */
  tap(kind = "heart", n = 1, item = this.items[0]) {
    if (this.room(item).ended || this.room(item).ending) return 0;
    const taken = this.#book(item, kind).tap(n);
    this.#scheduleTaps();
    this.#emit("counts", { item, own: true });
    return taken;
  }

  /** Whether this person likes the item: as they last asked, else as the server has it. */
  liked(item = this.items[0]) {
    return this.#like(item).liked;
  }

  /** Likes the item, or takes the like back: shown at once, sent as soon as it can be. */
  like(liked = true, item = this.items[0]) {
    if (this.room(item).ended || this.room(item).ending) return;
    this.#like(item).want(liked);
    this.#sendLike(item);
    this.#emit("liked", { item });
  }

  /** Sends a comment; answers its draft, or null when too many wait (the caller keeps the text). */
  comment(text, item = this.items[0]) {
    const draft = this.drafts.add(text, this.#o.key());
    if (!draft) return null;
    draft.item = item;
    this.#sendDrafts();
    return draft;
  }

  /** Sends a refused comment again, with its old key. */
  retry(key) {
    if (this.drafts.retry(key)) this.#sendDrafts();
  }

  /** Gives a refused comment up; answers its text. */
  discard(key) {
    const draft = this.drafts.remove(key);
    this.#emit("drafts", {});
    return draft?.text ?? null;
  }

  #url() {
    const base = (this.#o.base ?? globalThis.location.origin).replace(/^http/, "ws").replace(/\/$/, "");
    const query = new URLSearchParams();
    const studio = Boolean(this.#o.items);
    if (studio) query.set("items", this.items.join(","));
    if (this.token) query.set("token", this.token);
    if (this.#o.observe) query.set("observe", "1");
    const resume = this.#resume(studio);
    if (resume) query.set("resume", resume);
    const path = studio ? "/v1/studio/ws" : `/v1/items/${encodeURIComponent(this.items[0])}/ws`;
    const text = query.toString();
    return `${base}${path}${text ? `?${text}` : ""}`;
  }

  #resume(studio) {
    const known = [...this.#rooms.values()].filter((room) => room.position !== null);
    return known.map((room) => (studio ? `${room.item}@${room.position}` : room.position)).join(",");
  }

  #receive(message) {
    this.#emit("message", message);
    if (message.t === "hello") return this.#greet(message);
    if (message.t === "ack") return this.#answered(message, null);
    if (message.t === "error") return this.#answered(message, message);
    const room = this.#rooms.get(message.item ?? (this.items.length === 1 ? this.items[0] : undefined));
    if (room) this.#apply(room, message);
  }

  #greet(hello) {
    this.hello = hello;
    if (hello.token) this.token = hello.token;
    if (hello.ping_ms > 0) this.#link.pingMs = hello.ping_ms;
    const limits = hello.limits ?? {};
    const now = this.#clock.now();
    const rate = (n) => (n > 0 ? n * RATE_MARGIN : Infinity);
    this.#tapRate = new Bucket(rate(limits.taps_per_s), rate(limits.taps_burst), now);
    this.#messageRate = new Bucket(rate(limits.tap_messages_per_s), rate(limits.tap_messages_per_s), now);
    this.#emit("hello", hello);
  }

  #apply(room, message) {
    const effect = room.apply(message);
    if (effect.gap) return this.#link.restart();
    const { item } = room;
    for (const comment of effect.added) this.drafts.matched(comment, this.hello?.user);
    for (const name of effect.changed) {
      if (name === "counts") this.#feed(room, message.t === "ended");
      if (name === "you") this.#told(item, message.liked);
      if (name === "comments" && effect.removed.length) this.#emit("removed", { item, ids: effect.removed });
      else this.#emit(name, { item, added: effect.added, message });
    }
    if (effect.added.length || message.t === "snapshot") {
      this.drafts.arrived(room.ids);
      this.#emit("drafts", {});
    }
    // The room's state is there: what waited for it may go.
    if (message.t === "snapshot" || message.t === "resumed") this.#ready(item);
  }

  #feed(room, final) {
    const now = this.#clock.now();
    for (const [kind, total] of Object.entries(room.counts.taps)) {
      if (final) this.#book(room.item, kind).final(total);
      else this.#book(room.item, kind).count(total, now);
    }
  }

  #ready(item) {
    this.#emit("ready", { item });
    this.#sendDrafts();
    this.#scheduleTaps();
  }

  /** An `ack` or a coded refusal, told apart by the id of what was asked. */
  #answered(message, error) {
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if (asked?.act === "tap") this.#tapAnswered(asked, message, error);
    else if (asked?.act === "like") this.#likeAnswered(asked, message, error);
    else if (asked?.act === "comment") this.#commentAnswered(asked, message, error);
    else if (error) this.#emit("refused", { act: error.act, error });
  }

  #tapAnswered({ item, kind }, message, error) {
    const book = this.#book(item, kind);
    const now = this.#clock.now();
    const total = countOf(message.counts?.taps?.[kind], message.counts?.taps_str?.[kind]);
    const again = error?.retryable === true && error.outcome !== "unknown";
    const refused = error ? book.refused(again, now) : book.acked(message.accepted, total, now);
    if (error?.code === "rate_limited" || refused > 0) this.#tapRate?.empty();
    if (refused > 0 && !again) this.#emit("refused", { act: "tap", kind, n: refused, error: error ?? null });
    this.#emit("counts", { item, own: true });
    this.#scheduleTaps(again ? (error.retry_after_ms ?? 1_000) : 0);
  }

  #likeAnswered({ item }, message, error) {
    if (!error) return this.#told(item, message.liked, true);
    const again = error.retryable === true || error.outcome === "unknown";
    this.#like(item).refused(again);
    if (again) this.#clock.setTimeout(() => this.#sendLike(item), error.retry_after_ms ?? 1_000);
    else this.#emit("refused", { act: "like", error });
    this.#emit("liked", { item });
  }

  #told(item, liked, answers = false) {
    this.#like(item).told(liked, answers);
    this.#sendLike(item);
    this.#emit("liked", { item });
  }

  #sendLike(item) {
    // Before `you` the server's side is not known, and comes at once.
    if (this.status.state !== "open" || !this.room(item).you) return;
    const liked = this.#like(item).take();
    if (liked === null) return;
    const named = this.#o.items ? { item } : {};
    const sent = this.#link.send({ t: liked ? "like" : "unlike", ...named, id: this.#ask({ act: "like", item }) });
    if (!sent) this.#like(item).cut();
  }

  #commentAnswered({ item, key }, message, error) {
    if (error) {
      const draft = this.drafts.failed(key, error);
      if (draft) this.#emit("refused", { act: "comment", error, draft });
    } else {
      this.drafts.stored(key, message.comment);
      this.drafts.arrived(this.room(item).ids);
    }
    this.#emit("drafts", {});
  }

  #sendDrafts() {
    if (this.status.state === "open" && this.hello && this.room().epoch !== null) {
      for (const draft of this.drafts.take()) {
        const { key, text, item } = draft;
        const named = this.#o.items ? { item } : {};
        const id = this.#ask({ act: "comment", item, key });
        if (!this.#link.send({ t: "comment", text, key, ...named, id })) this.drafts.cut();
      }
    }
    this.#emit("drafts", {});
  }

  #scheduleTaps(atLeastMs = 0) {
    if (this.#tapTimer !== null) return;
    const due = this.#sentAt + this.#interval() - this.#clock.now();
    this.#tapTimer = this.#clock.setTimeout(() => this.#sendTaps(), Math.max(0, due, atLeastMs));
  }

  #interval() {
    return this.room().tickMs ?? this.hello?.tick_ms ?? TICK_MS;
  }

  /** At most one message per kind and interval, within the told rates; what is left waits for the next. */
  #sendTaps() {
    this.#tapTimer = null;
    if (this.status.state !== "open" || !this.#tapRate) return;
    const now = this.#clock.now();
    let left = false;
    for (const [name, book] of this.#books) {
      const [item, kind] = name.split("\t");
      const max = Math.min(this.hello.limits?.tap_n_max ?? 100, this.#tapRate.available(now));
      const may = max >= 1 && this.#messageRate.available(now) >= 1 && this.room(item).epoch !== null;
      const n = may ? book.take(max) : 0;
      if (n > 0) this.#sendTap(item, kind, n, book);
      left ||= book.unsent > 0;
    }
    this.#sentAt = now;
    if (left) this.#scheduleTaps(20);
  }

  #sendTap(item, kind, n, book) {
    this.#tapRate.take(n);
    this.#messageRate.take(1);
    const named = this.#o.items ? { item } : {};
    const sent = this.#link.send({ t: "tap", kind, n, ...named, id: this.#ask({ act: "tap", item, kind }) });
    if (!sent) book.refused(true, this.#clock.now());
  }

  /** Remembers what is asked until its answer comes or the socket goes; answers its id. */
  #ask(asked) {
    this.#serial += 1;
    this.#asked.set(this.#serial, { ...asked, at: this.#clock.now() });
    return this.#serial;
  }

  #like(item) {
    if (!this.#likes.has(item)) this.#likes.set(item, new LikeBook());
    return this.#likes.get(item);
  }

  #book(item, kind) {
    const name = `${item}\t${kind}`;
    if (!this.#books.has(name)) this.#books.set(name, new TapBook());
    return this.#books.get(name);
  }

  #cut() {
    this.#clock.clearTimeout(this.#tapTimer);
    this.#tapTimer = null;
    this.#tapRate = this.#messageRate = null;
    this.#asked.clear();
    for (const book of [...this.#books.values(), ...this.#likes.values()]) book.cut();
    this.drafts.cut();
    this.#emit("drafts", {});
  }

  #look(now) {
    let moved = false;
    for (const book of this.#books.values()) moved = book.settle(now) || moved;
    if (moved) this.#emit("counts", { item: this.items[0], own: true });
    // Insertion order is age: the first is the oldest.
    const [oldest] = this.#asked.values();
    if (oldest && now - oldest.at >= ANSWER_MS) return this.#link.restart();
    const behind = [...this.#rooms.values()].some((room) => room.behind > room.seq);
    this.#behindSince = behind ? (this.#behindSince ?? now) : null;
    if (behind && now - this.#behindSince >= BEHIND_MS) {
      this.#behindSince = null;
      this.#link.restart();
    }
  }

  #emit(type, detail) {
    this.dispatchEvent(Object.assign(new Event(type), { detail }));
  }
}
