/**
 * What people do on the pages, against the real server in a real browser: two phones on one item, bursts, comments,
 * scrolling, a lost network, a restarted server, and the host's studio beside it.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test, { after, before } from "node:test";
import { DESK, PHONE, Server, clean, comment, lines, openBrowser, openPage, openViewer, record, shown, tapTimes, until } from "./harness.js";

let server;
let browser;
let serial = 0;
const person = (name) => ({ sub: `t:${name}:${(serial += 1)}`, role: "viewer", name });

before(async () => {
  server = await Server.start();
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Pages of one test: closed with it, whatever happens. */
function opens(t) {
  return async (item, options) => {
    const page = await openViewer(browser, server, item, options);
    t.after(() => page.context().close());
    return page;
  };
}

const total = async (item, counter = "taps.heart") => (await server.audit(item))[counter]?.total ?? 0;

/** Every number shown since `record`: none lower than the one before, none over the truth. */
async function neverWrong(page, truth) {
  const numbers = await page.evaluate(() => window.__numbers);
  for (let i = 1; i < numbers.length; i += 1) assert.ok(numbers[i] >= numbers[i - 1], `fell: ${numbers[i - 1]} to ${numbers[i]}`);
  assert.ok(Math.max(...numbers) <= truth, `claimed ${Math.max(...numbers)} of ${truth}`);
}

test("an own tap shows at once, never twice, and the other phone sees it", async (t) => {
  const open = opens(t);
  const [a, b] = [await open("two"), await open("two")];
  await Promise.all([record(a), record(b)]);
  const before = await shown(a);
  const at = await a.evaluate(async () => {
    const data = document.querySelector('.rail data[data-kind="heart"]');
    const before = Number(data.value);
    document.querySelector(".react.main").click();
    // Two frames: what a person calls at once; no answer of a server is awaited.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return Number(data.value) - before;
  });
  assert.equal(at, 1, "counted in the next frame");
  await until("the other phone's count", async () => (await shown(b)) === before + 1);
  await until("the ledger", async () => (await total("two")) === before + 1);
  await neverWrong(a, before + 1);
  await neverWrong(b, before + 1);
  clean(a, b);
});

test("long bursts of two people at once end exact on both phones and in the ledger, and no number ever fell", async (t) => {
  const open = opens(t);
  const [a, b] = [await open("burst"), await open("burst")];
  await Promise.all([record(a), record(b)]);
  // Within the default rate of 100 a second and a burst of 300: every tap must be taken.
  await Promise.all([tapTimes(a, 400, { overMs: 4_000 }), tapTimes(b, 250)]);
  for (const page of [a, b]) await until("650 on the page", async () => (await shown(page)) === 650);
  assert.equal(await total("burst"), 650);
  await neverWrong(a, 650);
  await neverWrong(b, 650);
  clean(a, b);
});

test("holding the heart taps on, and letting go stops it", async (t) => {
  const page = await opens(t)("hold");
  const box = await page.locator(".react.main .disc").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await until("several taps", async () => (await shown(page)) >= 6);
  await page.mouse.up();
  const end = await shown(page);
  await until("the ledger", async () => (await total("hold")) === end);
  assert.equal(await shown(page), end);
  await page.focus(".react.main");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  await until("two more by keyboard", async () => (await total("hold")) === end + 2);
  assert.equal(await shown(page), end + 2);
  clean(page);
});

test("double tap on the picture is a heart, a single one is not", async (t) => {
  const page = await opens(t)("double");
  await page.touchscreen.tap(80, 300);
  await Promise.all([page.touchscreen.tap(200, 230), page.touchscreen.tap(202, 232)]);
  await until("one heart", async () => (await total("double")) === 1);
  assert.equal(await shown(page), 1);
  clean(page);
});

test("other people's hearts float, but never more than the page can carry", async (t) => {
  const open = opens(t);
  const [a, b] = [await open("float"), await open("float")];
  await b.evaluate(() => {
    window.__most = 0;
    const layer = document.querySelector("#float");
    new MutationObserver(() => (window.__most = Math.max(window.__most, layer.childElementCount))).observe(layer, { childList: true });
  });
  await tapTimes(a, 300, { overMs: 3_000 });
  await until("300 on the other phone", async () => (await shown(b)) === 300);
  const most = await b.evaluate(() => window.__most);
  assert.ok(most >= 3 && most <= 42, `${most} at once`);
  await until("the last one is gone", async () => (await b.locator(".particle").count()) === 0);
  clean(a, b);
});

