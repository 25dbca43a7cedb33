// Topic bar: the topic and every choice that decides what its stream holds, as controls.
import type { Address, StreamChoice } from "./address";
import type { FormatInfo, FormatList, TopicInfo } from "./api";
import { h, icon, iconButton, setShown, setText } from "./dom";
import { SchemaEditor } from "./schema_editor";

export interface TopicBarEvents {
  /** Some choices of the stream change together. */
  changed(change: Partial<StreamChoice>): void;
  pauseToggled(): void;
  cleared(): void;
  exported(kind: "csv" | "json"): void;
  linkCopied(): void;
  railToggled(): void;
}

type Position = "latest" | "earliest" | "last" | "time" | "offset";

const kPositionNames: Record<Position, string> = {
  latest: "Latest", earliest: "Earliest", last: "Last N", time: "Since", offset: "Offset",
};
const kPositionDefaults: Record<string, string> = { last: "100", time: "-15m", offset: "0" };
const kPositionHelp: Record<string, string> = {
  last: "Records per partition", time: "RFC 3339, epoch milliseconds or -15m", offset: "Offset in each partition",
};

// Options that every format has, and those of one format: [key, label, choices or null for text, placeholder, format].
const kOptions: [keyof StreamChoice, string, string[] | null, string, string][] = [
  ["until", "until", null, "end, time:T or count:N", ""],
  ["time_field", "time from field", null, "the record's own time", ""],
  ["time_unit", "unit of that field", ["auto", "s", "ms", "us", "ns", "rfc3339"], "", ""],
  ["max_depth", "nesting depth", null, "5", ""],
  ["isolation", "isolation", ["read_committed", "read_uncommitted"], "", ""],
  ["text", "text that is not UTF-8", ["utf8", "hex", "base64"], "", "plaintext"],
  ["lp_layout", "layout", ["wide", "long"], "", "lineprotocol"],
  ["lp_precision", "precision of times", ["auto", "s", "ms", "us", "ns"], "", "lineprotocol"],
  ["lp_measurements", "only measurements", null, "all; a,b or a* or /regex/", "lineprotocol"],
  ["lp_fields", "only fields", null, "all", "lineprotocol"],
  ["lp_tags", "only tags", null, "all", "lineprotocol"],
  ["framing", "framing", ["none", "confluent", "auto"], "", "schema"],
];

export function positionOf(from: string): { kind: Position; value: string } {
  const [kind, ...rest] = from.split(":");
  if (kind === "last" || kind === "time" || kind === "offset") return { kind, value: rest.join(":") };
  return { kind: kind === "earliest" ? "earliest" : "latest", value: "" };
}

export class TopicBar {
  readonly element: HTMLElement;
  private readonly name = h("h1", { class: "topic-title" });
  private readonly format: HTMLSelectElement;
  private readonly from: HTMLSelectElement;
  private readonly fromValue: HTMLInputElement;
  private readonly partitionSummary: HTMLElement;
  private readonly partitionList = h("div", { class: "menu-list partition-list", role: "group", "aria-label": "Partitions" });
  private readonly key: HTMLSelectElement;
  private readonly headers: HTMLInputElement;
  private readonly options = new Map<keyof StreamChoice, HTMLInputElement | HTMLSelectElement>();
  private readonly optionRows = new Map<keyof StreamChoice, HTMLElement>();
  private readonly optionsSummary: HTMLElement;
  private readonly pause: HTMLButtonElement;
  private readonly schema: SchemaEditor;
  private readonly controls: HTMLElement;
  private formats: FormatInfo[] = [];
  private partitionsKey = "";

