/**
 * One socket that keeps coming back. It knows URLs, waits and close codes, and nothing of what the messages mean.
 *
 * Status: `connecting`, `open`, `waiting` (with `retryAt`), `away` (with why: it will not come back by itself),
 * `closed` (by its owner).
 */
import { STABLE_MS, closeMeaning, waitAfter } from "./backoff.js";

/** How long a handshake may take before it is given up: a phone in a lift, not a server. */
const OPEN_TIMEOUT_MS = 10_000;
/** How long the answer to a ping may take. */
export const PONG_WAIT_MS = 8_000;
/** How often the link looks at its watch. */
const WATCH_MS = 1_000;

export class Link {
  #o;
  #socket = null;
  #timer = null;
  #watch = null;
  #attempt = 0;
  #openedAt = null;
  #heardAt = 0;
  #pingedAt = null;
  #told = null;

  /** `{url(), onOpen, onMessage(object), onDown, onStatus, onWatch(now), WebSocketImpl, clock, random, protocols}` */
  constructor(options) {
    this.#o = options;
    this.status = { state: "closed" };
    /** From `hello`; silence of 2.5 × this is suspicious. */
    this.pingMs = 20_000;
  }

  /** Connects now, whatever it was waiting for. */
  open() {
    this.#drop();
    this.#status({ state: "connecting", attempt: this.#attempt });
    const socket = new this.#o.WebSocketImpl(this.#o.url(), this.#o.protocols);
    this.#socket = socket;
    this.#told = null;
    this.#pingedAt = null;
    this.#timer = this.#o.clock.setTimeout(() => this.#down(socket, 1006), OPEN_TIMEOUT_MS);
    const mine = (fn) => (event) => this.#socket === socket && fn(event);
    socket.onopen = mine(() => this.#opened());
    socket.onmessage = mine((event) => this.#heard(event.data));
    socket.onclose = mine((event) => this.#down(socket, event.code));
    socket.onerror = () => {};
  }

  /** Sends one object; answers whether it was handed to an open socket. */
  send(object) {
    if (this.status.state !== "open" || this.#socket.readyState !== 1) return false;
    this.#socket.send(JSON.stringify(object));
    return true;
  }

  /** Comes back soon, with a back-off: after a gap, or a new identity (`now`). */
  restart(now = false) {
    if (now) this.#attempt = 0;
    const wasUp = this.#drop();
    if (wasUp) this.#o.onDown();
    if (now) this.open();
    else this.#wait("network");
  }

  /** The network came back or the page is looked at again: find out at once instead of at the next watch. */
  nudge() {
    if (this.status.state === "waiting") return this.open();
    if (this.status.state === "open" && this.#pingedAt === null) this.#ping();
  }

  /** Goodbye for good. */
  close() {
    const wasUp = this.#drop();
    if (wasUp) this.#o.onDown();
    this.#status({ state: "closed" });
  }

  #opened() {
    this.#clearTimer();
    this.#openedAt = this.#heardAt = this.#o.clock.now();
    this.#status({ state: "open" });
    this.#watch = this.#o.clock.setInterval(() => this.#look(), WATCH_MS);
    this.#o.onOpen();
  }

  #heard(data) {
    this.#heardAt = this.#o.clock.now();
    this.#pingedAt = null;
    for (const line of String(data).split("\n")) {
      const message = parse(line);
      if (message?.t === "bye") this.#told = message.reconnect_after_ms;
      if (message && this.status.state === "open") this.#o.onMessage(message);
    }
  }

  #look() {
    const now = this.#o.clock.now();
    if (now - this.#openedAt >= STABLE_MS) this.#attempt = 0;
    if (this.#pingedAt !== null && now - this.#pingedAt >= PONG_WAIT_MS) return this.#down(this.#socket, 1006);
    if (this.#pingedAt === null && now - this.#heardAt >= this.pingMs * 2.5) this.#ping();
    this.#o.onWatch(now);
  }

  #ping() {
    this.#pingedAt = this.#o.clock.now();
    this.send({ t: "ping" });
  }

  #down(socket, code) {
    if (this.#socket !== socket) return;
    const told = this.#told;
    this.#drop();
    this.#o.onDown();
    const meaning = closeMeaning(code);
    if (meaning.come === "away") this.#status({ state: "away", why: meaning.why, code });
    else this.#wait(meaning.why, told);
  }

  #wait(why, told) {
    const ms = waitAfter({ attempt: this.#attempt, told, random: this.#o.random });
    this.#attempt += 1;
    this.#status({ state: "waiting", why, retryAt: this.#o.clock.now() + ms });
    this.#timer = this.#o.clock.setTimeout(() => this.open(), ms);
  }

  /** Lets go of the socket and all timers; answers whether there was a socket. */
  #drop() {
    this.#clearTimer();
    this.#o.clock.clearInterval(this.#watch);
    const socket = this.#socket;
    this.#socket = null;
    if (socket && socket.readyState <= 1) socket.close();
    return socket !== null;
  }

  #clearTimer() {
    this.#o.clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  #status(status) {
    this.status = status;
    this.#o.onStatus(status);
  }
}

function parse(line) {
  if (line === "") return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
