// ServerWatch: asks the server for its status, topics and formats, again and again, and backs off when it is away.
import { type FormatList, getJson, type ServerStatus, type TopicList } from "./api";

export interface WatchEvents {
  status(status: ServerStatus): void;
  topics(list: TopicList): void;
  formats(list: FormatList): void;
  changed(): void;
}

const kEveryMs = 2000;
const kMaxWaitMs = 10_000;

export class ServerWatch {
  /** Why the server did not answer; empty while it does. */
  failure = "";
  status: ServerStatus | null = null;
  nextAt = 0;
  private failures_ = 0;
  private timer_: ReturnType<typeof setTimeout> | null = null;
  private hasFormats_ = false;

  constructor(private readonly events: WatchEvents) {}

  start(): void {
    void this.ask();
  }

  askNow(): void {
    if (this.timer_ !== null) {
      clearTimeout(this.timer_);
      this.timer_ = null;
      void this.ask();
    }
  }

  private async ask(): Promise<void> {
    try {
      this.status = await getJson<ServerStatus>("api/v1/status");
      this.events.status(this.status);
      if (!this.hasFormats_) {
        this.events.formats(await getJson<FormatList>("api/v1/formats"));
        this.hasFormats_ = true;
      }
      // Without a broker there is no list to be had; the status says why.
      if (this.status.broker_state.connected) this.events.topics(await getJson<TopicList>("api/v1/topics"));
      this.failure = "";
      this.failures_ = 0;
    } catch (error) {
      const { message, status } = error as { message: string; status?: number };
      this.failure = status === 0 ? `the server at ${location.host} does not answer (${message})` : message;
      ++this.failures_;
    }
    const wait = Math.min(kMaxWaitMs, kEveryMs * Math.max(1, this.failures_));
    this.nextAt = Date.now() + wait;
    this.timer_ = setTimeout(() => {
      this.timer_ = null;
      void this.ask();
    }, wait);
    this.events.changed();
  }
}
