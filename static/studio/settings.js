/** The settings of an item as a form: what the server has, what the host changed, and the way between. */
import { $, make } from "../ui/dom.js";
import { KNOWN_KINDS, kindIcon } from "../ui/icons.js";

/** As many kinds as an item takes. */
const KINDS_MAX = 8;

export class Settings {
  #save;
  #server = null;
  #kinds = [];

  /** `save(changes)` sends them; it throws with words for people. */
  constructor(save) {
    this.#save = save;
    const form = $("#settings");
    form.addEventListener("input", () => this.#judge());
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      this.#fill();
    });
    form.addEventListener("submit", (event) => this.#submit(event));
  }

  /** The server's settings; a form that is being changed is left alone. */
  show(settings) {
    const untouched = this.#server === null || Object.keys(this.#changes()).length === 0;
    this.#server = settings;
    if (untouched) this.#fill();
    this.#judge();
  }

  #fill() {
    const { title, reactions, comments_mode, slow_mode_ms } = this.#server;
    $("#set-title").value = title;
    $("#set-mode").value = comments_mode;
    this.#kinds = [...reactions];
    const slow = $("#set-slow");
    if (![...slow.options].some((option) => Number(option.value) === slow_mode_ms)) slow.append(new Option(`${slow_mode_ms / 1000} seconds`, slow_mode_ms));
    slow.value = String(slow_mode_ms);
    this.#chips();
    this.#judge();
  }

  #chips() {
    const all = [...new Set([...KNOWN_KINDS, ...this.#server.reactions])];
    $("#set-reactions").replaceChildren(...all.map((kind) => {
      const chip = make("button", "chip", null, kindIcon(kind), make("span", "", kind));
      chip.type = "button";
      chip.dataset.kind = kind;
      chip.setAttribute("aria-pressed", String(this.#kinds.includes(kind)));
      chip.addEventListener("click", () => this.#flip(kind, chip));
      return chip;
    }));
  }

  #flip(kind, chip) {
    const has = this.#kinds.includes(kind);
    this.#kinds = has ? this.#kinds.filter((one) => one !== kind) : [...this.#kinds, kind];
    chip.setAttribute("aria-pressed", String(!has));
    this.#judge();
  }

  #changes() {
    const now = { title: $("#set-title").value.trim(), reactions: this.#kinds, comments_mode: $("#set-mode").value, slow_mode_ms: Number($("#set-slow").value) };
    return Object.fromEntries(Object.entries(now).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(this.#server[name])));
  }

  #judge() {
    const over = this.#server === null || this.#server.state === "ended";
    const changed = !over && Object.keys(this.#changes()).length > 0;
    const fits = this.#kinds.length >= 1 && this.#kinds.length <= KINDS_MAX;
    $("#set-reactions-hint").classList.toggle("bad", !fits);
    $("#save").disabled = !changed || !fits;
    $("#undo").disabled = !changed;
    if (changed) $("#saved").textContent = "Not saved yet";
    else if ($("#saved").textContent === "Not saved yet") $("#saved").textContent = "";
  }

  async #submit(event) {
    event.preventDefault();
    if ($("#save").disabled) return;
    $("#save").disabled = true;
    try {
      this.#server = { ...this.#server, ...(await this.#save(this.#changes())) };
      this.#fill();
      $("#saved").textContent = "Saved";
    } catch (error) {
      this.#judge();
      $("#saved").textContent = `Not saved: ${error.message}`;
    }
  }
}
