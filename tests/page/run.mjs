// Browser tests: node tests/page/run.mjs [--only NAME] [--json FILE] [--list] [--group fake|real]
//
// Prints `ok NAME (s)` or `FAILED NAME` with the reason; the last line is `N passed, N failed`; exit code 1 on a failure.
// --only takes the whole name or a part of it. KAFSCOPE_BIN names the binary for the tests on the real server.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { fakeTests } from "./fake_tests.mjs";
import { openBrowser } from "./harness.mjs";
import { loadTests } from "./load_tests.mjs";
import { realTests } from "./real_tests.mjs";

const kTestLimitMs = 600_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? "" : (process.argv[at + 1] ?? "");
}

const binary = process.env.KAFSCOPE_BIN || `${root}build/release/bin/kafscope`;
const only = option("--only");
const group = option("--group");
let tests = [...fakeTests.map((test) => ({ ...test, group: "fake" })), ...loadTests.map((test) => ({ ...test, group: "fake" }))];
if (existsSync(binary)) tests.push(...realTests(binary).map((test) => ({ ...test, group: "real" })));
else if (process.env.CI === "true") {
  console.error(`the binary ${binary} is missing; in CI no test may be left out`);
  process.exit(2);
} else console.log(`left out: the tests on the real server, as ${binary} does not exist`);
if (group) tests = tests.filter((test) => test.group === group);
if (only) {
  const exact = tests.filter((test) => test.name === only);
  tests = exact.length > 0 ? exact : tests.filter((test) => test.name.includes(only));
}
if (process.argv.includes("--list")) {
  for (const test of tests) console.log(test.name);
  process.exit(0);
}
if (!existsSync(`${root}ui/dist/index.html`)) {
  console.error("ui/dist is missing: run scripts/build_ui.sh first");
  process.exit(2);
}
if (tests.length === 0) {
  console.error(`no test is called ${only || group}`);
  process.exit(2);
}

const results = [];
let browser = null;
for (const test of tests) {
  const began = Date.now();
  let failure = "";
  let timer;
  try {
    browser ??= await openBrowser();
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`the test did not end within ${kTestLimitMs / 1000} s`)), kTestLimitMs);
    });
    await Promise.race([test.run(browser), limit]);
  } catch (error) {
    failure = error.stack ?? String(error);
  } finally {
    clearTimeout(timer);
  }
  const seconds = (Date.now() - began) / 1000;
  results.push({ name: test.name, ok: failure === "", seconds, error: failure });
  console.log(failure ? `FAILED ${test.name}\n${failure.replace(/^/gm, "    ")}` : `ok ${test.name} (${seconds.toFixed(1)})`);
  if (failure) {
    // A browser that failed a test may be in any state: the next test gets a new one.
    await browser?.close().catch(() => {});
    browser = null;
  }
}
await browser?.close().catch(() => {});
const json = option("--json");
if (json) await writeFile(json, JSON.stringify(results, null, 2));
const failed = results.filter((result) => !result.ok).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
