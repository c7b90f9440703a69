// A clock, a socket and a seeded random number generator that do only what a test says.

export class FakeClock {
  #now = 1_000_000;
  #timers = new Map();
  #next = 1;

  now = () => this.#now;
  setTimeout = (fn, ms) => this.#add(fn, ms, null);
  setInterval = (fn, ms) => this.#add(fn, ms, ms);
  clearTimeout = (id) => this.#timers.delete(id);
  clearInterval = (id) => this.#timers.delete(id);

  #add(fn, ms, every) {
    this.#timers.set(this.#next, { fn, at: this.#now + ms, every });
    return this.#next++;
  }

  /** Goes on by `ms`, running what falls due in order. */
  advance(ms) {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(([, t]) => t.at <= end).sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];
      if (!due) break;
      const [id, timer] = due;
      this.#now = Math.max(this.#now, timer.at);
      if (timer.every === null) this.#timers.delete(id);
      else timer.at += timer.every;
      timer.fn();
    }
    this.#now = end;
  }
}

export function fakeSockets() {
  const sockets = [];
  class FakeSocket {
    constructor(url) {
      this.url = url;
      this.readyState = 0;
      this.sent = [];
      sockets.push(this);
    }
    send(text) {
      this.sent.push(JSON.parse(text));
    }
    close() {
      this.readyState = 3;
    }
    // What the server does:
    accept() {
      this.readyState = 1;
      this.onopen({});
    }
    tell(...messages) {
      this.onmessage({ data: messages.map((m) => JSON.stringify(m)).join("\n") });
    }
    drop(code = 1006) {
      this.readyState = 3;
      this.onclose({ code });
    }
    of(t) {
      return this.sent.filter((m) => m.t === t);
    }
  }
  return { FakeSocket, sockets, last: () => sockets[sockets.length - 1] };
}

/** mulberry32: small, seeded, good enough to shuffle events. */
export function seeded(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const LIMITS = {
  tap_n_max: 100, tap_messages_per_s: 20, taps_per_s: 100, taps_burst: 300,
  comments_per_s: 1, comments_burst: 5, comment_max_graphemes: 500, comment_max_bytes: 2000, message_max_bytes: 8192,
};

export const hello = (over = {}) =>
  ({ t: "hello", conn: "c", user: "ann", role: "viewer", ping_ms: 20_000, tick_ms: 100, limits: LIMITS, ...over });

export const snapshot = (over = {}) => ({
  t: "snapshot", epoch: "e1", seq: 5, item: "demo", title: "Demo", state: "live", reactions: ["heart", "fire"],
  comments_mode: "open", slow_mode_ms: 0, started_at: 1, counts: { taps: { heart: 10, fire: 2 }, likes: 0, comments: 1, viewers: 3 },
  comments: [{ id: "k1", user: "bob", text: "first", at: 1 }], polls: [], giveaways: [], auctions: [], pinned: null, ...over,
});
