/**
 * The studio: one item of `?items=a,b` at a time (the others are tabs), over the host's socket and REST. The token
 * comes with `#token=`; on the machine itself, in development mode, the page asks for one.
 */
import { HeartlineClient } from "../sdk/heartline.js";
import { Chat } from "../ui/chat.js";
import { Connection } from "../ui/connection.js";
import { $, clockText, make, perFrame } from "../ui/dom.js";
import { placeGlyphs } from "../ui/icons.js";
import { devToken, session } from "../ui/session.js";
import { Api } from "./api.js";
import { Cards } from "./cards.js";
import { Ledger } from "./ledger.js";
import { Settings } from "./settings.js";

const query = new URLSearchParams(location.search);
const items = (query.get("items") || "demo").split(",").filter(Boolean);
const item = items.includes(query.get("show")) ? query.get("show") : items[0];
const who = session("studio");
let noticeAct = () => {};

placeGlyphs();
tabs();
$("#viewer-link").href = `/watch/?item=${encodeURIComponent(item)}`;
start();

/** A host's token where the server gives them out: on the machine itself, in development mode. */
function freshToken() {
  return devToken({ sub: "studio", role: "host", name: "Host" }).catch(() => null);
}

async function start() {
  const token = who.get().token ?? (await freshToken());
  if (!token) return notice("This page needs a host's token: open it as /studio/?items=…#token=…");
  who.set({ token });
  run(token);
}

function run(token) {
  const client = new HeartlineClient({ items: [item], token });
  const api = new Api(item, token);
  const cards = new Cards($("#cards"));
  const ledger = new Ledger(api);
  const settings = new Settings((changes) => api.put(changes));
  const chat = comments(client);
  const draw = perFrame(() => drawCounts(client, cards));

  client.on("counts", draw);
  client.on("item", () => drawItem(client, cards, settings));
  client.on("snapshot", () => chat.reset(client.room().comments));
  for (const moment of ["snapshot", "ended"]) client.on(moment, () => ledger.refresh());
  client.on("status", ({ detail }) => statusChanged(detail));
  renewOnce(client, api);
  setInterval(() => second(client, cards), 1_000);
  endButton(api, ledger);

  const connection = new Connection(client, (words) => notice(words?.text ?? null, words?.action, () => connection.act()));
  client.open();
}

function comments(client) {
  const chat = new Chat({
    log: $("#log"), lines: $("#lines"), drafts: $("#drafts"), more: $("#more"), moreText: $("#more-text"), quiet: $("#quiet"),
    onEdit: (text) => ($("#text").value = text ?? ""),
  }, client);
  client.on("hello", ({ detail }) => chat.setUser(detail.user));
  client.on("comments", ({ detail }) => chat.add(detail.added));
  client.on("removed", ({ detail }) => chat.remove(detail.ids));
  const drafts = () => chat.showDrafts(client.drafts.visible, client.status.state === "open");
  client.on("drafts", drafts);
  client.on("status", drafts);
  $("#composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = $("#text").value.trim();
    if (text === "" || !client.comment(text)) return;
    $("#text").value = "";
    chat.follow();
  });
  return chat;
}

function drawItem(client, cards, settings) {
  const room = client.room();
  const title = room.settings.title || item;
  $("#title").textContent = title;
  document.title = `${title} · Studio`;
  $("#badge").hidden = false;
  $("#badge").className = room.ended ? "badge ended" : "badge live";
  $("#badge").textContent = room.ended ? "Ended" : "Live";
  $("#end").disabled = room.ended || room.ending;
  cards.show(room.settings.reactions);
  settings.show(room.settings);
  drawCounts(client, cards);
}

function drawCounts(client, cards) {
  const room = client.room();
  cards.count("viewers", room.counts.viewers);
  cards.count("likes", room.counts.likes);
  cards.count("comments", room.counts.comments);
  for (const kind of room.settings?.reactions ?? []) cards.count(`taps.${kind}`, client.count(kind));
}

function second(client, cards) {
  const { settings, ended } = client.room();
  if (!settings) return;
  $("#duration").textContent = clockText((settings.ended_at ?? Date.now()) - settings.started_at);
  if (ended) return;
  cards.second();
  $("#comments-rate").textContent = `${cards.rate("comments")}/s`;
}

function statusChanged({ state, why }) {
  const link = $("#link");
  const over = why === "ended";
  link.className = `link ${state === "open" ? "good" : state === "away" && !over ? "bad" : ""}`;
  link.textContent = over ? "" : { open: "Connected", connecting: "Connecting", waiting: "Reconnecting", away: "Disconnected" }[state] ?? "";
  link.hidden = over;
}

/** A token that is not taken any more is forgotten, and asked for anew, once, where that can be. */
function renewOnce(client, api) {
  const off = client.on("status", async ({ detail: { state, why } }) => {
    if (state !== "away" || why !== "token") return;
    off();
    who.clear();
    const token = await freshToken();
    if (!token) return;
    who.set({ token });
    api.token = token;
    client.setToken(token);
  });
}

function endButton(api, ledger) {
  const [dialog, note] = [$("#end-dialog"), $("#end-note")];
  $("#end").addEventListener("click", () => {
    note.hidden = true;
    dialog.showModal();
  });
  $("#end-cancel").addEventListener("click", () => dialog.close());
  $("#end-confirm").addEventListener("click", async () => {
    $("#end-confirm").disabled = true;
    try {
      await api.end();
      dialog.close();
      ledger.refresh();
    } catch (error) {
      note.textContent = `Not ended: ${error.message}`;
      note.hidden = false;
    }
    $("#end-confirm").disabled = false;
  });
}

function tabs() {
  if (items.length < 2) return;
  $("#tabs").hidden = false;
  $("#tabs").append(...items.map((one) => {
    const link = make("a", "", one);
    link.href = `?${new URLSearchParams({ items: items.join(","), show: one })}`;
    if (one === item) link.setAttribute("aria-current", "page");
    return link;
  }));
}

$("#notice-action").addEventListener("click", () => noticeAct());
function notice(text, action = null, act = () => {}) {
  $("#notice").hidden = text === null;
  $("#notice-text").textContent = text ?? "";
  $("#notice-action").hidden = !action;
  $("#notice-action").textContent = action ?? "";
  noticeAct = act;
}
