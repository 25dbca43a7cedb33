// The tests' packages are those of the page (ui/node_modules): one lock file for both.
import { createRequire } from "node:module";

const require = createRequire(new URL("../../ui/package.json", import.meta.url));

export const { chromium } = require("playwright-core");
export const arrow = require("apache-arrow");
export const { WebSocketServer } = require("ws");