test("little motion, where it is asked for: nothing floats, everything counts", async (t) => {
  const page = await opens(t)("calm", { options: { ...PHONE, reducedMotion: "reduce" } });
  await tapTimes(page, 5);
  await until("the count", async () => (await shown(page)) === 5);
  assert.equal(await page.locator(".particle").count(), 0);
  assert.equal(await page.locator("#pause").isVisible(), false);
  clean(page);
});

test("a video plays and can be paused, and an address that is none leaves the stage as it is", async (t) => {
  const media = await mediaServer();
  t.after(() => media.close());
  const open = opens(t);
  const page = await open("video", { query: `&video=${encodeURIComponent(media.url)}` });
  const state = () => page.$eval("#video", (v) => ({ paused: v.paused, at: v.currentTime, hidden: v.hidden }));
  await until("it plays", async () => (await state()).at > 0.1);
  await page.click("#pause");
  assert.equal((await state()).paused, true);
  assert.equal(await page.getAttribute("#pause", "aria-label"), "Play");
  await page.click("#sound");
  assert.equal(await page.$eval("#video", (v) => v.muted), false);
  assert.deepEqual(page.complaints.filter((one) => !one.includes(media.url)), [], "nothing but the video comes from elsewhere");

  const odd = await open("video", { query: `&video=${encodeURIComponent("javascript:document.title='owned'")}` });
  assert.equal(await odd.isVisible("#video"), false);
  assert.notEqual(await odd.title(), "owned");
  const broken = await open("video", { query: `&video=${encodeURIComponent("/icon.svg")}` });
  await until("the picture that is no video is hidden", () => broken.locator("#video").isHidden());
  clean(odd, broken);
});

