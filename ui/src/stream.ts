// Stream: one query's connection and rows. Opens the worker's socket, fills the ring, retries by itself, and knows at
// any time in which phase it is and why.
import { type StreamChoice, streamKey, streamUrl } from "./address";
import { hintFor, isLasting, retryDelay } from "./hints";
import { Ring } from "./ring";
import type { FromWorker, ServerText, StreamStats, ToWorker } from "./wire";

export type Phase = "idle" | "connecting" | "live" | "ended" | "retrying";

export interface Failure {
  reason: string;
  hint: string;
  /** Clock (ms, Date.now()) of the next try. */
  retryAt: number;
}

const kRateWindowMs = 1000;

export class Stream {
  ring: Ring;
  phase: Phase = "idle";
  failure: Failure | null = null;
  stats: StreamStats | null = null;
  statsAt = 0;
  /** What happened lately in the server's words, newest last. */
  events: { at: number; text: string }[] = [];
  /** Rows let go in the worker because the page was busy. */
  skippedRows = 0;
  /** Clock (Date.now()) of the last row; of the opening before there is one. */
  lastRowAt = 0;
  private choice_: StreamChoice | null = null;
  private key_ = "";
  private generation_ = 0;
  private failures_ = 0;
  private timer_: ReturnType<typeof setTimeout> | null = null;
  private arrivals_: { at: number; rows: number }[] = [];
  private rowsThisOpen_ = 0;

  constructor(private readonly worker: Worker, private readonly ringRows: number, private readonly changed: () => void) {
    this.ring = new Ring(ringRows);
    worker.onmessage = (event: MessageEvent<FromWorker>) => this.receive(event.data);
  }

  get choice(): StreamChoice | null {
    return this.choice_;
  }

  /** Opens the stream for a choice; the same choice again changes nothing. Returns whether it was a new one. */
  open(choice: StreamChoice): boolean {
    const key = streamKey(choice);
    if (key === this.key_) return false;
    this.key_ = key;
    this.choice_ = { ...choice };
    this.ring = new Ring(this.ringRows);
    this.stats = null;
    this.events = [];
    this.skippedRows = 0;
    this.arrivals_ = [];
    this.failures_ = 0;
    this.failure = null;
    if (choice.topic) this.connect();
    else this.stop();
    return true;
  }

  /** Tries again at once. */
  retryNow(): void {
    if (this.phase === "retrying") this.connect();
  }

  /** Reads the same query anew. */
  restart(): void {
    const choice = this.choice_;
    this.key_ = "";
    if (choice) this.open(choice);
  }

  /** Rows a second over the last second; null before it is known, `stale` when the server has been silent for two. */
  rate(now: number): { value: number | null; stale: boolean } {
    if (this.statsAt === 0) return { value: null, stale: false };
    while (this.arrivals_.length > 0 && now - this.arrivals_[0]!.at > kRateWindowMs) this.arrivals_.shift();
    const rows = this.arrivals_.reduce((sum, arrival) => sum + arrival.rows, 0);
    return { value: rows, stale: now - Math.max(this.statsAt, this.lastRowAt) > 2000 || this.phase !== "live" };
  }

  private stop(): void {
    this.clearTimer();
    ++this.generation_;
    this.phase = "idle";
    this.send({ type: "close" });
    this.changed();
  }

  private connect(): void {
    this.clearTimer();
    ++this.generation_;
    this.phase = "connecting";
    this.rowsThisOpen_ = 0;
    this.lastRowAt = Date.now();
    this.statsAt = 0;
    const url = streamUrl(location.origin, this.resumeChoice());
    this.send({ type: "open", url, generation: this.generation_ });
    this.changed();
  }

  // After a lost connection rows that are already here must not come twice: one partition goes on at its next offset,
  // several go on at their ends, and the gap is said.
  private resumeChoice(): StreamChoice {
    const choice = this.choice_!;
    const next = this.nextOffsets();
    if (next.size === 0) return choice;
    if (next.size === 1 && (choice.partitions === String([...next.keys()][0]) || this.stats?.partitions.length === 1)) {
      return { ...choice, from: `offset:${[...next.values()][0]}` };
    }
    this.note("connected again at the newest records; those that arrived in between are not shown");
    return { ...choice, from: "latest" };
  }

