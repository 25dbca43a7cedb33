// Tests on the fake server: every row, message and fault comes when the test says so.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { FakeServer } from "./fake_server.mjs";
import { Page, until } from "./harness.mjs";

// Runs a test with its own server and pages; both end whatever happens.
export function withFake(body) {
  return async (browser) => {
    const fake = new FakeServer();
    const pages = [];
    await fake.start();
    const open = async (address, options) => {
      const page = await Page.open(browser, () => fake.url, address, options);
      pages.push(page);
      return page;
    };
    try {
      await body({ fake, open });
      for (const page of pages) page.assertClean();
    } finally {
      for (const page of pages) await page.close().catch(() => {});
      await fake.stop();
    }
  };
}

const kOrders = "/?topic=orders";

// A page on `orders` with `count` rows on the screen.
async function withRows(fake, open, count = 100, address = kOrders) {
  const page = await open(address);
  const stream = await fake.stream(0);
  stream.rows(0, count);
  await page.untilState(`${count} rows`, (state) => state.total === count && state.shown === count);
  await page.untilCell(`row ${count - 1}`);
  return { page, stream };
}

const tests = {
  "topics are listed, found and opened": async ({ fake, open }) => {
    const page = await open("/");
    await page.untilText(".empty", "Choose a topic");
    await page.untilText('[data-topic="orders"] .topic-detail', "6 partitions · 1,204,331 records");
    await page.untilText('[data-topic="orders"] .topic-rate', "1.2k");
    assert.equal(await page.page.locator('[data-topic="__internal"]').count(), 0);
    await page.page.keyboard.press("/");
    await page.page.keyboard.type("cli");
    await until("one topic", async () => (await page.page.locator("[data-topic]").count()) === 1);
    await page.page.keyboard.press("Enter");
    await page.untilQuery("topic", "clicks");
    const stream = await fake.stream(0);
    assert.equal(stream.query.get("topic"), "clicks");
    stream.rows(0, 5);
    await page.untilCell("row 4");
    await page.untilText(".topic-title", "^clicks$");
  },

  "64-bit values are exact in table, record, chart and export": async ({ fake, open }) => {
    const page = await open(`${kOrders}&tz=utc`);
    const stream = await fake.stream(0);
    const big = ["9223372036854775807", "1152921504606846976", "-7210194211959421178", "73314510714175488"];
    stream.columns([
      { name: "time", type: "time", role: "time", values: big.map((_, i) => 1700000000000000123n + BigInt(i) * 1_000_000_000n) },
      { name: "partition", type: "int32", role: "partition", values: [3, 3, 3, 3] },
      { name: "offset", type: "int64", role: "offset", values: [9223372036854775800n, 9223372036854775801n, 9223372036854775802n, 9223372036854775803n] },
      { name: "id", type: "int64", values: big.map(BigInt) },
      { name: "u", type: "uint64", values: [18446744073709551615n, null, 10699247336865531002n, 0n] },
      { name: "f", type: "float64", values: [1.5, NaN, Infinity, 0.1] },
      { name: "s", type: "string", values: ["", "a\nb", "ü,\"", null] },
      { name: "raw", type: "bytes", values: [Buffer.from([255, 0]), null, Buffer.from([]), null] },
    ]);
    for (const text of [...big, "18446744073709551615", "10699247336865531002", "9223372036854775800", "2023-11-14 22:13:20.000000123", "NaN",
      "Infinity", '""', "a␊b", "/wA= (2 B)", "null"]) await page.untilCell(text);
    const json = await page.download(async () => {
      await page.page.click('[data-action="export"]');
      await page.page.click('[data-export="json"]');
    });
    assert.equal(json.name, "orders.ndjson");
    assert.equal(json.text.split("\n")[0], '{"time":"2023-11-14T22:13:20.000000123Z","partition":3,"offset":9223372036854775800,' +
      '"id":9223372036854775807,"u":18446744073709551615,"f":1.5,"s":"","raw":"/wA="}');
    const csv = await page.download(async () => {
      await page.page.click('[data-action="export"]');
      await page.page.click('[data-export="csv"]');
    });
    assert.equal(csv.text.split("\r\n")[2], "2023-11-14T22:13:21.000000123Z,3,9223372036854775801,1152921504606846976,,NaN,\"a\nb\",");
    await page.page.locator("regular-table td", { hasText: big[0] }).click();
    await page.untilText(".inspector .tree", big[0]);
    await page.untilText(".inspector .facts", "9223372036854775800");
    await page.untilQuery("record", "3:9223372036854775800");
    await page.page.click('[data-pane="text"]');
    await page.untilText(".record-text", '"id": 9223372036854775807,\n  "u": 18446744073709551615');
    await page.page.click('[data-pane="hex"]');
    await page.untilText(".inspector-body", "ff 00");
    await page.page.keyboard.press("Escape");
    await page.page.goto(`${fake.url}${kOrders}&tz=utc&view=series&field=id`);
    const second = await fake.stream(1);
    second.columns([
      { name: "time", type: "time", role: "time", values: [1700000000000000000n, 1700000001000000000n] },
      { name: "offset", type: "int64", role: "offset", values: [0n, 1n] },
      { name: "id", type: "int64", values: [1n, 9223372036854775807n] },
    ]);
    await page.untilText(".legend-value", "^9223372036854775807$");
  },

  "columns that come later join at the right": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 30);
    const before = (await page.state()).columns;
    stream.rows(30, 10, [{ name: "added", type: "string", value: (i) => `new ${i}` }]);
    await page.untilCell("new 39");
    assert.deepEqual((await page.state()).columns, [...before, "added"]);
    assert.deepEqual((await page.heads()).slice(-1), ["added"]);
    await until("the highlight to end", async () => (await page.page.locator("regular-table .fresh").count()) === 0);
    // The type widens; the older rows keep their digits.
    stream.columns([{ name: "offset", type: "int64", role: "offset", values: [40n] }, { name: "id", type: "string", values: ["not a number"] }]);
    await page.untilCell("not a number");
    await page.untilCell("9007199254741032");
    assert.equal((await page.state()).total, 41);
  },

  "the newest rows are followed until one scrolls away": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 500);
    stream.rows(500, 500);
    await page.untilCell("row 999");
    const box = await page.page.locator("regular-table").boundingBox();
    await page.page.mouse.move(box.x + 200, box.y + 200);
    await page.page.mouse.wheel(0, -3000);
    await page.untilState("scrolled", (state) => state.mode === "scrolled");
    await page.settled();
    const before = await page.cells();
    stream.rows(1000, 240);
    await page.untilText(".pill", "^240 new");
    assert.deepEqual(await page.cells(), before, "rows moved under the pointer");
    await page.page.click(".pill");
    await page.untilState("following", (state) => state.mode === "following");
    await page.untilCell("row 1239");
    // Back down by hand is as good as the pill.
    await page.page.mouse.move(box.x + 200, box.y + 200);
    await page.page.mouse.wheel(0, -3000);
    await page.untilState("scrolled again", (state) => state.mode === "scrolled");
    await until("following after scrolling down", async () => {
      await page.page.mouse.wheel(0, 100_000);
      return (await page.state()).mode === "following";
    });
  },

  "pause freezes, counts what waits, and jumps to now": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 100);
    await page.page.keyboard.press("Space");
    await page.untilState("paused", (state) => state.mode === "paused");
    await page.settled();
    const before = await page.cells();
    stream.rows(100, 50);
    await page.untilText('[data-status="waiting"]', "^50 rows waiting$");
    stream.rows(150, 25);
    await page.untilText('[data-status="waiting"]', "^75 rows waiting$");
    assert.deepEqual(await page.cells(), before, "the picture changed while paused");
    await page.untilText('[data-status="phase"]', "^paused$");
    await page.page.click('[data-action="jump"]');
    await page.untilCell("row 174");
    await page.untilState("following", (state) => state.mode === "following" && state.shown === 175);
  },

  "catching up shows the first row that waited": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 300);
    await page.page.click('[data-action="pause"]');
    await page.untilState("paused", (state) => state.mode === "paused");
    stream.rows(300, 200);
    await page.untilText('[data-status="waiting"]', "^200 rows waiting$");
    await page.page.click('[data-action="catch-up"]');
    await page.untilState("scrolled", (state) => state.mode === "scrolled" && state.shown === 500);
    await until("row 300 at the top", async () => (await page.cells())[0]?.includes("row 300"));
    await page.page.keyboard.press("g");
    await page.untilCell("row 499");
  },

  "clearing empties the table and goes on": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 100);
    await page.page.keyboard.press("c");
    await page.untilState("no rows", (state) => state.rows === 0 && state.shown === 0);
    await page.untilText(".empty", "cleared");
    stream.rows(100, 10);
    await page.untilCell("row 109");
    await page.untilText('[data-status="shown"]', "^10 of 110 shown$");
    await page.page.keyboard.press("c");
    await page.untilText(".empty button", "Read again");
    await page.page.click(".empty button");
    const again = await fake.stream(1);
    again.rows(0, 7);
    await page.untilState("seven rows", (state) => state.total === 7);
    await page.untilCell("row 6");
  },

  "error rows are tinted, counted and listed": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 40);
    const words = "syntax at byte 17: expected a comma";
    stream.rows(40, 60, [{ name: "error", type: "string", role: "error", value: (i) => (i % 20 === 0 ? words : null) }]);
    await page.untilText('[data-status="errors"]', "^3 errors$");
    await page.page.click('[data-status="errors"]');
    await page.untilQuery("errors", "1");
    await page.untilState("three rows", (state) => state.shown === 3);
    await until("three tinted rows", async () => (await page.page.locator("regular-table tbody tr td:first-child.error-row").count()) === 3);
    await page.untilCell(words);
    await page.page.locator("regular-table td", { hasText: words }).first().click();
    await page.untilText(".inspector-error", words);
    await page.page.keyboard.press("Escape");
    await page.page.keyboard.press("e");
    await page.untilState("all rows", (state) => state.shown === 100);
  },

  "a refused stream says why, what to change, and tries again by itself": async ({ fake, open }) => {
    fake.refuse = () => (fake.streams.length === 1 ? "unknown topic 'nonsense': the broker does not know it" : "");
    const page = await open("/?topic=nonsense");
    await page.untilText('[data-banner="reason"]', "unknown topic 'nonsense': the broker does not know it");
    await page.untilText('[data-banner="hint"]', "topic's name");
    await page.untilText('[data-banner="countdown"]', "^next try in \\d+ s$");
    const stream = await fake.stream(1);
    stream.rows(0, 3);
    await page.untilCell("row 2");
    await until("no banner", async () => (await page.text(".banner")) === null);
  },

  "trying now does not wait for the countdown": async ({ fake, open }) => {
    let closed = true;
    fake.refuse = () => (closed ? "SASL authentication failed: invalid credentials" : "");
    const page = await open(kOrders);
    await page.untilText('[data-banner="hint"]', "sasl.password");
    closed = false;
    const before = fake.streams.length;
    await page.page.click('[data-action="retry"]');
    const stream = await fake.stream(before);
    stream.rows(0, 3);
    await page.untilCell("row 2");
  },

  "a server that goes and comes back is found again, no row twice": async ({ fake, open }) => {
    const { page } = await withRows(fake, open, 20, "/?topic=sensors&from=earliest");
    await fake.stop();
    await page.untilText('[data-banner="countdown"]', "^next try in");
    await page.untilText(".banner", "serve");
    const before = fake.streams.length;
    await fake.start();
    const stream = await fake.stream(before);
    assert.equal(stream.query.get("from"), "offset:20");
    stream.rows(20, 5);
    await page.untilCell("row 24");
    await page.untilState("25 rows", (state) => state.total === 25 && state.phase === "live");
    await until("no banner", async () => (await page.text(".banner")) === null);
  },

  "several partitions go on at their ends after a lost connection, and the gap is said": async ({ fake, open }) => {
    const page = await open("/?topic=orders&from=earliest");
    const first = await fake.stream(0);
    first.columns([{ name: "partition", type: "int32", role: "partition", values: [0, 1] }, { name: "offset", type: "int64", role: "offset", values: [5n, 9n] }]);
    await page.untilState("two rows", (state) => state.total === 2);
    first.socket.terminate();
    const second = await fake.stream(1);
    assert.equal(second.query.get("from"), "latest");
    await page.untilText('[data-status="note"]', "in between are not shown");
  },

  "a broker that is down is named with its reason": async ({ fake, open }) => {
    fake.status.broker_state = { connected: false, reason: "127.0.0.1:9092: connection refused" };
    const page = await open(kOrders);
    await page.untilText('[data-banner="what"]', "Broker 127.0.0.1:9092");
    await page.untilText('[data-banner="reason"]', "connection refused");
    await page.untilText('[data-banner="hint"]', "--brokers");
    await page.untilText('[data-banner="countdown"]', "next try in");
    fake.status.broker_state = { connected: true, reason: null };
    await until("no banner", async () => (await page.text(".banner")) === null);
  },

  "an empty view explains itself": async ({ fake, open }) => {
    const page = await open(kOrders);
    await page.untilText(".empty", "orders holds 1,204,331 records; you are at its end, and none has arrived for \\d+ s");
    await page.page.click(".empty button");
    await page.untilQuery("from", "last:100");
    const stream = await fake.stream(1);
    assert.equal(stream.query.get("from"), "last:100");
    stream.rows(0, 100);
    await page.untilCell("row 99");
  },

  "a topic of text is shown as text": async ({ fake, open }) => {
    const page = await open("/?topic=orders&from=last:100");
    const stream = await fake.stream(0);
    const index = [0, 1, 2, 3, 4, 5];
    stream.columns([
      { name: "offset", type: "int64", role: "offset", values: index.map(BigInt) },
      { name: "error", type: "string", role: "error", values: index.map(() => "syntax at byte 0: not JSON") },
    ]);
    const second = await fake.stream(1);
    assert.equal(second.query.get("format"), "plaintext");
    second.columns([{ name: "message", type: "string", values: index.map((i) => `line ${i}`) }]);
    await page.untilCell("line 5");
    await page.untilQuery("format", "plaintext");
  },

  "every choice is in the address, back and forward work": async ({ fake, open }) => {
    const page = await open(kOrders);
    await fake.stream(0);
    await page.untilText('[data-control="partitions"]', "all 6 partitions");
    await page.page.selectOption('[data-control="from"]', "last");
    await page.untilQuery("from", "last:100");
    await page.page.fill('[data-control="from-value"]', "25");
    await page.page.press('[data-control="from-value"]', "Enter");
    await page.untilQuery("from", "last:25");
    await page.page.selectOption('[data-control="key"]', "string");
    await page.untilQuery("key", "string");
    await page.page.check('[data-control="headers"]');
    await page.untilQuery("headers", "all");
    await page.page.click('[data-control="partitions"]');
    await page.page.check('[data-partition="2"]');
    await page.untilQuery("partitions", "2");
    await page.page.keyboard.press("Escape");
    await page.page.selectOption('[data-control="format"]', "plaintext");
    await page.untilQuery("format", "plaintext");
    await page.page.click('[data-tab="series"]');
    await page.untilQuery("view", "series");
    const last = await until("the last stream", () => fake.streams.find((stream) => stream.query.get("format") === "plaintext"));
    assert.equal(last.query.get("partitions"), "2");
    assert.equal(last.query.get("key_format"), "string");
    assert.equal(last.query.get("headers"), "all");
    await page.page.goBack();
    await page.page.goBack();
    await page.untilQuery("format", null);
    await until("the format's control", async () => (await page.page.inputValue('[data-control="format"]')) === "");
    await page.page.goForward();
    await until("the format's control again", async () => (await page.page.inputValue('[data-control="format"]')) === "plaintext");
  },

  "a link to one record opens it with its neighbours": async ({ fake, open }) => {
    const page = await open("/?topic=orders&record=4:12345");
    const stream = await fake.stream(0);
    assert.equal(stream.query.get("from"), "offset:12295");
    assert.equal(stream.query.get("partitions"), "4");
    stream.rows(12295, 200);
    await page.untilText(".inspector .facts", "12345");
    await page.untilText(".inspector-place", "^51 / 200$");
    await page.untilCell("row 12344");
    await page.untilCell("row 12346");
    await page.page.keyboard.press("j");
    await page.untilText(".inspector-place", "^52 / 200$");
    await page.untilQuery("record", "4:12346");
  },

  "the demo opens on a live time series of sensors": async ({ fake, open }) => {
    fake.status.demo = true;
    const page = await open("/");
    const stream = await fake.stream(0);
    const columns = [{ name: "sensor", type: "string", value: (i) => `sensor-${i % 4}` },
      { name: "temperature", type: "float64", value: (i) => 20 + (i % 4) + Math.sin(i / 50) }];
    assert.equal(stream.query.get("topic"), "sensors");
    stream.rows(0, 1000, columns);
    await page.untilState("four lines", (state) => state.chartSeries === 4 && state.chartPoints === 1000);
    await page.untilQuery("view", "series");
    stream.rows(1000, 200, columns);
    await page.untilState("more points", (state) => state.chartPoints === 1200);
    assert.match(await page.text(".legend"), /sensor-0.*sensor-3/s);
    await page.page.keyboard.press("1");
    await page.untilCell("sensor-3");
  },

  "the chart zooms by dragging and shows the fields that are chosen": async ({ fake, open }) => {
    const page = await open("/?topic=sensors&view=series");
    const stream = await fake.stream(0);
    stream.rows(0, 2000);
    await page.untilState("points", (state) => state.chartPoints === 2000);
    const box = await page.page.locator(".plot .u-over").boundingBox();
    await page.page.mouse.move(box.x + box.width * 0.3, box.y + 50);
    await page.page.mouse.down();
    await page.page.mouse.move(box.x + box.width * 0.4, box.y + 60, { steps: 4 });
    await page.page.mouse.move(box.x + box.width * 0.6, box.y + 60, { steps: 4 });
    await page.page.mouse.up();
    await page.untilState("zoomed", (state) => state.zoomed && state.chartPoints > 300 && state.chartPoints < 1000);
    await page.page.click("text=Whole range");
    await page.untilState("whole range", (state) => !state.zoomed && state.chartPoints === 2000);
    await page.page.click('[data-menu="fields"] summary');
    await page.page.click('[data-menu="fields"] label:has-text("id")');
    await page.untilState("two lines", (state) => state.chartSeries === 2);
    assert.deepEqual(page.query().getAll("field"), ["value", "id"]);
  },

  "nothing is drawn while the pointer is down": async ({ fake, open }) => {
    const { page, stream } = await withRows(fake, open, 100);
    await page.settled();
    const box = await page.page.locator("regular-table").boundingBox();
    await page.page.mouse.move(box.x + 300, box.y + 200);
    await page.page.mouse.down();
    const { draws } = await page.untilState("busy", (state) => state.busy);
    stream.rows(100, 50);
    await page.untilState("rows arrived", (state) => state.total === 150);
    await sleep(500);
    assert.equal((await page.state()).draws, draws, "drawn under the pointer");
    await page.page.mouse.up();
    await page.page.keyboard.press("g");
    await page.untilCell("row 149");
  },

  "columns are hidden, moved and remembered by topic": async ({ fake, open }) => {
    const { page } = await withRows(fake, open, 30);
    await page.page.click('[data-control="columns"]');
    await page.page.uncheck('[data-column="id"]');
    await until("id is hidden", async () => !(await page.heads()).includes("id"));
    await page.page.click('[aria-label="Move name left"]');
    await page.page.click('[aria-label="Move name left"]');
    await until("name moved", async () => (await page.heads()).indexOf("name") < (await page.heads()).indexOf("offset"));
    const heads = await page.heads();
    await page.page.reload();
    const stream = await fake.stream(1);
    stream.rows(0, 30);
    await page.untilCell("row 29");
    assert.deepEqual(await page.heads(), heads);
  },

  "a schema is checked while one types it": async ({ fake, open }) => {
    fake.schemaAnswer = ({ format, schema }) => (schema.includes("bad")
      ? { ok: false, error: { message: "expected ';'", line: 3, column: 7 } }
      : { ok: true, messages: format === "protobuf" ? ["shop.Order", "shop.Item"] : [] });
    const page = await open("/?topic=orders&format=protobuf");
    await fake.stream(0);
    await page.untilText(".topic-title", "orders");
    await until("the schema editor", async () => (await page.page.locator(".schema-editor:not([hidden])").count()) === 1);
    await page.page.click('[data-control="options"]');
    await page.page.fill(".schema-text", "bad");
    await page.untilText(".verdict", "^line 3, column 7: expected ';'$");
    assert.equal(await page.page.isDisabled('[data-action="apply-schema"]'), true);
    await page.page.fill(".schema-text", 'syntax = "proto3"; message Order { int64 id = 1; }');
    await page.untilText(".verdict", "valid");
    await page.page.selectOption('select[data-control="message"]', "shop.Item");
    await page.page.click('[data-action="apply-schema"]');
    const stream = await fake.stream(1);
    assert.equal(stream.query.get("schema"), 'syntax = "proto3"; message Order { int64 id = 1; }');
    assert.equal(stream.query.get("message"), "shop.Item");
    assert.match(new URL(page.page.url()).hash, /schema=/);
  },

  "the status bar tells the truth": async ({ fake, open }) => {
    const page = await open(kOrders);
    const stream = await fake.stream(0);
    stream.rows(0, 10);
    stream.stats({ dropped: { slow_client: 12 }, lag_records: 1234, lag_seconds: 2.5, queued_bytes: 2048, notes: ["3 records skipped"] });
    await page.untilText('[data-status="dropped"]', "^12 dropped: 12 slow_client$");
    await page.untilText('[data-status="lag"]', "^lag 1,234 · 2.5 s$");
    await page.untilText('[data-status="queued"]', "^2.0 KiB queued$");
    await page.untilText('[data-status="phase"]', "^live$");
    await page.untilText('[data-status="note"]', "3 records skipped");
    stream.text({ type: "event", kind: "topic", message: "topic recreated", count: 1 });
    await page.untilText('[data-status="note"]', "topic recreated");
    stream.text({ type: "end" });
    stream.socket.close();
    await page.untilText('[data-status="phase"]', "^end reached$");
    assert.equal(fake.streams.length, 1);
  },

  "no number is shown before it is known": async ({ fake, open }) => {
    fake.topics[0].rate = null;
    fake.topics[0].records = null;
    const page = await open("/");
    await page.untilText('[data-topic="orders"] .topic-rate', "^–$");
    await page.untilText('[data-topic="orders"] .topic-detail', "– records");
    await page.untilText('[data-status="rate"]', "^– rows/s in");
    await page.untilText('[data-status="lag"]', "^lag – · –$");
  },

  "keys, theme and clock": async ({ fake, open }) => {
    const { page } = await withRows(fake, open, 30);
    await page.page.keyboard.press("?");
    await page.untilText("dialog.help[open]", "pause");
    await page.page.keyboard.press("Escape");
    await until("help is closed", async () => (await page.page.locator("dialog.help[open]").count()) === 0);
    await page.untilCell("2023-11-14 23:13:20.290");
    await page.page.keyboard.press("u");
    await page.untilCell("2023-11-14 22:13:20.290");
    await page.page.keyboard.press("t");
    await page.page.keyboard.press("t");
    await until("dark", async () => (await page.page.evaluate(() => document.documentElement.dataset.theme)) === "dark");
    await page.untilQuery("theme", "dark");
    await page.page.keyboard.press("[");
    await page.untilQuery("rail", "0");
    assert.equal(await page.page.locator(".rail").isVisible(), false);
  },

  "every control has a name": async ({ fake, open }) => {
    const { page } = await withRows(fake, open, 30);
    const nameless = await page.page.evaluate(() => [...document.querySelectorAll("button, summary, input, select, textarea, [tabindex]")]
      .filter((element) => !element.closest("[hidden]") && !(element.getAttribute("aria-label") || element.textContent.trim() || element.closest("label")?.textContent.trim() ||
        element.title || element.classList.contains("inspector-body")))
      .map((element) => element.outerHTML.slice(0, 120)));
    assert.deepEqual(nameless, []);
  },

  "a narrow screen has a drawer and a sheet": async ({ fake, open }) => {
    const page = await open(kOrders, { viewport: { width: 390, height: 844 } });
    const stream = await fake.stream(0);
    stream.rows(0, 100);
    await page.untilCell("row 99");
    assert.equal(await page.page.locator(".rail").isVisible(), false);
    assert.equal(await page.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "the page is wider than the screen");
    await page.page.click(".rail-button");
    await page.page.click('[data-topic="clicks"]');
    await page.untilQuery("topic", "clicks");
    const second = await fake.stream(1);
    second.rows(0, 50);
    await page.untilCell("row 49");
    await until("the drawer to close", async () => !(await page.page.locator(".rail").isVisible()));
    await page.page.locator('regular-table td[data-seq="49"]').first().click();
    await page.untilText(".inspector .facts", "49");
    const box = await page.page.locator(".inspector").boundingBox();
    assert.equal(Math.round(box.width), 390);
  },

  "a record of megabytes and hostile text stay harmless": async ({ fake, open }) => {
    const page = await open(kOrders);
    const stream = await fake.stream(0);
    const hostile = "<img src=x onerror=alert(1)>\u202e";
    stream.columns([
      { name: "offset", type: "int64", role: "offset", values: [0n, 1n] },
      { name: "<b>name</b>", type: "string", values: ["x".repeat(5_000_000), hostile] },
    ]);
    await page.untilCell(hostile);
    assert.equal(await page.page.locator("regular-table img").count(), 0);
    assert.ok((await page.heads()).includes("<b>name</b>"));
    assert.ok(Math.max(...(await page.cells()).flat().map((cell) => cell.length)) < 400);
  },
};

export const fakeTests = Object.entries(tests).map(([name, body]) => ({ name, run: withFake(body) }));
