/**
 * Pictures of every page, phone and desk, light and dark, for people to look at: `shots/*.png`.
 * What a machine can judge of them is asserted: nothing is wider than the screen, what is pressed is 44 px.
 */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import test, { after, before } from "node:test";
import { DESK, PHONE, Server, clean, openBrowser, openPage, until } from "./harness.js";

const SHOTS = new URL("./shots/", import.meta.url).pathname;
const SIZES = { phone: PHONE, desk: DESK };
let server;
let browser;

before(async () => {
  await mkdir(SHOTS, { recursive: true });
  server = await Server.start();
  browser = await openBrowser();
  await server.put("demo", { title: "Sunday studio session", reactions: ["heart", "fire", "laugh", "wow"] });
  await server.put("cook", { title: "Ramen from scratch, with Aiko", reactions: ["heart", "star"] });
  await server.put("over", { title: "Last night’s quiz", reactions: ["heart", "fire"] });
  await fill();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** A room that looks lived in. */
async function fill() {
  const words = [
    ["Maya", "Finally made it, hello from Lisbon"], ["Jonas", "that intro was so good"], ["Αλέξης", "Καλησπέρα σε όλους"],
    ["Priya", "Can you play the one from last week? The slow one with the piano"], ["Sam", "first time here, love this"],
    ["نور", "مرحبا بالجميع"], ["Leo", "the lights!!"], ["Maya", "Agreed, and the sound is perfect today"],
  ];
  const tokens = new Map();
  for (const [name] of words) if (!tokens.has(name)) tokens.set(name, await server.token({ sub: `u:${tokens.size}`, role: "viewer", name }));
  for (const [name, text] of words) await speak(tokens.get(name), text);
  for (const token of tokens.values()) for (const item of ["demo", "over"]) await server.call("PUT", `/v1/items/${item}/like`, {}, token);
  for (let i = 0; i < 4; i += 1) await server.call("POST", "/v1/items/over/taps", { n: 60, kind: i % 2 ? "heart" : "fire" }, tokens.get(words[i][0]));
  for (const [name, text] of [["Maya", "that was close"], ["Leo", "good night everyone"]]) await server.call("POST", "/v1/items/over/comments", { text }, tokens.get(name));
  await server.call("POST", "/v1/items/over/end", {}, await server.host());
}

async function speak(token, text) {
  const { id } = await server.call("POST", "/v1/items/demo/comments", { text }, token);
  assert.ok(id, text);
  await server.call("POST", "/v1/items/demo/taps", { n: 60 + (text.length % 37) }, token);
  await server.call("POST", "/v1/items/demo/taps", { n: 23, kind: "fire" }, token);
}

const shots = {
  home: (page) => page.waitForSelector(".items li"),
  watch: async (page) => {
    await page.waitForSelector(".react.main");
    await until("the comments", async () => (await page.$$("#lines li")).length >= 8);
  },
  chat: async (page) => {
    await page.waitForSelector("#composer:not([hidden])");
    await page.fill("#text", "Hello from the test");
    await page.click("#send");
    await until("own comment", () => page.$("#lines .line.own"));
    await page.click("#like");
    await page.fill("#text", "What a lovely evening");
    await page.evaluate(async () => {
      for (let i = 0; i < 8; i += 1) {
        document.querySelector(`.react[data-kind=${["heart", "fire", "heart", "wow"][i % 4]}]`).click();
        await new Promise((resolve) => setTimeout(resolve, 90));
      }
    });
  },
  join: async (page) => {
    await page.click("#join");
    await page.waitForSelector("dialog[open]");
  },
  ended: (page) => page.waitForSelector("#final:not([hidden])"),
  studio: async (page) => {
    await until("the ledger", async () => (await page.textContent("#verdict")) === "Exact");
    await until("the settings", async () => (await page.inputValue("#set-title")) !== "");
    const host = new URL(page.url()).host;
    // Some movement for the lines, over a few seconds that the page itself counts.
    await page.evaluate(async (host) => {
      const socket = new WebSocket(`ws://${host}/v1/items/demo/ws`);
      await new Promise((resolve) => (socket.onmessage = resolve));
      for (let i = 0; i < 60; i += 1) {
        socket.send(JSON.stringify({ t: "tap", n: 1 + Math.round(6 + 5 * Math.sin(i / 6)), kind: i % 3 ? "heart" : "fire" }));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      socket.close();
    }, host);
  },
  end: async (page) => {
    await page.click("#end:enabled");
    await page.waitForSelector("dialog[open]");
  },
};

const paths = {
  home: "/", watch: "/watch/?item=demo", join: "/watch/?item=demo", ended: "/watch/?item=over",
  studio: "/studio/?items=demo,cook", end: "/studio/?items=demo",
};

for (const [name, prepare] of Object.entries(shots)) {
  for (const [size, options] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
      test(`${name}, ${size}, ${colorScheme}: nothing is cut off, complained about or too small to press`, async (t) => {
        const path = name === "chat" ? `/watch/?item=demo#token=${await server.token({ sub: `c:${size}${colorScheme}`, role: "viewer", name: "Ana" })}` : paths[name];
        const page = await openPage(browser, server.base + path, { ...options, colorScheme });
        t.after(() => page.context().close());
        await prepare(page);
        await page.screenshot({ path: `${SHOTS}${name}-${size}-${colorScheme}.png` });
        if (["studio", "home"].includes(name)) await page.screenshot({ path: `${SHOTS}${name}-${size}-${colorScheme}-full.png`, fullPage: true });
        await judge(page, size);
        clean(page);
      });
    }
  }
}

async function judge(page, size) {
  const found = await page.evaluate(() => {
    const visible = (box) => box.width > 0 && box.height > 0;
    const small = [...document.querySelectorAll("button, a, input, select, textarea")]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => visible(box) && (box.height < 43.5 || box.width < 43.5))
      .map(({ element, box }) => `${element.id || element.className || element.tagName} ${Math.round(box.width)}x${Math.round(box.height)}`);
    const unnamed = [...document.querySelectorAll("button, a, input, select, textarea")]
      .filter((element) => visible(element.getBoundingClientRect()) && !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length))
      .map((element) => element.outerHTML);
    return { small, unnamed, wide: document.documentElement.scrollWidth - innerWidth };
  });
  assert.ok(found.wide <= 0, `${found.wide} px wider than the screen`);
  assert.deepEqual(found.unnamed, [], "every control has a name");
  if (size === "phone") assert.deepEqual(found.small, [], "every target is 44 px on a phone");
}