/** A minute of silence, which a video element plays as well as anything. */
async function mediaServer() {
  const rate = 8_000;
  const samples = rate * 60;
  const wav = Buffer.alloc(44 + samples, 128);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(36 + samples, 4);
  wav.write("WAVEfmt ", 8);
  [[16, 16, 4], [20, 1, 2], [22, 1, 2], [24, rate, 4], [28, rate, 4], [32, 1, 2], [34, 8, 2]].forEach(([at, value, bytes]) => wav.writeUIntLE(value, at, bytes));
  wav.write("data", 36);
  wav.writeUInt32LE(samples, 40);
  const http = createServer((_request, response) => response.writeHead(200, { "content-type": "audio/wav" }).end(wav));
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${http.address().port}/show.wav`, close: () => http.close() };
}

test("a comment is seen by the other phone once and in one order, and what looks like code stays text", async (t) => {
  const open = opens(t);
  const a = await open("talk", { claims: person("Ana") });
  const b = await open("talk", { claims: person("Ben"), options: DESK });
  const nasty = `<img src=x onerror="document.title='owned'"><script>alert(1)</script>`;
  await comment(a, "Hello Ben");
  await until("Ben sees it", async () => (await lines(b)).includes("Hello Ben"));
  await comment(b, nasty);
  await until("Ana sees it", async () => (await lines(a)).length === 2);
  await comment(a, "third");
  for (const page of [a, b]) {
    await until("all three", async () => (await lines(page)).length === 3);
    assert.deepEqual(await lines(page), ["Hello Ben", nasty, "third"]);
    assert.equal(await page.locator("#lines img, #lines script").count(), 0);
    assert.notEqual(await page.title(), "owned");
    await until("no draft is left", async () => (await page.locator("#drafts li").count()) === 0);
  }
  assert.equal(await total("talk", "comments"), 3);
  assert.equal(await a.locator("#lines .name").first().textContent(), "Ana");
  clean(a, b);
});

const isLiked = async (page) => (await page.getAttribute("#like", "aria-pressed")) === "true";
const likes = async (page) => Number(await page.getAttribute("#likes", "value"));

test("a like shows at once, counts once, and is still there on another device", async (t) => {
  const open = opens(t);
  const ana = person("Ana");
  const [a, b] = [await open("liked", { claims: ana }), await open("liked", { claims: person("Ben") })];
  const pressed = await a.evaluate(async () => {
    document.querySelector("#like").click();
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return document.querySelector("#like").getAttribute("aria-pressed");
  });
  assert.equal(pressed, "true", "in the next frame");
  for (const page of [a, b]) await until("one like", async () => (await likes(page)) === 1);
  assert.equal(await isLiked(b), false);
  const again = await open("liked", { claims: ana, options: DESK });
  await until("the other device knows", () => isLiked(again));
  for (let i = 0; i < 4; i += 1) await again.click("#like");
  await until("an even number of presses", async () => (await isLiked(again)) && (await likes(b)) === 1);
  await again.click("#like");
  await until("taken back", async () => (await likes(b)) === 0);
  assert.equal(await total("liked", "likes"), 0);
  clean(a, b, again);
});

test("a like of somebody without network is sent when it is back", async (t) => {
  const page = await opens(t)("later", { claims: person("Lena") });
  await page.context().setOffline(true);
  await page.click("#like");
  await until("the next frame, which shows it", () => isLiked(page));
  await page.context().setOffline(false);
  await until("the like", async () => (await likes(page)) === 1 && (await total("later", "likes")) === 1);
});

test("somebody without a name may watch and tap, and gets a name to talk with", async (t) => {
  const page = await opens(t)("guest");
  assert.equal(await page.locator("#composer").isVisible(), false);
  await tapTimes(page, 3);
  await until("the ledger", async () => (await total("guest")) === 3);
  await page.click("#like");
  await page.fill("#name", "Gina");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#composer:not([hidden])");
  await comment(page, "now I can");
  await until("the comment", async () => (await lines(page)).includes("now I can"));
  assert.equal(await shown(page), 3);
  await page.reload();
  await page.waitForSelector("#composer:not([hidden])");
  clean(page);
});

test("the token leaves the address, and a reload is still the same person", async (t) => {
  const page = await opens(t)("address", { claims: person("Tia") });
  assert.equal(new URL(page.url()).hash, "");
  await comment(page, "mine");
  await until("own line", async () => (await page.locator("#lines .line.own").count()) === 1);
  await page.reload();
  await until("still own", async () => (await page.locator("#lines .line.own").count()) === 1);
  clean(page);
});

test("a token that is no good any more leaves nobody outside", async (t) => {
  const viewer = await openPage(browser, `${server.base}/watch/?item=stale#token=stale.token.here`);
  t.after(() => viewer.context().close());
  await viewer.waitForSelector(".react.main");
  await tapTimes(viewer, 2);
  await until("the taps of somebody without a name", async () => (await total("stale")) === 2);
  const studio = await openPage(browser, `${server.base}/studio/?items=stale#token=stale.token.here`, DESK);
  t.after(() => studio.context().close());
  await until("the studio has a new one", async () => (await studio.textContent("#link")) === "Connected");
  clean(viewer, studio);
});

test("a refused comment keeps its text and says when it can go", async (t) => {
  const page = await opens(t)("fast", { claims: person("Flo") });
  await page.evaluate(() => {
    for (let i = 0; i < 9; i += 1) {
      document.querySelector("#text").value = `quick ${i}`;
      document.querySelector("#composer").requestSubmit();
    }
  });
  const failed = await until("a refusal", async () => {
    const line = page.locator("#drafts .failed").last();
    return (await page.locator("#drafts .failed").count()) > 0 && line;
  });
  const text = await failed.locator(".said").textContent();
  assert.match(text, /^quick \d$/);
  assert.match(await failed.locator(".state").textContent(), /too fast/);
  const key = await failed.getAttribute("data-key");
  await page.click(`[data-key="${key}"] .again:enabled`);
  await until("it is in the chat", async () => (await lines(page)).includes(text));
  assert.equal((await lines(page)).filter((line) => line === text).length, 1);
  clean(page);
});