  constructor(host: HTMLElement, private readonly events: TopicBarEvents) {
    this.format = h("select", { "aria-label": "Format", title: "Format of the values", "data-control": "format",
      onchange: () => this.events.changed({ format: this.format.value, schema: "", message: "", framing: "" }) });
    this.from = h("select", { "aria-label": "Start", title: "Where to start", "data-control": "from", onchange: () => this.startChosen() },
      ...(Object.keys(kPositionNames) as Position[]).map((kind) => h("option", { value: kind }, kPositionNames[kind])));
    this.fromValue = h("input", { type: "text", class: "short", "data-control": "from-value", "aria-label": "Start value",
      onchange: () => this.events.changed({ from: `${this.from.value}:${this.fromValue.value.trim()}` }) });
    this.partitionSummary = h("summary", { class: "button", "data-control": "partitions" }, "all partitions");
    this.key = h("select", { "aria-label": "Keys", title: "How keys are shown", "data-control": "key",
      onchange: () => this.events.changed({ key: this.key.value === "none" ? "" : this.key.value }) });
    this.headers = h("input", { type: "checkbox", "data-control": "headers",
      onchange: () => this.events.changed({ headers: this.headers.checked ? "all" : "" }) });
    this.schema = new SchemaEditor({ applied: (schema, message) => this.events.changed({ schema, message }) });
    this.optionsSummary = h("summary", { class: "button", "data-control": "options", title: "More options" }, icon("options"), "Options");
    this.pause = iconButton("pause", "Pause", "space", () => this.events.pauseToggled());
    this.pause.dataset["action"] = "pause";
    this.controls = h("div", { class: "controls" }, this.format, h("span", { class: "joined" }, this.from, this.fromValue),
      h("details", { class: "menu" }, this.partitionSummary, h("div", { class: "menu-body" }, this.partitionList)), this.key,
      h("label", { class: "check" }, this.headers, "headers"), this.optionMenu());
    const tools = h("div", { class: "tools" }, this.pause, iconButton("clear", "Clear the rows", "c", () => this.events.cleared()),
      this.exportMenu(), iconButton("link", "Copy a link to this view", "l", () => this.events.linkCopied()));
    const drawer = iconButton("rail", "Topics", "[", () => this.events.railToggled());
    drawer.classList.add("rail-button");
    this.element = h("header", { class: "topic-bar" }, drawer, this.name, this.controls, tools);
    host.append(this.element);
  }

  setFormats(list: FormatList): void {
    this.formats = list.formats;
    this.format.replaceChildren(h("option", { value: "", title: "JSON; plaintext where nothing is valid JSON" }, "auto (json)"), ...list.formats.map((format) => h("option", { value: format.name, title: format.help }, format.name)));
    const keys = list.key_formats.map((key) => (typeof key === "string" ? key : key.name));
    this.key.replaceChildren(...keys.map((key) => h("option", { value: key }, key === "none" ? "no key" : `key: ${key}`)));
  }

  /** Which controls are shown, and what they say, follows from the address alone. */
  update(address: Address, topic: TopicInfo | undefined, partitions: number[] | null): void {
    setText(this.name, address.topic || "Kafscope");
    setShown(this.controls, address.topic !== "");
    choose(this.format, address.format);
    const { kind, value } = positionOf(address.from);
    this.from.value = kind;
    setShown(this.fromValue, kind in kPositionDefaults);
    if (document.activeElement !== this.fromValue) this.fromValue.value = value;
    this.fromValue.title = kPositionHelp[kind] ?? "";
    choose(this.key, address.key || "none");
    this.headers.checked = address.headers !== "";
    this.updatePartitions(address.partitions, topic, partitions);
    this.updateOptions(address);
  }

  setPaused(paused: boolean): void {
    const label = paused ? "Resume" : "Pause";
    if (this.pause.getAttribute("aria-label") === label) return;
    this.pause.setAttribute("aria-label", label);
    this.pause.title = `${label} (space)`;
    this.pause.replaceChildren(icon(paused ? "play" : "pause"));
  }

  private startChosen(): void {
    const kind = this.from.value;
    const fallback = kPositionDefaults[kind];
    this.events.changed({ from: kind === "latest" ? "" : fallback === undefined ? kind : `${kind}:${fallback}` });
  }

