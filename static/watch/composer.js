/**
 * Where a comment is written, and what stands in its place for those who may not: a way to get a name, or the reason.
 */
import { devToken, onLoopback } from "../ui/session.js";
import { $ } from "../ui/dom.js";

/** Characters left are told from here on. */
const TELL_LEFT = 60;
const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;

export class Composer {
  #onSend;
  #ask;
  #max = { graphemes: 500, bytes: 2000 };

  /** `onSend(text)` answers whether it took the text; `onJoin(token, name)` has a new identity. */
  constructor(onSend, onJoin) {
    this.#onSend = onSend;
    this.form = $("#composer");
    this.text = $("#text");
    this.form.addEventListener("submit", (event) => this.#submit(event));
    this.text.addEventListener("input", () => this.#measure());
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.#submit(event);
    });
    this.#ask = askForName(onJoin);
    this.#measure();
  }

  /** Bounds from `hello.limits`. */
  limit({ comment_max_graphemes: graphemes, comment_max_bytes: bytes }) {
    if (graphemes > 0 && bytes > 0) this.#max = { graphemes, bytes };
  }

  /** `write`, `join` (no name yet), or a sentence that says why neither. */
  mode(mode) {
    this.form.hidden = mode !== "write";
    $("#join").hidden = mode !== "join";
    $("#closed").hidden = mode === "write" || mode === "join";
    $("#closed").textContent = $("#closed").hidden ? "" : mode;
  }

  /** Asks for a name, where this server gives them out. */
  askForName() {
    this.#ask();
  }

  /** Puts a text back for its writer, before what they typed meanwhile. */
  restore(text) {
    this.text.value = [text, this.text.value].filter(Boolean).join(" ");
    this.#measure();
    this.text.focus();
  }

  #submit(event) {
    event.preventDefault();
    const text = this.text.value.trim();
    if (text === "" || this.#left(text) < 0 || !this.#onSend(text)) return;
    this.text.value = "";
    this.#measure();
  }

  #left(text) {
    const count = segmenter ? [...segmenter.segment(text)].length : [...text].length;
    const bytes = new TextEncoder().encode(text).length;
    return bytes > this.#max.bytes ? Math.min(-1, this.#max.graphemes - count) : this.#max.graphemes - count;
  }

  #measure() {
    const text = this.text.value.trim();
    const left = this.#left(text);
    $("#left").textContent = left < TELL_LEFT ? String(left) : "";
    this.form.classList.toggle("over", left < 0);
    $("#send").disabled = text === "" || left < 0;
    this.text.style.height = "44px";
    this.text.style.height = `${Math.min(116, Math.max(44, this.text.scrollHeight))}px`;
  }
}

/** What stands in place of the composer for somebody without a name. */
export const JOIN_OR_SIGN_IN = onLoopback() ? "join" : "Sign in on the show's own site to join the chat.";

function askForName(onJoin) {
  const [dialog, name, note] = [$("#name-dialog"), $("#name"), $("#name-note")];
  const ask = () => {
    note.hidden = true;
    dialog.showModal();
  };
  $("#join").addEventListener("click", ask);
  $("#name-cancel").addEventListener("click", () => dialog.close());
  $("#name-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = name.value.trim();
    if (!chosen) return;
    const sub = `guest:${crypto.randomUUID()}`;
    const token = await devToken({ sub, role: "viewer", name: chosen }).catch(() => null);
    note.hidden = token !== null;
    note.textContent = "This server does not give out names by itself. Sign in on the show's own site.";
    if (token === null) return;
    dialog.close();
    onJoin(token, chosen);
  });
  return ask;
}
