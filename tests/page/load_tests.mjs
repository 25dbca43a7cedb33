// Load: 50,000 rows a second from the fake server for PAGE_LOAD_SECONDS (60 in CI, 10 elsewhere), and the script's size.
//
// Rates, redraws and long tasks are printed, not judged: they are the machine's. Judged is what must hold on any machine:
// every row is accounted for, the ring keeps its bound and the heap stays bounded.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { ipc } from "./arrow_out.mjs";
import { withFake } from "./fake_tests.mjs";

const kSeconds = Number(process.env.PAGE_LOAD_SECONDS ?? (process.env.CI === "true" ? 60 : 10));
const kBatchRows = 2500;
const kBatchesPerSecond = 20;

function loadBatch() {
  const index = Array.from({ length: kBatchRows }, (_, i) => i);
  return ipc([
    { name: "time", type: "time", role: "time", values: index.map((i) => 1700000000000000000n + BigInt(i) * 20_000n) },
    { name: "partition", type: "int32", role: "partition", values: index.map((i) => i % 3) },
    { name: "offset", type: "int64", role: "offset", values: index.map(BigInt) },
    ...Array.from({ length: 8 }, (_, c) => ({ name: `number_${c}`, type: "float64", values: index.map((i) => i * 1.5 + c) })),
    ...Array.from({ length: 5 }, (_, c) => ({ name: `count_${c}`, type: "int64", values: index.map((i) => BigInt(i + c)) })),
    ...Array.from({ length: 4 }, (_, c) => ({ name: `text_${c}`, type: "string", values: index.map((i) => `value-${i}-${c}`) })),
  ]);
}

async function loadOn(tab, { fake, open }) {
  const page = await open(`/?topic=clicks&view=${tab}`);
  const stream = await fake.stream(0);
  await page.page.evaluate(() => {
    window.kafscopeLong = [];
    new PerformanceObserver((list) => window.kafscopeLong.push(...list.getEntries().map((entry) => entry.duration))).observe({ entryTypes: ["longtask"] });
  });
  const heap = () => page.page.evaluate(() => performance.memory.usedJSHeapSize);
  const batch = loadBatch();
  let sent = 0;
  let warm = 0;
  const began = performance.now();
  for (let step = 0; step < kSeconds * kBatchesPerSecond; ++step) {
    stream.socket.send(batch);
    sent += kBatchRows;
    if (step % 10 === 0) stream.stats();
    if (step === Math.floor((kSeconds * kBatchesPerSecond) / 3)) warm = await heap();
    const due = began + ((step + 1) * 1000) / kBatchesPerSecond;
    if (due > performance.now()) await sleep(due - performance.now());
  }
  const sending = (performance.now() - began) / 1000;
  const state = await page.untilState("every row accounted for", (now) => now.total + now.skipped === sent, 180_000);
  const end = await heap();
  const long = await page.page.evaluate(() => window.kafscopeLong);
  const draws = tab === "table" ? state.draws : state.chartDraws;
  console.log(`    ${tab}: ${Math.round(sent / sending)} rows/s for ${sending.toFixed(0)} s, ${state.skipped} let go, ${(draws / sending).toFixed(1)} ` +
    `redraws/s, ${long.length} tasks over 50 ms (longest ${Math.round(Math.max(0, ...long))} ms), heap ${Math.round(warm / 2 ** 20)} → ${Math.round(end / 2 ** 20)} MiB`);
  assert.ok(state.rows <= 100_000, `the ring holds ${state.rows} rows`);
  assert.ok(draws > 0, "nothing was drawn");
  assert.ok(end - warm < 400 * 2 ** 20, `the heap grew by ${Math.round((end - warm) / 2 ** 20)} MiB`);
}

async function scriptSize() {
  const assets = new URL("../../ui/dist/assets/", import.meta.url);
  let total = 0;
  for (const name of await readdir(assets)) if (name.endsWith(".js")) total += gzipSync(await readFile(new URL(name, assets))).length;
  console.log(`    ${(total / 1024).toFixed(0)} kB of script (gzip)`);
  assert.ok(total < 250 * 1024, `${total} bytes of script`);
}

export const loadTests = [
  { name: "the script is small", run: scriptSize },
  { name: `the table keeps up with 50,000 rows a second`, run: withFake((test) => loadOn("table", test)) },
  { name: `the chart keeps up with 50,000 rows a second`, run: withFake((test) => loadOn("series", test)) },
];
