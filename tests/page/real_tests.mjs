// Tests on the real server: `kafscope demo` with its embedded broker. What it sends is not the test's to decide, so
// every expectation is a condition to wait for, and values are compared with those that `kafscope tail` prints.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import net from "node:net";
import { promisify } from "node:util";

import { Page, until } from "./harness.mjs";

const run = promisify(execFile);
const kStartMs = 120_000;

async function freePort() {
  const server = net.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

class Demo {
  constructor(binary, port) {
    this.binary = binary;
    this.port = port;
    this.log = "";
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start() {
    this.child = spawn(this.binary, ["demo", "--listen", `127.0.0.1:${this.port}`], { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr]) stream.on("data", (data) => (this.log += data));
    await until(`the demo to answer (it said: ${this.log.slice(-500)})`, async () => {
      if (this.child.exitCode !== null) throw new Error(`the demo ended with ${this.child.exitCode}: ${this.log.slice(-2000)}`);
      return (await fetch(`${this.url}/healthz`)).ok;
    }, kStartMs);
  }

  async json(path) {
    return (await fetch(this.url + path)).json();
  }

  async stop() {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    const hard = setTimeout(() => this.child.kill("SIGKILL"), 20_000);
    await ended;
    clearTimeout(hard);
  }
}

export function realTests(binary) {
  const withDemo = (body) => async (browser) => {
    const demo = new Demo(binary, await freePort());
    const pages = [];
    const open = async (address) => {
      const page = await Page.open(browser, () => demo.url, address);
      pages.push(page);
      return page;
    };
    try {
      await demo.start();
      await body({ demo, open });
      for (const page of pages) page.assertClean();
    } finally {
      for (const page of pages) await page.close().catch(() => {});
      await demo.stop();
    }
  };

  const tests = {
    "real: the demo opens on a live time series of sensors": async ({ open }) => {
      const page = await open("/");
      await page.untilQuery("topic", "sensors");
      const first = await page.untilState("points", (state) => state.chartPoints > 0 && state.chartSeries > 0);
      await page.untilState("more rows", (state) => state.total > first.total && state.chartDraws > first.chartDraws);
      await page.untilText('[data-status="phase"]', "^live$");
      await page.untilText('[data-topic="orders"] .topic-detail', "\\d+ partitions? · [\\d,]+ records");
    },

    "real: every topic of the demo shows rows": async ({ demo, open }) => {
      const page = await open("/");
      const { topics } = await demo.json("/api/v1/topics");
      const names = topics.filter((topic) => !topic.internal).map((topic) => topic.name);
      for (const name of ["orders", "clicks", "sensors", "logs", "metrics"]) assert.ok(names.includes(name), `no topic ${name}`);
      for (const name of ["orders", "clicks", "logs", "metrics"]) {
        await page.page.click(`[data-topic="${name}"]`);
        await page.untilQuery("topic", name);
        await page.page.keyboard.press("1");
        const state = await page.untilState(`good rows of ${name}`, (now) => now.shown > 5 && now.errors < now.total / 2);
        assert.ok(state.columns.includes("offset"), JSON.stringify(state.columns));
      }
    },

    "real: digits in the page are those of the record": async ({ demo, open }) => {
      const { brokers } = await demo.json("/api/v1/status");
      const page = await open("/?topic=orders&from=last:20&until=end&view=table");
      await page.untilState("rows", (state) => state.shown > 0 && state.phase === "ended");
      const file = await page.download(async () => {
        await page.page.click('[data-action="export"]');
        await page.page.click('[data-export="json"]');
      });
      const line = file.text.split("\n")[0];
      const partition = /"partition":(\d+)/.exec(line)?.[1] ?? "0";
      const offset = /"offset":(\d+)/.exec(line)[1];
      const { stdout } = await run(binary, ["tail", "orders", "--brokers", brokers, "--partitions", partition, "--from", `offset:${offset}`,
        "--until", "count:1", "--json"], { timeout: 60_000 });
      const digits = (text) => [...text.matchAll(/"([^"]+)":(-?\d{16,})/g)].map((match) => `${match[1]}=${match[2]}`);
      const wanted = digits(stdout);
      assert.ok(wanted.length > 0, `no 64-bit value in ${stdout}`);
      for (const pair of wanted) assert.ok(digits(line).includes(pair), `${pair} is not in ${line}`);
    },

    "real: pause, resume and clear": async ({ open }) => {
      const page = await open("/?topic=clicks&view=table");
      await page.untilState("rows", (state) => state.shown > 50);
      await page.page.keyboard.press("Space");
      const paused = await page.untilState("paused", (state) => state.mode === "paused" && !state.pending);
      await page.untilState("rows wait", (state) => state.total > paused.shownEnd);
      const later = await page.state();
      assert.equal(later.shownEnd, paused.shownEnd, "the picture moved while paused");
      await page.page.keyboard.press("Space");
      await page.untilState("following", (state) => state.mode === "following" && state.shownEnd > paused.shownEnd);
      const before = await page.state();
      await page.page.keyboard.press("c");
      await page.untilState("cleared", (state) => state.first >= before.total);
      await page.untilState("rows again", (state) => state.shown > 0);
    },

    "real: a bad record is a row with its reason": async ({ open }) => {
      const page = await open("/?topic=sensors&from=earliest&errors=1");
      await page.untilState("an error row", (state) => state.errors > 0 && state.shown > 0);
      await until("a tinted row", async () => (await page.page.locator("regular-table td.error-row").count()) > 0);
    },

    "real: an unknown topic and a wrong option are said in words": async ({ open }) => {
      const page = await open("/?topic=no-such-topic&view=table");
      await page.untilText('[data-banner="reason"]', "no-such-topic|unknown|not exist");
      await page.untilText('[data-banner="countdown"]', "next try in");
      const second = await open("/?topic=orders&from=nonsense");
      await second.untilText('[data-banner="reason"]', "from|nonsense");
    },

    "real: a server that goes and comes back is found again": async ({ demo, open }) => {
      const page = await open("/?topic=sensors&view=table");
      await page.untilState("rows", (state) => state.shown > 0);
      await demo.stop();
      await page.untilText('[data-banner="countdown"]', "next try in");
      const before = await page.state();
      await demo.start();
      await page.untilState("live again", (state) => state.phase === "live" && state.total > before.total, 120_000);
      await until("no banner", async () => (await page.text(".banner")) === null);
    },
  };
  return Object.entries(tests).map(([name, body]) => ({ name, run: withDemo(body) }));
}
