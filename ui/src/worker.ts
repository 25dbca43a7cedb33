// The worker: one WebSocket, Arrow decoding, batches handed over in groups.
//
// The page acknowledges each group. While it is busy, decoded batches wait here, at most kMaxWaitingRows of them; older
// ones would have left the page's ring anyway: they are let go and counted (`skippedRows`).
import { decodeMessage, transferList } from "./arrow_decode";
import type { FromWorker, ServerText, ToWorker, WireBatch } from "./wire";

const kMaxWaitingRows = 100_000;
const kMaxUnacknowledged = 2;
const kGroupMs = 40;

let socket: WebSocket | null = null;
let generation = 0;
let waiting: WireBatch[] = [];
let waitingRows = 0;
let skippedRows = 0;
let unacknowledged = 0;
let timer: ReturnType<typeof setTimeout> | null = null;

function post(message: FromWorker, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(m: unknown, t: Transferable[]): void }).postMessage(message, transfer);
}

function flush(): void {
  timer = null;
  if (waiting.length === 0 || unacknowledged >= kMaxUnacknowledged) return;
  const batches = waiting;
  waiting = [];
  waitingRows = 0;
  ++unacknowledged;
  post({ type: "batches", generation, batches, skippedRows }, transferList(batches));
  skippedRows = 0;
}

function schedule(): void {
  if (timer === null && unacknowledged < kMaxUnacknowledged) timer = setTimeout(flush, kGroupMs);
}

function keep(batches: WireBatch[]): void {
  for (const batch of batches) {
    waiting.push(batch);
    waitingRows += batch.rows;
  }
  while (waiting.length > 1 && waitingRows > kMaxWaitingRows) {
    const oldest = waiting.shift()!;
    waitingRows -= oldest.rows;
    skippedRows += oldest.rows;
  }
  schedule();
}

function close(): void {
  const old = socket;
  socket = null;
  old?.close();
  waiting = [];
  waitingRows = 0;
  skippedRows = 0;
}

function open(url: string, mine: number): void {
  close();
  generation = mine;
  let opened = false;
  let ended = false;
  let reason = "";
  const ws = new WebSocket(url);
  ws.binaryType = "arraybuffer";
  socket = ws;
  ws.onopen = () => {
    if (socket !== ws) return;
    opened = true;
    post({ type: "open", generation: mine });
  };
  ws.onmessage = (event: MessageEvent) => {
    if (socket !== ws) return;
    if (typeof event.data !== "string") {
      try {
        keep(decodeMessage(new Uint8Array(event.data as ArrayBuffer), performance.timeOrigin + performance.now()));
      } catch (error) {
        reason = `the page could not read a frame: ${(error as Error).message}`;
        ws.close();
      }
      return;
    }
    const message = JSON.parse(event.data) as ServerText;
    if (message.type === "error") reason = message.message;
    if (message.type === "end") ended = true;
    // Rows that came before a message are shown before it.
    if (message.type !== "stats") flush();
    post({ type: "text", generation: mine, message });
  };
  ws.onclose = (event) => {
    if (socket !== ws) return;
    flush();
    socket = null;
    post({ type: "closed", generation: mine, opened, code: event.code, reason: reason || event.reason, ended });
  };
}

self.onmessage = (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  if (message.type === "open") open(message.url, message.generation);
  else if (message.type === "close") close();
  else {
    unacknowledged = Math.max(0, unacknowledged - 1);
    if (waiting.length > 0) schedule();
  }
};
