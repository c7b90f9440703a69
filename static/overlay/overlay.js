/** Counts over a picture, for streaming software: `/overlay/?item=ID`. It watches without being counted as a viewer. */
import { HeartlineClient, exact, short } from "../sdk/heartline.js";
import { $, make, perFrame } from "../ui/dom.js";
import { kindIcon } from "../ui/icons.js";
import { session } from "../ui/session.js";
import { Hearts } from "../watch/hearts.js";

const item = new URLSearchParams(location.search).get("item") || "demo";
const client = new HeartlineClient({ item, token: session("overlay").get().token, observe: true });
const hearts = new Hearts($("#float"));
const places = new Map();

const draw = perFrame(() => {
  for (const [kind, { row, data, before }] of places) {
    const now = client.count(kind);
    if (before === now) continue;
    data.textContent = short(now);
    data.value = String(now);
    data.title = exact(now);
    places.get(kind).before = now;
    if (before !== null && now > before) hearts.others(kind, Number(BigInt(now) - BigInt(before)), row, client.room().tickMs ?? client.hello.tick_ms);
  }
});

client.on("item", () => {
  places.clear();
  const { reactions } = client.room().settings;
  $("#counts").replaceChildren(...reactions.map((kind) => {
    const data = make("data", "", "0");
    const row = make("li", "", null, kindIcon(kind), data);
    row.dataset.kind = kind;
    places.set(kind, { row, data, before: null });
    return row;
  }));
  draw();
});
client.on("counts", draw);
client.open();
