// Status bar: what is true about the stream, in one line. What is not known is a dash.
import { h, setShown, setText } from "./dom";
import { byteSize, count, lagTime } from "./format";
import type { View } from "./ring";
import type { Stream } from "./stream";

export interface StatusEvents {
  errorsToggled(): void;
  utcToggled(): void;
  themeToggled(): void;
  help(): void;
}

const kPhaseText = { idle: "no topic", connecting: "connecting", live: "live", ended: "end reached", retrying: "not connected" };

export class StatusBar {
  readonly element: HTMLElement;
  private readonly dot = h("span", { class: "dot", "aria-hidden": "true" });
  private readonly phase = h("span", { "data-status": "phase" });
  private readonly rate = h("span", { "data-status": "rate" });
  private readonly shown = h("span", { "data-status": "shown" });
  private readonly errors: HTMLButtonElement;
  private readonly dropped = h("span", { "data-status": "dropped" });
  private readonly lag = h("span", { "data-status": "lag" });
  private readonly queued = h("span", { "data-status": "queued" });
  private readonly note = h("span", { class: "status-note", "data-status": "note" });
  private readonly utc: HTMLButtonElement;

  constructor(host: HTMLElement, events: StatusEvents) {
    const plain = (text: string, title: string, action: () => void) =>
      h("button", { type: "button", class: "plain", title, onclick: action }, text);
    this.errors = plain("–", "Show error rows only (e)", () => events.errorsToggled());
    this.errors.dataset["status"] = "errors";
    this.utc = plain("local time", "Local time or UTC (u)", () => events.utcToggled());
    const theme = plain("theme", "Light, dark or as the system (t)", () => events.themeToggled());
    const help = plain("?", "Keys (?)", () => events.help());
    help.setAttribute("aria-label", "Keys");
    this.element = h("footer", { class: "status-bar", "aria-label": "Status" },
      h("span", { class: "status-phase" }, this.dot, this.phase), this.rate, this.shown, this.errors, this.dropped, this.lag, this.queued,
      this.note, h("span", { class: "status-right" }, this.utc, theme, help));
    host.append(this.element);
  }

  update(stream: Stream, view: View, paused: boolean, utc: boolean, errorsOnly: boolean): void {
    const now = Date.now();
    const phase = paused && stream.phase === "live" ? "paused" : kPhaseText[stream.phase];
    setText(this.phase, phase);
    this.dot.className = `dot ${paused ? "dot-warn" : stream.phase === "live" ? "dot-good" : stream.phase === "retrying" ? "dot-bad" : ""}`;
    const { value, stale } = stream.rate(now);
    setText(this.rate, `${count(value)} rows/s in${stale ? " (stale)" : ""}`);
    this.rate.classList.toggle("stale", stale);
    const known = stream.statsAt > 0 || stream.ring.endSeq > 0;
    setText(this.shown, known ? `${count(view.rows)} of ${count(stream.ring.endSeq)} shown` : "– shown");
    const errors = known ? stream.ring.errorRows : null;
    setText(this.errors, `${count(errors)} ${errors === 1 ? "error" : "errors"}`);
    this.errors.classList.toggle("bad", (errors ?? 0) > 0);
    this.errors.setAttribute("aria-pressed", String(errorsOnly));
    this.updateServer(stream);
    setText(this.utc, utc ? "UTC" : "local time");
  }

  private updateServer(stream: Stream): void {
    const stats = stream.stats;
    const reasons = Object.entries(stats?.dropped ?? {}).filter(([, rows]) => rows > 0);
    if (stream.skippedRows > 0) reasons.push(["page busy", stream.skippedRows]);
    const dropped = stats ? reasons.reduce((sum, [, rows]) => sum + rows, 0) : null;
    setText(this.dropped, `${count(dropped)} dropped${reasons.length > 0 ? `: ${reasons.map(([why, rows]) => `${count(rows)} ${why}`).join(", ")}` : ""}`);
    this.dropped.classList.toggle("bad", (dropped ?? 0) > 0);
    setText(this.lag, `lag ${count(stats?.lag_records)} · ${lagTime(stats?.lag_seconds)}`);
    setText(this.queued, `${byteSize(stats?.queued_bytes)} queued`);
    const event = stream.events[stream.events.length - 1];
    const text = event?.text ?? stats?.notes?.[stats.notes.length - 1] ?? "";
    setText(this.note, text);
    this.note.title = text;
    setShown(this.note, text !== "");
  }
}