test("who scrolled up stays there, is told how many came, and gets back with one press", async (t) => {
  const open = opens(t);
  const reader = await open("scroll", { claims: person("Rea"), options: DESK });
  for (let i = 0; i < 40; i += 1) await say("scroll", `line ${i}`);
  await until("40 lines", async () => (await lines(reader)).length === 40);
  const log = reader.locator("#log");
  const distance = () => log.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight);
  assert.ok((await distance()) < 50, "follows the newest");
  await log.evaluate((e) => (e.scrollTop = 100));
  await until("it noticed", () => log.evaluate((e) => e.scrollTop === 100));
  for (let i = 40; i < 45; i += 1) await say("scroll", `line ${i}`);
  await until("5 new", async () => (await reader.textContent("#more")) === "5 new" && (await reader.isVisible("#more")));
  assert.equal(await log.evaluate((e) => e.scrollTop), 100, "stayed where it was");
  await reader.click("#more");
  await until("at the end", async () => (await distance()) < 50);
  assert.equal(await reader.isVisible("#more"), false);
  clean(reader);
});

/** A comment over REST, by a host, whose rate is higher. */
async function say(item, text) {
  const answer = await server.call("POST", `/v1/items/${item}/comments`, { text }, await server.host());
  if (answer.error?.code === "rate_limited") {
    await new Promise((resolve) => setTimeout(resolve, answer.error.retry_after_ms));
    return say(item, text);
  }
  assert.ok(answer.id, JSON.stringify(answer));
  return answer;
}

test("taps and words of somebody without network are kept and arrive once", async (t) => {
  const open = opens(t);
  const [a, b] = [await open("offline", { claims: person("Off") }), await open("offline")];
  await tapTimes(a, 2);
  await until("two taps in", async () => (await total("offline")) === 2);
  await record(a);
  await a.evaluate(cutSockets);
  await a.context().setOffline(true);
  await a.waitForSelector("#banner:not([hidden])");
  await comment(a, "typed in a tunnel");
  assert.match(await a.textContent("#drafts"), /typed in a tunnel/);
  await tapTimes(a, 4);
  await until("own taps are shown", async () => (await shown(a)) === 6);
  assert.equal(await total("offline"), 2);
  await a.context().setOffline(false);
  await until("the comment arrived", async () => (await lines(b)).includes("typed in a tunnel"));
  await until("the taps arrived", async () => (await total("offline")) === 6);
  await until("the banner went", () => a.locator("#banner").isHidden());
  await until("no draft is left", async () => (await a.locator("#drafts li").count()) === 0);
  assert.deepEqual(await lines(a), ["typed in a tunnel"]);
  assert.deepEqual(await lines(b), ["typed in a tunnel"]);
  await neverWrong(a, 6);
  clean(a, b);
});

/** Ends the page's open sockets as a lost network does: setOffline alone leaves those that are open. */
function cutSockets() {
  window.__sockets.forEach((socket) => socket.close());
}

test("after a restart of the server every page is back by itself, nothing missing, nothing doubled", async (t) => {
  const open = opens(t);
  const [a, b] = [await open("restart", { claims: person("Ria") }), await open("restart")];
  await tapTimes(a, 30);
  await comment(a, "before");
  await until("the comment", async () => (await lines(b)).includes("before"));
  await until("the taps", async () => (await total("restart")) === 30);
  for (const page of [a, b]) await until("30 shown", async () => (await shown(page)) === 30);
  await Promise.all([record(a), record(b)]);
  server = await server.restart();
  await tapTimes(a, 5);
  await comment(a, "after");
  await until("it arrived", async () => (await lines(b)).includes("after"), 30_000);
  for (const page of [a, b]) {
    await until("35 shown", async () => (await shown(page)) === 35, 30_000);
    assert.deepEqual(await lines(page), ["before", "after"]);
    await neverWrong(page, 35);
  }
  assert.equal(await total("restart"), 35);
  assert.equal(await total("restart", "comments"), 2);
  clean(a, b);
});

