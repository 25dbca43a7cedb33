// A server that speaks Kafscope's API and sends exactly what a test tells it to, when it tells it to.
import { readFile } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { ipc } from "./arrow_out.mjs";
import { WebSocketServer } from "./packages.mjs";

const kDist = fileURLToPath(new URL("../../ui/dist", import.meta.url));
// As strict as the real server's: whatever the page needs beyond it is a fault.
const kCsp = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
  "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const kMime = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

export class FakeServer {
  constructor() {
    this.status = { version: "test", brokers: "127.0.0.1:9092", broker_state: { connected: true, reason: null }, registry: null, demo: false };
    this.topics = [
      { name: "orders", internal: false, partitions: 6, records: 1204331, rate: 1200 },
      { name: "clicks", internal: false, partitions: 3, records: 50000, rate: 5000 },
      { name: "sensors", internal: false, partitions: 1, records: 2000, rate: 200 },
      { name: "__internal", internal: true, partitions: 1, records: null, rate: null },
    ];
    this.streams = [];
    /** query → reason: such a stream is refused after the upgrade, as the real server does for a broker's refusal. */
    this.refuse = () => "";
    this.schemaAnswer = () => ({ ok: true, messages: [] });
    this.listeners = [];
    this.port = 0;
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  async start() {
    this.http = http.createServer((request, response) => void this.answer(request, response));
    this.ws = new WebSocketServer({ server: this.http, path: "/ws" });
    this.ws.on("connection", (socket, request) => this.open(socket, new URL(request.url, this.url).searchParams));
    await new Promise((resolve, reject) => {
      this.http.once("error", reject);
      this.http.listen(this.port, "127.0.0.1", resolve);
    });
    this.port = this.http.address().port;
  }

  async stop() {
    for (const socket of this.ws.clients) socket.terminate();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** The n-th stream that was opened (from 0), as soon as it is. */
  async stream(index) {
    while (this.streams.length <= index) await new Promise((resolve) => this.listeners.push(resolve));
    return this.streams[index];
  }

  open(socket, query) {
    const stream = new FakeStream(socket, query);
    this.streams.push(stream);
    const reason = this.refuse(query);
    if (reason) {
      stream.text({ type: "error", message: reason });
      socket.close();
    } else {
      stream.text({ type: "hello", query: Object.fromEntries(query) });
      stream.stats();
    }
    this.listeners.splice(0).forEach((tell) => tell());
  }

  async answer(request, response) {
    const url = new URL(request.url, this.url);
    const json = (body, code = 200) => {
      response.writeHead(code, { "Content-Type": "application/json", "Content-Security-Policy": kCsp });
      response.end(JSON.stringify(body));
    };
    const topic = /^\/api\/v1\/topics\/(.+)$/.exec(url.pathname);
    if (url.pathname === "/api/v1/status") return json(this.status);
    if (url.pathname === "/api/v1/topics") return json({ topics: this.topics, sampled_at_ms: Date.now() });
    if (topic) {
      const found = this.topics.find((info) => info.name === decodeURIComponent(topic[1]));
      if (!found) return json({ error: { code: "not_found", message: `unknown topic '${topic[1]}'` } }, 404);
      const partitions = Array.from({ length: found.partitions }, (_, id) => ({ id, leader: 1, start_offset: 0, end_offset: 10 }));
      return json({ name: found.name, partitions });
    }
    if (url.pathname === "/api/v1/formats") {
      return json({
        formats: [["json", false, false], ["plaintext", false, false], ["avro", true, false], ["protobuf", true, true],
          ["lineprotocol", false, false]].map(([name, schema, message]) => ({ name, help: name, schema, message })),
        key_formats: ["none", "string", "json", "base64"],
      });
    }
    if (url.pathname === "/api/v1/schema/check") {
      let body = "";
      for await (const chunk of request) body += chunk;
      return json(this.schemaAnswer(JSON.parse(body)));
    }
    if (url.pathname === "/ws") return json({ error: { code: "upgrade", message: "a WebSocket is expected here" } }, 426);
    const file = path.join(kDist, url.pathname === "/" ? "index.html" : path.normalize(url.pathname));
    try {
      const body = await readFile(file);
      response.writeHead(200, { "Content-Type": kMime[path.extname(file)] ?? "application/octet-stream", "Content-Security-Policy": kCsp });
      response.end(body);
    } catch {
      json({ error: { code: "not_found", message: "no such file" } }, 404);
    }
  }
}

export class FakeStream {
  constructor(socket, query) {
    this.socket = socket;
    this.query = query;
    this.sent = 0;
  }

  text(message) {
    this.socket.send(JSON.stringify(message));
  }

  stats(change = {}) {
    this.text({ type: "stats", received: this.sent, decoded: this.sent, rows: this.sent, frames: 1, bytes: 100, errors: {}, filtered: 0,
      dropped: {}, lag_records: 0, lag_seconds: 0.004, queued_bytes: 0, partitions: [{ id: 0, next_offset: this.sent, log_end_offset: this.sent }],
      notes: [], ...change });
  }

  columns(columns) {
    this.sent += columns[0].values.length;
    this.socket.send(ipc(columns));
    this.stats();
  }

  /** `count` plain rows with offsets from `first`: id = 9007199254740993 + offset (no double holds them all). */
  rows(first, count, extra = []) {
    const index = Array.from({ length: count }, (_, i) => first + i);
    this.columns([
      { name: "time", type: "time", role: "time", values: index.map((i) => 1700000000000000000n + BigInt(i) * 10_000_000n) },
      { name: "offset", type: "int64", role: "offset", values: index.map(BigInt) },
      { name: "id", type: "int64", values: index.map((i) => 9007199254740993n + BigInt(i)) },
      { name: "name", type: "string", values: index.map((i) => `row ${i}`) },
      { name: "value", type: "float64", values: index.map((i) => Math.sin(i / 20) * 10) },
      ...extra.map((column) => ({ ...column, values: index.map(column.value) })),
    ]);
  }
}