  private nextOffsets(): Map<number, bigint> {
    const out = new Map<number, bigint>();
    for (const batch of this.ring.view().batches) {
      const offsets = batch.byRole("offset");
      const partitions = batch.byRole("partition");
      if (!offsets) continue;
      for (let row = 0; row < batch.rows; ++row) {
        const partition = partitions ? Number(partitions.text(row, true)) : Number(this.choice_!.partitions || 0);
        const next = offsets.bigint(row) + 1n;
        if (next > (out.get(partition) ?? -1n)) out.set(partition, next);
      }
    }
    return out;
  }

  private receive(message: FromWorker): void {
    // Every group is acknowledged, those of an older stream too: the worker counts them.
    if (message.type === "batches") this.send({ type: "ack" });
    if (message.generation !== this.generation_) return;
    if (message.type === "batches") {
      const now = Date.now();
      let rows = 0;
      for (const batch of message.batches) {
        this.ring.append(batch, now);
        rows += batch.rows;
      }
      this.skippedRows += message.skippedRows;
      this.rowsThisOpen_ += rows;
      this.arrivals_.push({ at: now, rows });
      this.lastRowAt = now;
      this.alive();
    } else if (message.type === "text") {
      this.text(message.message);
    } else if (message.type === "closed") {
      void this.closed(message.opened, message.reason, message.ended);
    }
    this.changed();
  }

  private text(message: ServerText): void {
    if (message.type === "stats") {
      this.stats = message;
      this.statsAt = Date.now();
      this.alive();
    } else if (message.type === "hello") {
      this.alive();
    } else if (message.type === "event") {
      // That the first connection came about is shown by the rows.
      if (message.kind !== "connected" || this.events.length > 0) this.note(message.message);
    } else if (message.type === "end") {
      this.phase = "ended";
    } else {
      this.note(message.message);
    }
  }

  private alive(): void {
    if (this.phase === "connecting") this.phase = "live";
    if (this.rowsThisOpen_ > 0 || this.stats) this.failures_ = 0;
    this.failure = null;
  }

  private note(text: string): void {
    if (this.events.length > 0 && this.events[this.events.length - 1]!.text === text) return;
    this.events.push({ at: Date.now(), text });
    if (this.events.length > 50) this.events.shift();
  }

  private async closed(opened: boolean, reason: string, ended: boolean): Promise<void> {
    if (ended || this.phase === "ended") {
      this.phase = "ended";
      return;
    }
    const generation = this.generation_;
    ++this.failures_;
    this.phase = "retrying";
    // Until the reason is known the wait has no end yet; a browser does not tell why a socket was refused.
    this.fail(reason || (opened ? "the connection to the server was lost" : ""));
    if (!reason && !opened) {
      const said = await this.askWhy();
      if (generation !== this.generation_) return;
      this.fail(said);
    }
    this.changed();
  }

  private fail(reason: string): void {
    const words = reason || "the server refused the stream";
    const delay = retryDelay(this.failures_, isLasting(words)) * 1000;
    const hint = reason.includes("does not answer") || reason.includes("connection to the server")
      ? "Check that `kafscope serve` or `kafscope demo` still runs."
      : hintFor(words);
    this.failure = { reason: words, hint, retryAt: Date.now() + delay };
    this.clearTimer();
    this.timer_ = setTimeout(() => this.connect(), delay);
  }

  // The same request without the upgrade: its JSON error says what was wrong with the query.
  private async askWhy(): Promise<string> {
    const url = streamUrl(location.origin, this.choice_!).replace(/^ws/, "http");
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
      const body = (await response.json()) as { error?: { message?: string } };
      return body.error?.message ?? `the server refused the stream (HTTP status ${response.status})`;
    } catch {
      return `the server at ${location.host} does not answer`;
    }
  }

  private clearTimer(): void {
    if (this.timer_ !== null) clearTimeout(this.timer_);
    this.timer_ = null;
  }

  private send(message: ToWorker): void {
    this.worker.postMessage(message);
  }
}
