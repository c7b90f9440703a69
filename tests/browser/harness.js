/**
 * The real server and a real browser for the page tests.
 *
 * The server is the binary of `HEARTLINE_BIN`, on a port of its own choosing with a data folder of its own; it is
 * stopped by SIGTERM and must exit 0. Every page is watched: a request to another host, a violation of the content
 * security policy, an exception or a console error fails the test. Waits are level-triggered, with a deadline.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const DEADLINE_MS = 15_000;
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync", "--disable-quic",
];

/** Polls `look` until it is truthy; says what was awaited when the deadline passes. */
export async function until(what, look, ms = DEADLINE_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await look();
    if (value) return value;
    if (Date.now() > end) assert.fail(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

export class Server {
  /** Starts the binary; `port` 0 for any. */
  static async start({ dataDir = null, port = 0, args = [] } = {}) {
    const bin = process.env.HEARTLINE_BIN;
    assert.ok(bin, "HEARTLINE_BIN names the server binary under test");
    const server = new Server();
    server.dataDir = dataDir ?? (await mkdtemp(join(tmpdir(), "heartline-browser-")));
    server.child = spawn(bin, ["--listen", `127.0.0.1:${port}`, "--data-dir", server.dataDir, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    server.exited = once(server.child, "exit");
    server.log = "";
    for (const stream of [server.child.stdout, server.child.stderr]) stream.on("data", (data) => (server.log += data));
    server.port = Number(await until("the server's link on its output", () => {
      assert.equal(server.child.exitCode, null, `the server ended at once: ${server.log}`);
      return server.log.match(/http:\/\/127\.0\.0\.1:(\d+)\//)?.[1];
    }));
    server.base = `http://127.0.0.1:${server.port}`;
    return server;
  }

  /** SIGTERM; the drain must have lost nothing. */
  async stop({ keepData = false } = {}) {
    this.child.kill("SIGTERM");
    const [code] = await this.exited;
    if (!keepData) await rm(this.dataDir, { recursive: true, force: true });
    assert.equal(code, 0, `the server did not drain: ${this.log.slice(-2000)}`);
  }

  /** The same data on the same port, after a stop. */
  async restart() {
    await this.stop({ keepData: true });
    return Server.start({ dataDir: this.dataDir, port: this.port });
  }

  async token(claims) {
    const answer = await this.call("POST", "/v1/dev/token", claims);
    assert.ok(answer.token, JSON.stringify(answer));
    return answer.token;
  }

  async host() {
    this.hostToken ??= await this.token({ sub: "test-host", role: "host", name: "Host" });
    return this.hostToken;
  }

  async put(item, settings) {
    return this.call("PUT", `/v1/items/${item}`, settings, await this.host());
  }

  async audit(item) {
    const { counters } = await this.call("GET", `/v1/items/${item}/audit`, null, await this.host());
    return counters;
  }

  async call(method, path, body = null, token = null) {
    const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(body && { "content-type": "application/json" }) };
    const answer = await fetch(this.base + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await answer.text();
    return text ? JSON.parse(text) : {};
  }
}

export async function openBrowser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS, headless: true });
}

export const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
export const DESK = { viewport: { width: 1280, height: 800 } };

/** A page in a context (a person) of its own, with its complaints collected in `page.complaints`. */
export async function openPage(browser, url, options = PHONE) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.complaints = [];
  const own = new URL(url).host;
  page.on("request", (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol !== "data:" && protocol !== "blob:" && host !== own) page.complaints.push(`request to ${request.url()}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== own) page.complaints.push(`socket to ${socket.url()}`);
  });
  page.on("pageerror", (error) => page.complaints.push(`exception: ${error.stack}`));
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    // A server that is away on purpose is told by the browser itself; it is no fault of the page.
    if (/net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INTERNET_DISCONNECTED|EMPTY_RESPONSE)|WebSocket connection to/.test(message.text())) return;
    page.complaints.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    // The sockets that the page opened, so that a test can cut them.
    window.__sockets = [];
    window.WebSocket = new Proxy(WebSocket, {
      construct(target, args) {
        const socket = new target(...args);
        window.__sockets.push(socket);
        return socket;
      },
    });
    document.addEventListener("securitypolicyviolation", (event) => console.error(`CSP ${event.violatedDirective} ${event.blockedURI}`));
  });
  await page.goto(url);
  return page;
}

/** The viewer page once the room's state is there. */
export async function openViewer(browser, server, item, { claims = null, options = PHONE, query = "" } = {}) {
  const hash = claims ? `#token=${await server.token(claims)}` : "";
  const page = await openPage(browser, `${server.base}/watch/?item=${item}${query}${hash}`, options);
  await page.waitForSelector(".react.main", { timeout: DEADLINE_MS });
  return page;
}

/** The exact number beneath a reaction. */
export async function shown(page, kind = "heart") {
  return Number(await page.getAttribute(`.rail data[data-kind="${kind}"]`, "value"));
}

/** Records every number that a reaction shows from now on; `page.evaluate(() => window.__numbers)`. */
export async function record(page, kind = "heart") {
  await page.evaluate((kind) => {
    const data = document.querySelector(`.rail data[data-kind="${kind}"]`);
    window.__numbers = [Number(data.value)];
    new MutationObserver(() => window.__numbers.push(Number(data.value))).observe(data, { attributes: true, attributeFilter: ["value"] });
  }, kind);
}

/** Presses a reaction so many times, as fast as a page can take it, over about `overMs`. */
export async function tapTimes(page, times, { kind = "heart", overMs = 0 } = {}) {
  await page.evaluate(async ({ kind, times, overMs }) => {
    const button = document.querySelector(`.react[data-kind="${kind}"]`);
    for (let i = 0; i < times; i += 1) {
      button.click();
      if (overMs > 0) await new Promise((resolve) => setTimeout(resolve, overMs / times));
    }
  }, { kind, times, overMs });
}

export async function comment(page, text) {
  await page.fill("#text", text);
  await page.click("#composer [type=submit]");
}

/** The texts of the lines that the room has, in order. */
export async function lines(page) {
  return page.$$eval("#lines .said", (all) => all.map((one) => one.textContent));
}

export function clean(...pages) {
  for (const page of pages) assert.deepEqual(page.complaints, []);
}