  private updatePartitions(chosen: string, topic: TopicInfo | undefined, ids: number[] | null): void {
    const all = ids ?? Array.from({ length: topic?.partitions ?? 0 }, (_, id) => id);
    const wanted = new Set(chosen === "" ? [] : chosen.split(",").map(Number));
    setText(this.partitionSummary, chosen === ""
      ? (all.length === 0 ? "all partitions" : all.length === 1 ? "1 partition" : `all ${all.length} partitions`)
      : wanted.size === 1 ? `partition ${chosen}` : `${wanted.size} partitions`);
    const key = JSON.stringify([all, chosen]);
    if (key === this.partitionsKey) return;
    this.partitionsKey = key;
    const pick = (ids: number[]) => this.events.changed({ partitions: ids.length === all.length && all.length > 1 ? "" : ids.join(",") });
    this.partitionList.replaceChildren(
      h("button", { type: "button", class: "button", "aria-pressed": String(chosen === ""),
        onclick: () => this.events.changed({ partitions: "" }) }, "All"),
      ...all.map((id) => h("label", { class: "check" }, h("input", { type: "checkbox", checked: wanted.has(id), "data-partition": id,
        onchange: (event: Event) => {
          const on = (event.target as HTMLInputElement).checked;
          pick(all.filter((other) => (other === id ? on : wanted.has(other))));
        } }), String(id))));
  }

  private optionMenu(): HTMLElement {
    const rows = kOptions.map(([key, label, choices, placeholder]) => {
      const control = choices
        ? h("select", { "data-control": key, onchange: () => this.optionChosen(key) }, h("option", { value: "" }, "default"),
          ...choices.map((choice) => h("option", { value: choice }, choice)))
        : h("input", { type: "text", placeholder, "data-control": key, onchange: () => this.optionChosen(key) });
      this.options.set(key, control);
      const row = h("label", { class: "field" }, label, control);
      this.optionRows.set(key, row);
      return row;
    });
    return h("details", { class: "menu menu-right" }, this.optionsSummary,
      h("div", { class: "menu-body options" }, ...rows, this.schema.element));
  }

  private optionChosen(key: keyof StreamChoice): void {
    this.events.changed({ [key]: this.options.get(key)!.value.trim() });
  }

  private updateOptions(address: Address): void {
    const name = address.format || "json";
    const format = this.formats.find((info) => info.name === name);
    let set = address.schema ? 1 : 0;
    for (const [key, , , , only] of kOptions) {
      const control = this.options.get(key)!;
      if (document.activeElement !== control) control.value = address[key];
      if (address[key]) ++set;
      const shown = only === "" || only === name || (only === "schema" && (format?.schema ?? false)) ||
        (only === "lineprotocol" && /^line/.test(name));
      setShown(this.optionRows.get(key)!, shown);
    }
    setShown(this.schema.element, format?.schema ?? false);
    if (format?.schema) this.schema.set(name, address.schema, address.message);
    this.optionsSummary.lastChild!.textContent = set > 0 ? `Options (${set})` : "Options";
  }

  private exportMenu(): HTMLElement {
    const pick = (kind: "csv" | "json") => (event: Event) => {
      (event.target as HTMLElement).closest("details")!.open = false;
      this.events.exported(kind);
    };
    return h("details", { class: "menu menu-right" },
      h("summary", { class: "icon-button", "aria-label": "Export the rows", title: "Export the rows", "data-action": "export" }, icon("export")),
      h("div", { class: "menu-body" },
        h("button", { type: "button", class: "menu-item", "data-export": "csv", onclick: pick("csv") }, "CSV, exact values"),
        h("button", { type: "button", class: "menu-item", "data-export": "json", onclick: pick("json") }, "JSON, a record a line")));
  }
}

// A value from a link may not be among the choices: it is added, so that the control tells the truth.
function choose(select: HTMLSelectElement, value: string): void {
  if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, value));
  select.value = value;
}
