/** The front door: the live items, looked up again every few seconds. */
import { $, clockText, make } from "./ui/dom.js";
import { hueOf } from "./ui/icons.js";

/** Often enough to see one's own demo appear. */
const EVERY_MS = 4_000;
/** Shows of one page of the list. */
const PAGE = 24;

/** Grounds that white letters stand well on. */
const POSTERS = [["#c2185b", "#5b2a9d"], ["#3b3fb6", "#7a2fb0"], ["#0f6e84", "#2b3f9c"], ["#8a2387", "#c0392b"], ["#1d6f5c", "#1b4a86"], ["#b3471d", "#8c1d57"]];

let limit = PAGE;
$("#next").addEventListener("click", () => {
  limit = Math.min(100, limit + PAGE);
  look();
});
let timer;
look();

async function look() {
  clearTimeout(timer);
  try {
    const answer = await fetch(`/v1/items?state=live&limit=${limit}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(String(answer.status));
    show(await answer.json());
    tell("Ready", true);
  } catch {
    tell("Not reachable", false);
  }
  timer = setTimeout(look, EVERY_MS);
}

function tell(text, good) {
  $("#up").textContent = text;
  $("#up").classList.toggle("bad", !good);
}

let before = "";
function show({ items, next }) {
  $("#empty").hidden = items.length > 0;
  $("#count").textContent = items.length ? `${items.length}${next ? "+" : ""}` : "";
  $("#again").hidden = !next || limit >= 100;
  const now = JSON.stringify(items);
  if (now === before) return;
  before = now;
  $("#items").replaceChildren(...items.map(cardOf));
}

function cardOf({ item, title, started_at }) {
  const name = title || item;
  const id = encodeURIComponent(item);
  const poster = make("a", "poster", [...name][0].toUpperCase(), make("span", "badge live", "Live"));
  poster.href = `/watch/?item=${id}`;
  poster.setAttribute("aria-label", `Watch ${name}`);
  const [from, to] = POSTERS[hueOf(item) % POSTERS.length];
  poster.style.background = `linear-gradient(130deg, ${from}, ${to})`;
  const facts = make("div", "facts", null, make("h3", "", name), make("p", "", `${item} · started ${clockText(Date.now() - started_at)} ago`));
  const watch = make("a", "button", "Watch");
  watch.href = `/watch/?item=${id}`;
  const studio = make("a", "button", "Studio");
  studio.href = `/studio/?items=${id}`;
  return make("li", "", null, poster, facts, make("div", "links", null, watch, studio));
}
