/**
 * The state of a connection in words: nothing while all is well or only just cut, then what is going on and what
 * the reader can do. Shared by the viewer page and the studio.
 */

/** A cut that heals within this time is nobody's business. */
const QUIET_MS = 900;

/** `show({text, action, busy} | null)` is called whenever the words change; `act()` when the action is chosen. */
export class Connection {
  #client;
  #show;
  #since = null;
  #timer = null;

  constructor(client, show) {
    this.#client = client;
    this.#show = show;
    client.on("status", () => this.#update());
    client.on("ready", () => this.#update());
    for (const type of ["online", "offline"]) addEventListener(type, () => this.#network(type));
    document.addEventListener("visibilitychange", () => !document.hidden && client.nudge());
    this.#update();
  }

  /** The reader's choice: try at once. */
  act() {
    if (this.#client.status.state === "away") this.#client.open();
    else this.#client.nudge();
  }

  #network(type) {
    if (type === "online") this.#client.nudge();
    this.#update();
  }

  #update() {
    clearTimeout(this.#timer);
    const { state, why } = this.#client.status;
    if (state === "open" || state === "closed" || why === "ended") {
      this.#since = null;
      if (navigator.onLine || state !== "open") return this.#show(null);
    }
    if (state === "away") return this.#show({ text: AWAY[why] ?? AWAY.refused, action: "Try again", busy: false });
    this.#since ??= Date.now();
    const wait = QUIET_MS - (Date.now() - this.#since);
    if (wait > 0) this.#timer = setTimeout(() => this.#update(), wait);
    else this.#tell();
  }

  #tell() {
    const { state, retryAt } = this.#client.status;
    const seconds = state === "waiting" ? Math.ceil((retryAt - Date.now()) / 1000) : 0;
    const text = navigator.onLine
      ? `Reconnecting${seconds > 1 ? ` in ${seconds} s` : "…"}`
      : "You are offline. Nothing is lost.";
    this.#show({ text, action: navigator.onLine && seconds > 1 ? "Now" : null, busy: true });
    this.#timer = setTimeout(() => this.#update(), 500);
  }
}

const AWAY = {
  token: "Please sign in again on the show’s own site.",
  banned: "You cannot take part in this show.",
  unknown: "There is no such show.",
  refused: "The server asked us not to come back.",
};
