// Takes the pictures of docs/screenshots: node tests/page/screenshots.mjs [FOLDER]. They are made on the fake server, so
// that the same code gives the same pictures. Look at them before a change of the page is called done.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { FakeServer } from "./fake_server.mjs";
import { openBrowser, Page, until } from "./harness.mjs";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../docs/screenshots", import.meta.url));
const kCities = ["Berlin", "Lisbon", "Oslo", "Turin"];

function orders(stream, first, count, withErrors = false) {
  const index = Array.from({ length: count }, (_, i) => first + i);
  const bad = (i) => withErrors && i % 17 === 0;
  const value = (make) => index.map((i) => (bad(i) ? null : make(i)));
  stream.columns([
    { name: "time", type: "time", role: "time", values: index.map((i) => 1767265200000000000n + BigInt(i) * 83_000_000n) },
    { name: "partition", type: "int32", role: "partition", values: index.map((i) => i % 6) },
    { name: "offset", type: "int64", role: "offset", values: index.map((i) => 204_000n + BigInt(i)) },
    { name: "key", type: "string", role: "key", values: index.map((i) => `customer-${i % 97}`) },
    { name: "headers", type: "string", role: "header", values: index.map((i) => `[["trace","${(i * 7919).toString(16)}"],["source","shop"]]`) },
    { name: "amount", type: "float64", values: value((i) => ((i * 37) % 20000) / 100) },
    { name: "customer.city", type: "string", values: value((i) => kCities[i % 4]) },
    { name: "customer.id", type: "int64", values: value((i) => 9007199254740993n + BigInt(i)) },
    { name: "items", type: "string", values: value((i) => `[{"sku":"A-${i % 50}","n":${1 + (i % 3)}}]`) },
    { name: "order_id", type: "int64", values: value((i) => 1152921504606846976n + BigInt(i) * 3n) },
    { name: "paid", type: "bool", values: value((i) => (i % 5 === 0 ? null : i % 2 === 0)) },
    { name: "error", type: "string", role: "error", values: index.map((i) => (bad(i) ? `syntax at byte ${12 + (i % 40)}: expected ',' or '}'` : null)) },
  ]);
}

function sensors(stream, first, count) {
  const index = Array.from({ length: count }, (_, i) => first + i);
  stream.columns([
    { name: "time", type: "time", role: "time", values: index.map((i) => 1767265200000000000n + BigInt(i) * 5_000_000n * 20n) },
    { name: "offset", type: "int64", role: "offset", values: index.map(BigInt) },
    { name: "humidity", type: "float64", values: index.map((i) => 45 + 8 * Math.sin(i / 230 + (i % 4))) },
    { name: "sensor", type: "string", values: index.map((i) => `sensor-${i % 4}`) },
    { name: "temperature", type: "float64", values: index.map((i) => (i % 31 === 0 ? null :
      Math.round((20 + 3 * (i % 4) + 2 * Math.sin(i / 300 + (i % 4)) + Math.sin(i * 12.9898) * 0.4 + (i === 2404 ? 9 : 0)) * 100) / 100)) },
  ]);
}

const kShots = {
  async "table"(open) {
    const { page, stream } = await open("/?topic=orders&key=string&headers=all");
    orders(stream, 0, 400);
    await page.untilState("rows", (state) => state.shown === 400);
    await page.settled();
    return page;
  },
  async "series"(open) {
    const { page, stream } = await open("/?topic=sensors&from=last:1000&view=series&field=temperature&split=sensor");
    sensors(stream, 0, 4000);
    await page.untilState("points", (state) => state.chartPoints > 3000);
    await page.settled();
    return page;
  },
  async "inspector"(open) {
    const { page, stream } = await open("/?topic=orders&key=string&headers=all&partitions=3&from=offset:204000&record=3:204099");
    orders(stream, 0, 400);
    await page.untilText(".inspector .facts", "204099");
    await page.settled();
    return page;
  },
  async "paused"(open) {
    const { page, stream } = await open("/?topic=orders&key=string");
    orders(stream, 0, 400);
    await page.untilState("rows", (state) => state.shown === 400);
    await page.page.keyboard.press("Space");
    await page.untilState("paused", (state) => state.mode === "paused");
    orders(stream, 400, 1240);
    await page.untilText('[data-status="waiting"]', "1,240");
    return page;
  },
  async "errors"(open) {
    const { page, stream } = await open("/?topic=orders");
    orders(stream, 0, 400, true);
    await page.untilState("rows", (state) => state.shown === 400);
    await page.settled();
    return page;
  },
  async "error-list"(open) {
    const { page, stream } = await open("/?topic=orders&errors=1");
    orders(stream, 0, 400, true);
    await page.untilState("rows", (state) => state.shown === 24);
    await page.settled();
    return page;
  },
  async "empty"(open) {
    const { page } = await open("/?topic=orders");
    await page.untilText(".empty", "holds");
    return page;
  },
  async "broker-down"(open, fake) {
    fake.status.broker_state = { connected: false, reason: "127.0.0.1:9092: Connect to ipv4#127.0.0.1:9092 failed: Connection refused" };
    fake.refuse = () => "Local: Broker transport failure: 127.0.0.1:9092: Connection refused (after 0 ms)";
    const { page } = await open("/?topic=orders");
    await page.untilText('[data-banner="countdown"]', "next try");
    return page;
  },
  async "options"(open, fake) {
    fake.schemaAnswer = () => ({ ok: false, error: { message: "expected \";\" after the field", line: 4, column: 17 } });
    const { page } = await open("/?topic=orders&format=protobuf");
    await page.page.click('[data-control="options"]');
    await page.page.fill(".schema-text", 'syntax = "proto3";\n\nmessage Order {\n  int64 id = 1\n}\n');
    await page.untilText(".verdict", "line 4");
    return page;
  },
};

const kSizes = { "1280": { width: 1280, height: 720 }, "390": { width: 390, height: 844 } };
const kWanted = [
  ["table", "1280", "light"], ["table", "1280", "dark"], ["table", "390", "light"], ["series", "1280", "light"], ["series", "1280", "dark"],
  ["series", "390", "dark"], ["inspector", "1280", "light"], ["inspector", "390", "light"], ["paused", "1280", "light"],
  ["errors", "1280", "light"], ["error-list", "1280", "light"], ["errors", "1280", "dark"], ["empty", "1280", "light"], ["broker-down", "1280", "light"], ["options", "1280", "light"],
];

await mkdir(folder, { recursive: true });
const browser = await openBrowser();
for (const [name, size, theme] of kWanted) {
  const fake = new FakeServer();
  await fake.start();
  const open = async (address) => {
    const page = await Page.open(browser, () => fake.url, address, { viewport: kSizes[size], colorScheme: theme });
    const stream = await fake.stream(0);
    if (fake.status.broker_state.connected) {
      await until("the topic list", async () => (await page.page.locator(".topic-detail").count()) > 0);
    }
    return { page, stream };
  };
  const page = await kShots[name](open, fake);
  await page.page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png` });
  await page.close();
  await fake.stop();
  console.log(`${name}-${size}-${theme}.png`);
}
await browser.close();
