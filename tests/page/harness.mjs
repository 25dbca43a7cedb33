// What the browser tests share: a browser, a page that reports every fault, and waiting for conditions.
//
// Rule: a test waits for what it wants to see, with a limit that a loaded machine keeps (kPatienceMs); it never sleeps a
// fixed time and never compares a count with one that still moves.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { chromium } from "./packages.mjs";

export const kPatienceMs = Number(process.env.PAGE_PATIENCE_MS ?? 120_000);

export async function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking",
      "--disable-component-update", "--disable-smooth-scrolling", "--no-first-run", "--enable-precise-memory-info"],
    timeout: 120_000,
  });
}

/** Polls until `probe` returns something true, and returns that. `what` is for the failure's text. */
export async function until(what, probe, patience = kPatienceMs) {
  const end = Date.now() + patience;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${patience / 1000} s for: ${what}; last seen: ${describe(last)}`);
    await sleep(50);
  }
}

function describe(value) {
  return value instanceof Error ? value.message : JSON.stringify(value);
}

export class Page {
  constructor(context, page, origin) {
    this.context = context;
    this.page = page;
    this.faults = [];
    this.origin = origin;
    page.setDefaultTimeout(kPatienceMs);
    page.setDefaultNavigationTimeout(kPatienceMs);
    page.on("pageerror", (error) => this.faults.push(`uncaught: ${error.stack ?? error.message}`));
    page.on("console", (message) => {
      // A refused connection is what some tests are about; the browser logs it, the page cannot prevent that.
      if (message.type() === "error" && !/net::ERR_|WebSocket connection|status of [45]\d\d/.test(message.text())) {
        this.faults.push(`console: ${message.text()}`);
      }
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(origin()) && !url.startsWith("blob:") && !url.startsWith("data:")) this.faults.push(`foreign request: ${url}`);
    });
  }

  static async open(browser, origin, address = "/", options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, timezoneId: "Europe/Berlin", acceptDownloads: true,
      reducedMotion: "reduce", ...options });
    const page = new Page(context, await context.newPage(), origin);
    await page.page.goto(origin() + address, { waitUntil: "load" });
    return page;
  }

  async close() {
    await this.context.close();
  }

  state() {
    return this.page.evaluate(() => window.kafscopeTest.state());
  }

  async untilState(what, test, patience) {
    return until(what, async () => {
      const state = await this.state();
      if (!test(state)) throw new Error(`state is ${JSON.stringify(state)}`);
      return state;
    }, patience);
  }

  /** Cells on the screen, by rows; the order is that of the screen. The table keeps a spare row below its edge. */
  cells() {
    return this.page.evaluate(() => {
      const bottom = document.querySelector("regular-table").getBoundingClientRect().bottom - 4;
      return [...document.querySelectorAll("regular-table tbody tr")].filter((row) => row.getBoundingClientRect().top < bottom)
        .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)).filter((row) => row.length > 0);
    });
  }

  heads() {
    return this.page.evaluate(() => [...document.querySelectorAll("regular-table thead th")].map((head) => head.textContent));
  }

  async untilCell(text) {
    return until(`a cell "${text}"`, async () => (await this.cells()).flat().includes(text) || assert.fail(
      `cells: ${JSON.stringify((await this.cells()).slice(-3))}`));
  }

  text(selector) {
    return this.page.evaluate((css) => {
      const element = document.querySelector(css);
      return element && !element.closest("[hidden]") ? element.textContent : null;
    }, selector);
  }

  async untilText(selector, pattern, patience) {
    return until(`${selector} to say ${pattern}`, async () => {
      const text = await this.text(selector);
      if (text === null || !new RegExp(pattern).test(text)) throw new Error(`it says ${JSON.stringify(text)}`);
      return text;
    }, patience);
  }

  query() {
    return new URL(this.page.url()).searchParams;
  }

  async untilQuery(name, value) {
    return until(`address ${name}=${value}`, () => this.query().get(name) === value || assert.fail(this.page.url()));
  }

  /** The picture is finished, nothing waits to be drawn and nothing scrolls. */
  async settled() {
    let before = "";
    await until("the picture to settle", async () => {
      await this.page.evaluate(() => window.kafscopeTest.idle());
      const { draws, chartDraws, pending, top } = await this.state();
      const now = pending ? "" : JSON.stringify([draws, chartDraws, top]);
      const same = now !== "" && now === before;
      before = now;
      if (!same) await sleep(300);
      return same;
    });
  }

  async download(action) {
    const waiting = this.page.waitForEvent("download", { timeout: kPatienceMs });
    await action();
    const download = await waiting;
    const chunks = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    return { name: download.suggestedFilename(), text: Buffer.concat(chunks).toString("utf8") };
  }

  assertClean() {
    assert.deepEqual(this.faults, [], "the page reported faults");
  }
}
