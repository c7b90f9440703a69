/**
 * The chat: the room's comments in the room's order, and one's own on their way after them.
 *
 * It follows the newest line until the reader scrolls up; then it stays put and counts what came. Lines are bounded
 * like the room's own list. A refused comment stays with its text and its reason until its writer decides.
 */
import { make, nameOf } from "./dom.js";
import { hueOf } from "./icons.js";

/** So close to the end counts as reading the newest. */
const NEAR_END_PX = 48;
/** Lines in the page: as many as the client keeps. */
const LINES_MAX = 300;

export class Chat {
  #p;
  #client;
  #user = null;
  #lines = new Map();
  #unseen = 0;
  #follows = true;
  #draftsShown = "";

  /** `parts`: log, lines, drafts, more, moreText, quiet. */
  constructor(parts, client) {
    this.#p = parts;
    this.#client = client;
    parts.log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    parts.more.addEventListener("click", () => this.#toEnd());
    new ResizeObserver(() => this.#keep()).observe(parts.log);
  }

  /** Who reads: own lines look different. */
  setUser(user) {
    this.#user = user;
  }

  /** What stands where there are no comments. */
  setQuiet(text) {
    this.#p.quiet.textContent = text;
  }

  /** The whole list anew, after a snapshot; lines that are there already stay. */
  reset(comments) {
    const ids = new Set(comments.map((comment) => comment.id));
    for (const [id] of this.#lines) if (!ids.has(id)) this.#drop(id);
    const fresh = comments.filter((comment) => !this.#lines.has(comment.id));
    const first = this.#lines.size === 0;
    this.add(fresh, first);
    this.#quiet();
  }

  /** New comments, in order. */
  add(comments, silent = false) {
    if (comments.length === 0) return;
    for (const comment of comments) this.#append(comment);
    while (this.#lines.size > LINES_MAX && this.#follows) this.#drop(this.#lines.keys().next().value);
    if (!this.#follows && !silent) this.#unseen += comments.filter((comment) => comment.user !== this.#user).length;
    this.#keep();
    this.#quiet();
  }

  remove(ids) {
    for (const id of ids) this.#drop(id);
    this.#quiet();
  }

  /** Own comments on their way. */
  showDrafts(drafts, online) {
    // Nothing is drawn anew that is the same: a button keeps its focus, a reason is read out once.
    const look = JSON.stringify([online, this.#user, drafts.map(({ key, state }) => [key, state])]);
    if (look === this.#draftsShown) return;
    this.#draftsShown = look;
    this.#p.drafts.replaceChildren(...drafts.map((draft) => this.#draft(draft, online)));
    this.#keep();
    this.#quiet();
  }

  /** The writer sent something: they want to see it. */
  follow() {
    this.#toEnd();
  }

  #append(comment) {
    if (this.#lines.has(comment.id)) return;
    const own = comment.user === this.#user;
    const line = lineOf(nameOf(comment), comment.user, comment.text, own ? "line own" : "line");
    line.dataset.id = comment.id;
    line.title = new Date(comment.at).toLocaleTimeString();
    this.#p.lines.append(line);
    this.#lines.set(comment.id, line);
  }

  #drop(id) {
    this.#lines.get(id)?.remove();
    this.#lines.delete(id);
  }

  #draft(draft, online) {
    const failed = draft.state === "failed";
    const look = { failed: "line own failed", stored: "line own" }[draft.state] ?? "line own pending";
    const line = lineOf("You", this.#user ?? "you", draft.text, look);
    line.dataset.key = draft.key;
    if (failed) line.lastChild.append(this.#failure(draft));
    else if (draft.state !== "stored") line.lastChild.append(make("span", "state", online ? "Sending…" : "Waiting for the connection"));
    return line;
  }

  #failure(draft) {
    const state = make("span", "state", reason(draft.error));
    state.setAttribute("role", "alert");
    const again = make("button", "again", "Try again");
    again.type = "button";
    again.addEventListener("click", () => this.#client.retry(draft.key));
    this.#holdUntil(again, draft);
    const edit = make("button", "edit", "Edit");
    edit.type = "button";
    edit.addEventListener("click", () => this.#p.onEdit(this.#client.discard(draft.key)));
    if (draft.error.retryable) state.append(again);
    state.append(edit);
    return state;
  }

  /** A rate's time must pass first; the draft remembers when it was refused. */
  #holdUntil(button, draft) {
    draft.retryAt ??= Date.now() + (draft.error.retry_after_ms ?? 0);
    const left = draft.retryAt - Date.now();
    button.disabled = left > 0;
    if (left > 0) setTimeout(() => (button.disabled = false), left);
  }

  #scrolled() {
    const { log } = this.#p;
    this.#follows = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END_PX;
    if (this.#follows) this.#unseen = 0;
    this.#pill();
  }

  #toEnd() {
    this.#follows = true;
    this.#unseen = 0;
    this.#keep();
  }

  #keep() {
    if (this.#follows) this.#p.log.scrollTop = this.#p.log.scrollHeight;
    this.#pill();
  }

  #pill() {
    this.#p.more.hidden = this.#follows || this.#unseen === 0;
    this.#p.moreText.textContent = `${this.#unseen} new`;
  }

  #quiet() {
    this.#p.quiet.hidden = this.#lines.size > 0 || this.#p.drafts.childElementCount > 0;
  }
}

function lineOf(name, user, text, classes) {
  const face = make("span", "face", [...name.trim()][0]?.toUpperCase() ?? "?");
  face.setAttribute("aria-hidden", "true");
  const hue = hueOf(user);
  face.style.background = `linear-gradient(135deg, hsl(${hue} 62% 48%), hsl(${(hue + 40) % 360} 62% 36%))`;
  const line = make("li", classes, null, face, make("div", "words", null, make("span", "name", name), make("span", "said", text)));
  line.style.setProperty("--name-on-dark", `hsl(${hue} 90% 84%)`);
  return line;
}

/** Why a comment was refused, for people. */
export function reason(error) {
  if (error.code === "rate_limited") return `A little too fast. You can send it ${soon(error.retry_after_ms)}.`;
  if (error.code === "gone") return "The show has ended.";
  if (error.code === "forbidden") return "You cannot comment here right now.";
  if (error.code === "unavailable" && error.outcome === "unknown") return "We could not tell whether this went through.";
  if (error.retryable) return "That did not work just now.";
  return `Not accepted: ${error.message}.`;
}

function soon(ms) {
  const s = Math.ceil((ms ?? 0) / 1000);
  return s > 0 ? `in ${s} s` : "now";
}
