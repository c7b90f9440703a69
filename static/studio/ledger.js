/**
 * The ledger of one item: for each counter `stored + on its way = total`. It is asked for every few seconds and judged
 * here, in the open, rather than believed.
 */
import { $, make } from "../ui/dom.js";
import { glyph } from "../ui/icons.js";
import { exact } from "../sdk/heartline.js";

/** As often as the server folds by default. */
const EVERY_MS = 5_000;

export class Ledger {
  #api;
  #timer = null;

  constructor(api) {
    this.#api = api;
  }

  /** Asks now, and then again and again: from when the item is known to be there. */
  async refresh() {
    clearTimeout(this.#timer);
    try {
      this.#show(await this.#api.audit());
    } catch (error) {
      verdict("", error.code === "not_found" ? "Nothing yet" : "Not reachable");
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresh(), EVERY_MS);
  }

  #show({ counters, drift }) {
    const rows = Object.entries(counters).map(([name, sums]) => ({ name, ...sums, exact: adds(sums) }));
    $("#ledger").replaceChildren(...rows.map(rowOf));
    const good = rows.every((row) => row.exact) && drift.likes === 0;
    verdict(good ? "good" : "bad", good ? "Exact" : "Does not add up");
    $("#ledger").dataset.exact = String(good);
  }
}

/** Past 2^53 a number of JSON is not exact any more; there the sum is left to the server. */
function adds({ durable, unflushed, total }) {
  if (![durable, unflushed, total].every(Number.isSafeInteger)) return true;
  return durable + unflushed === total;
}

function rowOf({ name, durable, unflushed, total, exact: good }) {
  const row = make("tr");
  const head = make("th", "", label(name));
  head.scope = "row";
  row.append(head, cell(durable), cell(unflushed), cell(total));
  row.dataset.counter = name;
  row.classList.toggle("wrong", !good);
  return row;
}

function cell(n) {
  const td = make("td", n === 0 ? "zero" : "", exact(n));
  td.dataset.value = String(n);
  return td;
}

function label(name) {
  const plain = name.replace(/^taps\./, "").replaceAll("_", " ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function verdict(look, text) {
  const place = $("#verdict");
  place.className = `verdict ${look}`;
  place.replaceChildren(...(look ? [glyph(look === "good" ? "check" : "alert")] : []), text);
}
