// Rail: the broker, the search and the topics with their rates.
import type { ServerStatus, TopicInfo } from "./api";
import { h, icon, iconButton, recall, remember, setShown, setText } from "./dom";
import { count, shortRate } from "./format";

export interface RailEvents {
  chosen(topic: string): void;
  folded(): void;
}

const kSamples = 24;

interface Row {
  element: HTMLElement;
  button: HTMLElement;
  star: HTMLElement;
  rate: HTMLElement;
  detail: HTMLElement;
  line: SVGPolylineElement;
}

export class Rail {
  readonly element: HTMLElement;
  private readonly broker = h("div", { class: "broker" });
  private readonly dot = h("span", { class: "dot", "aria-hidden": "true" });
  private readonly brokerText = h("span", { class: "broker-text" }, "–");
  private readonly search: HTMLInputElement;
  private readonly list = h("ul", { class: "topics", "aria-label": "Topics" });
  private readonly empty = h("p", { class: "soft rail-note" });
  private readonly internal: HTMLInputElement;
  private readonly rows = new Map<string, Row>();
  private readonly history = new Map<string, number[]>();
  private readonly stars: Set<string>;
  private topics: TopicInfo[] | null = null;
  private current = "";

  constructor(host: HTMLElement, private readonly events: RailEvents) {
    this.stars = new Set(JSON.parse(recall("stars") ?? "[]") as string[]);
    this.search = h("input", { type: "search", class: "search", placeholder: "search topics", "aria-label": "Search topics",
      title: "Search topics (/)", oninput: () => this.layOut() });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.firstMatch();
      if (event.key === "Escape") this.search.blur();
    });
    this.internal = h("input", { type: "checkbox", onchange: () => this.layOut() });
    this.broker.append(this.dot, this.brokerText, iconButton("rail", "Fold the topic list", "[", () => this.events.folded()));
    this.element = h("nav", { class: "rail", "aria-label": "Topics" }, this.broker,
      h("div", { class: "search-box" }, icon("search"), this.search), this.list, this.empty,
      h("label", { class: "check rail-foot" }, this.internal, "show internal"));
    host.append(this.element);
  }

  focusSearch(): void {
    this.search.focus();
    this.search.select();
  }

  setStatus(status: ServerStatus | null, unreachable: boolean): void {
    const connected = status?.broker_state.connected ?? false;
    this.dot.className = `dot ${unreachable || (status && !connected) ? "dot-bad" : connected ? "dot-good" : ""}`;
    setText(this.brokerText, status ? status.brokers : unreachable ? "server not reached" : "–");
    this.broker.title = status ? (connected ? "connected" : status.broker_state.reason ?? "not connected") : "";
  }

  setTopics(topics: TopicInfo[]): void {
    this.topics = topics;
    for (const topic of topics) {
      const samples = this.history.get(topic.name) ?? [];
      if (topic.rate !== null) samples.push(topic.rate);
      if (samples.length > kSamples) samples.shift();
      this.history.set(topic.name, samples);
    }
    this.layOut();
  }

  setCurrent(topic: string): void {
    this.current = topic;
    this.layOut();
  }

  private matches(): TopicInfo[] {
    const needle = this.search.value.trim().toLowerCase();
    const shown = (this.topics ?? []).filter((topic) =>
      (!topic.internal || this.internal.checked || topic.name === this.current) && topic.name.toLowerCase().includes(needle));
    return shown.sort((a, b) => Number(this.stars.has(b.name)) - Number(this.stars.has(a.name)) || (a.name < b.name ? -1 : 1));
  }

  private firstMatch(): void {
    const first = this.matches()[0];
    if (first) this.events.chosen(first.name);
  }

  private layOut(): void {
    if (!this.topics) return;
    const shown = this.matches();
    const wanted = shown.map((topic) => {
      const row = this.rows.get(topic.name) ?? this.make(topic.name);
      this.fill(row, topic);
      return row.element;
    });
    // Rows stay in place while their order is the same: nothing moves under the pointer.
    if (wanted.length !== this.list.children.length || wanted.some((element, i) => this.list.children[i] !== element)) {
      this.list.replaceChildren(...wanted);
    }
    setShown(this.empty, shown.length === 0);
    setText(this.empty, this.topics.length === 0 ? "This broker has no topic." : "No topic matches.");
  }

  private make(name: string): Row {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("viewBox", `0 0 ${kSamples} 14`);
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("class", "spark");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(ns, "polyline");
    svg.append(line);
    const rate = h("span", { class: "topic-rate" }, "–");
    const detail = h("span", { class: "topic-detail" });
    const button = h("button", { type: "button", class: "topic", "data-topic": name, onclick: () => this.events.chosen(name) },
      h("span", { class: "topic-name" }, name), svg, rate, detail);
    const star = h("button", { type: "button", class: "star", "aria-label": `Star ${name}`, title: "Keep at the top",
      onclick: () => this.toggleStar(name) }, icon("star"));
    const element = h("li", {}, star, button);
    const row = { element, button, star, rate, detail, line };
    this.rows.set(name, row);
    return row;
  }

  private fill(row: Row, topic: TopicInfo): void {
    row.button.setAttribute("aria-current", topic.name === this.current ? "page" : "false");
    row.star.setAttribute("aria-pressed", String(this.stars.has(topic.name)));
    setText(row.rate, shortRate(topic.rate));
    row.rate.title = topic.rate === null ? "rate not known yet" : `${count(topic.rate)} records/s`;
    const partitions = `${count(topic.partitions)} ${topic.partitions === 1 ? "partition" : "partitions"}`;
    setText(row.detail, topic.error ? topic.error : `${partitions} · ${count(topic.records)} records`);
    row.detail.classList.toggle("bad", Boolean(topic.error));
    const samples = this.history.get(topic.name) ?? [];
    const top = Math.max(1, ...samples);
    const from = kSamples - samples.length;
    row.line.setAttribute("points", samples.map((rate, i) => `${from + i},${(13 - (rate / top) * 12).toFixed(1)}`).join(" "));
  }

  private toggleStar(name: string): void {
    if (!this.stars.delete(name)) this.stars.add(name);
    remember("stars", JSON.stringify([...this.stars]));
    this.layOut();
  }
}
