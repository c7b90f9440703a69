/** The viewer page: connects the client with the picture, the reactions and the chat. It holds no rules of its own. */
import { HeartlineClient, exact, short } from "../sdk/heartline.js";
import { Connection } from "../ui/connection.js";
import { $, make, perFrame } from "../ui/dom.js";
import { placeGlyphs } from "../ui/icons.js";
import { session } from "../ui/session.js";
import { Chat } from "../ui/chat.js";
import { Composer, JOIN_OR_SIGN_IN } from "./composer.js";
import { Hearts } from "./hearts.js";
import { LikeButton } from "./like.js";
import { Rail } from "./rail.js";
import { stage } from "./stage.js";

/** How long a passing remark is shown. */
const TOAST_MS = 3_500;

const query = new URLSearchParams(location.search);
const item = query.get("item") || "demo";
const who = session("watch");
let toastTimer;
const client = new HeartlineClient({ item, token: who.get().token });

placeGlyphs();
stage(query.get("video"));

// Reactions: own taps are shown at once, what the server's number adds beyond them is other people's.
const hearts = new Hearts($("#float"));
const shown = new Map();
const rail = new Rail($("#rail"), (kind, x, y) => {
  // Before the tap, for the number moves with it: what it moves by is then nobody else's.
  shown.set(kind, addTo(shown.get(kind), 1));
  if (client.tap(kind) > 0) hearts.own(kind, x, y);
});
rail.listenOn($("#stage"));

const chat = new Chat({
  log: $("#log"), lines: $("#lines"), drafts: $("#drafts"), more: $("#more"), moreText: $("#more-text"), quiet: $("#quiet"),
  onEdit: (text) => composer.restore(text ?? ""),
}, client);
const composer = new Composer(send, (token, name) => {
  who.set({ token, name });
  client.setToken(token);
});

const like = new LikeButton($("#like"), $("#likes"), client, () => composer.askForName());

const drawCounts = perFrame(() => {
  const room = client.room();
  for (const kind of room.settings?.reactions ?? []) rail.count(kind, client.count(kind));
  like.draw(room.ended || room.ending);
  tell($("#viewers"), room.counts.viewers, "watching");
  tell($("#comments"), room.counts.comments, "comments");
});

client.on("counts", () => {
  rain();
  drawCounts();
});
client.on("hello", ({ detail }) => {
  if (detail.token) who.set({ token: detail.token });
  chat.setUser(detail.user);
  composer.limit(detail.limits ?? {});
  drawSettings();
});
client.on("snapshot", () => chat.reset(client.room().comments));
client.on("comments", ({ detail }) => chat.add(detail.added));
client.on("removed", ({ detail }) => chat.remove(detail.ids));
client.on("drafts", () => drawDrafts());
client.on("liked", () => drawCounts());
client.on("item", () => drawSettings());
client.on("refused", ({ detail }) => refused(detail));
client.on("status", ({ detail }) => statusChanged(detail));

const connection = new Connection(client, (words) => {
  $("#banner").hidden = words === null;
  if (!words) return;
  $("#banner").classList.toggle("still", !words.busy);
  $("#banner-text").textContent = words.text;
  $("#banner-action").textContent = words.action ?? "";
  $("#banner-action").hidden = words.action === null;
});
$("#banner-action").addEventListener("click", () => connection.act());

client.open();

/** Hearts of others, for what the numbers moved beyond own taps. The first numbers are not taps of now. */
function rain() {
  const room = client.room();
  for (const kind of room.settings?.reactions ?? []) {
    const now = client.count(kind);
    const before = shown.get(kind);
    shown.set(kind, now);
    const place = rail.place(kind);
    if (before !== undefined && now > before && place) {
      hearts.others(kind, Number(BigInt(now) - BigInt(before)), place, room.tickMs ?? client.hello?.tick_ms ?? 100);
    }
  }
}

function send(text) {
  const draft = client.comment(text);
  if (!draft) {
    toast("Too many comments are waiting. Your text is still here.");
    return false;
  }
  chat.follow();
  return true;
}

function drawDrafts() {
  chat.showDrafts(client.drafts.visible, client.status.state === "open");
}

function drawSettings() {
  const { settings, ended, ending } = client.room();
  if (!settings) return;
  const title = settings.title || settings.item;
  $("#title").textContent = title;
  $("#avatar").textContent = [...title][0].toUpperCase();
  document.title = `${title} · Heartline`;
  $("#badge").hidden = false;
  $("#badge").className = ended ? "badge ended" : "badge live";
  $("#badge").textContent = ended ? "Ended" : "Live";
  rail.show(settings.reactions);
  rail.enable(!ended && !ending);
  composer.mode(chatMode(settings, ended || ending));
  $("#stage").classList.toggle("ended", ended);
  if (ended) {
    chat.setQuiet("No comments were made.");
    drawFinal(settings);
  }
  drawCounts();
}

function chatMode(settings, over) {
  const role = client.hello?.role;
  if (over) return "The show has ended. You can still read the chat.";
  if (settings.comments_mode === "closed" && role !== "host") return "The host has closed the chat.";
  return role === "anonymous" ? JOIN_OR_SIGN_IN : "write";
}

function drawFinal(settings) {
  const counts = client.room().counts;
  const rows = [...settings.reactions.map((kind) => [kind, client.count(kind)]), ["likes", counts.likes], ["comments", counts.comments]];
  $("#final-counts").replaceChildren(...rows.map(([name, n]) => {
    const value = make("dd", "num", short(n));
    value.title = exact(n);
    return make("div", "", null, make("dt", "", name), value);
  }));
  $("#final").hidden = false;
}

function refused({ act, n, error }) {
  if (act === "tap") toast(n > 1 ? `${n} taps were over the limit and were not counted.` : "That tap was not counted.");
  else if (act !== "comment" && error.code !== "bad_request") toast(error.message);
}

/** A token that is not taken any more is dropped once: everybody may at least watch. */
function statusChanged({ state, why }) {
  $("#show").dataset.state = state;
  drawDrafts();
  if (state === "away" && why === "token" && client.token) {
    who.clear();
    client.setToken(null);
  }
}

function tell(place, n, of) {
  place.textContent = short(n);
  place.value = String(n);
  place.title = `${exact(n)} ${of}`;
}

function addTo(count, n) {
  return count === undefined ? undefined : typeof count === "bigint" ? count + BigInt(n) : count + n;
}

function toast(text) {
  clearTimeout(toastTimer);
  $("#toast").textContent = text;
  $("#toast").hidden = false;
  toastTimer = setTimeout(() => ($("#toast").hidden = true), TOAST_MS);
}
