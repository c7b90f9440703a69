/**
 * Own comments on their way: from the moment they are sent until the server has them. Pure.
 *
 * A draft keeps one `key` for its whole life, so that sending it again after a cut can never make a second comment.
 * No text is ever thrown away by us: a refused draft stays, with the reason, until its writer sends or discards it.
 */

/** Drafts that may wait at once; more are refused to the writer, who then still has the text. */
export const DRAFTS_MAX = 20;

export class Drafts {
  constructor() {
    this.list = [];
  }

  /**
   * A new draft `{key, text, state: waiting|sent|stored|failed, error, id, shownAs}`, or null when too many wait.
   * `stored`: acknowledged, its event is still to come and gives it its place in the room's order.
   */
  add(text, key) {
    if (this.list.length >= DRAFTS_MAX) return null;
    const draft = { key, text, state: "waiting", error: null, id: null, shownAs: null };
    this.list.push(draft);
    return draft;
  }

  /** What is to be sent now, in order, marked as sent. */
  take() {
    const due = this.list.filter((draft) => draft.state === "waiting");
    for (const draft of due) draft.state = "sent";
    return due;
  }

  /** The server has it, as comment `id`. */
  stored(key, id) {
    const draft = this.list.find((one) => one.key === key);
    if (draft) Object.assign(draft, { state: "stored", id });
  }

  /** Stored ones whose comment is in the room by now leave the list. */
  arrived(ids) {
    this.list = this.list.filter((draft) => draft.state !== "stored" || !ids.has(draft.id));
  }

  /** The server refused it: the text stays with the reason. */
  failed(key, error) {
    const draft = this.list.find((one) => one.key === key);
    if (draft) Object.assign(draft, { state: "failed", error, shownAs: null });
    return draft ?? null;
  }

  /** Send a refused one again. */
  retry(key) {
    const draft = this.list.find((one) => one.key === key && one.state === "failed");
    if (draft) Object.assign(draft, { state: "waiting", error: null });
    return draft ?? null;
  }

  /** The socket is gone: what had no answer goes again, with the same key. */
  cut() {
    for (const draft of this.list) if (draft.state === "sent") draft.state = "waiting";
  }

  /**
   * The event of an own comment may come before its ack: the draft that it must be is marked with it, so that nobody
   * sees it twice. It stays until the ack, for it might be the same words from another tab.
   */
  matched(comment, user) {
    if (comment.user !== user) return;
    const same = this.list.find((d) => d.state === "sent" && !d.shownAs && normal(d.text) === comment.text);
    if (same) same.shownAs = comment.id;
  }

  /** What is to be shown as on its way. */
  get visible() {
    return this.list.filter((draft) => draft.shownAs === null);
  }

  remove(key) {
    const index = this.list.findIndex((one) => one.key === key);
    return index < 0 ? null : this.list.splice(index, 1)[0];
  }
}

/** The server's form of a text: NFC, breaks as spaces, no white space around it. */
function normal(text) {
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]/g, " ").normalize("NFC").trim();
}
