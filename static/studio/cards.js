/** One card per count: the number, what moves it per second, and its last minute as a line. */
import { make } from "../ui/dom.js";
import { glyph, kindIcon } from "../ui/icons.js";
import { exact, short } from "../sdk/heartline.js";
import { Series, linePath, rateText } from "./series.js";

const NS = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [240, 46];
/** Up to here the number itself is shown; a larger one as short text with the exact one beneath. */
const EXACT_BELOW = 1_000_000;

export class Cards {
  #place;
  #cards = new Map();
  #kinds = null;

  constructor(place) {
    this.#place = place;
  }

  /** A card for viewers, likes, comments and each kind of tap. */
  show(kinds) {
    if (this.#kinds === kinds.join()) return;
    this.#kinds = kinds.join();
    const before = this.#cards;
    this.#cards = new Map();
    const keep = (name, build) => this.#cards.set(name, before.get(name) ?? build());
    keep("viewers", () => card("Watching now", glyph("people"), "level"));
    keep("likes", () => card("Likes", glyph("like"), "level"));
    keep("comments", () => card("Comments", glyph("chat"), "rate"));
    for (const kind of kinds) keep(`taps.${kind}`, () => card(kind.replaceAll("_", " "), kindIcon(kind), "rate"));
    this.#place.replaceChildren(...[...this.#cards.values()].map((one) => one.element));
  }

  /** The current numbers, by name. */
  count(name, n) {
    const one = this.#cards.get(name);
    if (!one) return;
    one.now = n;
    one.value.textContent = n < EXACT_BELOW ? exact(n) : short(n);
    one.value.value = String(n);
    one.value.title = exact(n);
  }

  /** The end of a second: rates and lines move on. */
  second() {
    for (const one of this.#cards.values()) {
      if (one.now === null) continue;
      one.series.push(one.now);
      draw(one);
    }
  }

  /** A rate by name, as text. */
  rate(name) {
    return rateText(this.#cards.get(name)?.series.rate ?? 0);
  }
}

function card(title, icon, look) {
  const value = make("data", "value", "–");
  const [left, right] = [make("span", "num"), make("span", "num")];
  const [svg, area, line] = spark();
  const heading = make("h3", "", null, icon, make("span", "", title));
  const element = make("article", "card", null, heading, value, make("p", "detail", null, left, right), svg);
  return { element, value, left, right, area, line, look, series: new Series(), now: null };
}

function spark() {
  const svg = document.createElementNS(NS, "svg");
  const paths = ["area", "stroke"].map((name) => {
    const path = document.createElementNS(NS, "path");
    path.setAttribute("class", name);
    svg.append(path);
    return path;
  });
  svg.setAttribute("class", "spark");
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  return [svg, ...paths];
}

function draw(one) {
  const { series, look } = one;
  const values = look === "level" ? series.levels : series.perSecond;
  const path = linePath(values, WIDTH, HEIGHT);
  one.line.setAttribute("d", path);
  const first = path.match(/^M([\d.]+)/)?.[1];
  one.area.setAttribute("d", path ? `${path}L${WIDTH} ${HEIGHT}L${first} ${HEIGHT}Z` : "");
  one.left.textContent = look === "level" ? "people" : `${rateText(series.rate)}/s`;
  const peak = look === "level" ? Math.max(0, ...series.levels) : series.peak;
  one.right.textContent = peak > 0 ? `peak ${short(peak)}${look === "level" ? "" : "/s"}` : "";
}
