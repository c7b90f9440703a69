/**
 * One person's like of one item: what the server has, and what the person wants. Pure.
 *
 * What is wanted shows at once. It is sent one message at a time, and again after a cut: a like that is sent twice is one like,
 * so nothing is lost and nothing is doubled. Only a refusal that will not change turns it back.
 */
export class LikeBook {
  #told = false;
  #wanted = null;
  #sent = null;

  /** Whether to show it as liked. */
  get liked() {
    return this.#wanted ?? this.#told;
  }

  /** The person asks for it to be so. */
  want(liked) {
    this.#wanted = liked;
    this.#settle();
  }

  /** What to send now, `true` or `false`; null: nothing, or the last one is still unanswered. */
  take() {
    if (this.#sent !== null || this.#wanted === null) return null;
    this.#sent = this.#wanted;
    return this.#sent;
  }

  /** The server says how it is, by `you` or an `ack`; an `ack` answers what was sent. */
  told(liked, answers = false) {
    this.#told = liked;
    if (answers) this.#sent = null;
    this.#settle();
  }

  /** What was sent was refused: `again` if it may be sent later, else it is given up. */
  refused(again) {
    if (!again && this.#wanted === this.#sent) this.#wanted = null;
    this.#sent = null;
    this.#settle();
  }

  /** The socket is gone: what had no answer goes again. */
  cut() {
    this.#sent = null;
  }

  #settle() {
    if (this.#sent === null && this.#wanted === this.#told) this.#wanted = null;
  }
}