test("a short cut is healed by a resume: what happened meanwhile is there once", async (t) => {
  const open = opens(t);
  const page = await open("resume", { claims: person("Rob") });
  await say("resume", "one");
  await until("one", async () => (await lines(page)).length === 1);
  await page.context().setOffline(true);
  await page.evaluate(cutSockets);
  await say("resume", "two");
  await say("resume", "three");
  await page.context().setOffline(false);
  await until("all three", async () => (await lines(page)).length === 3);
  assert.deepEqual(await lines(page), ["one", "two", "three"]);
  const urls = await page.evaluate(() => window.__sockets.map((socket) => socket.url));
  assert.match(urls.at(-1), /resume=/);
  clean(page);
});

test("a person with two windows is one viewer, and a closed phone leaves the count", async (t) => {
  const open = opens(t);
  const claims = person("Duo");
  const a = await open("people", { claims });
  const b = await open("people", { claims });
  const c = await open("people");
  const viewers = () => a.getAttribute("#viewers", "value");
  await until("two people", async () => (await viewers()) === "2");
  await c.context().close();
  await until("one person", async () => (await viewers()) === "1");
  clean(a, b);
});

test("the studio shows counts, comments and an exact ledger, and steers the viewer page", async (t) => {
  const open = opens(t);
  const viewer = await open("steer", { claims: person("Vio") });
  const studio = await openPage(browser, `${server.base}/studio/?items=steer#token=${await server.host()}`, DESK);
  t.after(() => studio.context().close());
  await until("connected", async () => (await studio.textContent("#link")) === "Connected");
  assert.equal(new URL(studio.url()).hash, "");

  await tapTimes(viewer, 120, { overMs: 1_500 });
  await comment(viewer, "hello host");
  const card = (name) => studio.locator(".card", { hasText: name }).locator("data");
  await until("the count", async () => (await card("heart").getAttribute("value")) === "120");
  await until("the comment", async () => (await lines(studio)).includes("hello host"));
  await until("the ledger's total", async () => (await studio.getAttribute('[data-counter="taps.heart"] td:last-child', "data-value")) === "120");
  await until("all of it stored", async () => (await studio.getAttribute('[data-counter="taps.heart"] td', "data-value")) === "120", 20_000);
  assert.equal(await studio.textContent("#verdict"), "Exact");
  assert.equal(await card("Watching").getAttribute("value"), "1", "the studio is no viewer");

  await comment(studio, "welcome");
  await until("the viewer reads the host", async () => (await lines(viewer)).includes("welcome"));

  await studio.fill("#set-title", "A new name");
  await studio.click('.chip[data-kind="fire"]');
  await studio.selectOption("#set-mode", "closed");
  await studio.click("#save:enabled");
  await until("the new title", async () => (await viewer.textContent("#title")) === "A new name");
  await viewer.waitForSelector('.react[data-kind="fire"]');
  await until("the chat is closed", async () => /closed the chat/.test(await viewer.textContent("#closed")));

  await studio.click("#end");
  await studio.click("#end-confirm");
  await viewer.waitForSelector("#final:not([hidden])");
  assert.match(await viewer.textContent("#final-counts"), /heart120/);
  assert.equal(await viewer.isEnabled(".react.main"), false);
  await until("the studio knows", async () => (await studio.textContent("#badge")) === "Ended");
  assert.equal((await total("steer")), 120);
  clean(viewer, studio);
});

test("the front door shows what is live and leads on to it", async (t) => {
  await server.put("door", { title: "Through the door" });
  const page = await openPage(browser, `${server.base}/`, DESK);
  t.after(() => page.context().close());
  await page.click('.items li:has-text("Through the door") .button:has-text("Watch")');
  await page.waitForSelector(".react.main");
  assert.equal(await page.textContent("#title"), "Through the door");
  await page.goto(`${server.base}/`);
  await page.click("text=Open its studio");
  await until("the studio of the demo", async () => (await page.textContent("#link")) === "Connected");
  clean(page);
});

test("the overlay shows the count and is no viewer", async (t) => {
  const viewer = await opens(t)("over");
  const overlay = await openPage(browser, `${server.base}/overlay/?item=over`, DESK);
  t.after(() => overlay.context().close());
  await overlay.waitForSelector("#counts li");
  await tapTimes(viewer, 7);
  await until("7", async () => (await overlay.getAttribute('[data-kind="heart"] data', "value")) === "7");
  assert.equal(await viewer.getAttribute("#viewers", "value"), "1");
  clean(viewer, overlay);
});
