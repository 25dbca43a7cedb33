// Inspector: one record, whole and exact. Keeps the record's batch, so that it stays when the ring moves on.
import type { Batch, Column } from "./batch";
import { h, icon, iconButton, setText } from "./dom";
import { count, hexDump } from "./format";

export interface InspectorEvents {
  closed(): void;
  stepped(by: -1 | 1): void;
  linkTo(partition: number, offset: bigint): void;
}

type Pane = "tree" | "text" | "hex";

const kEncoder = new TextEncoder();

export interface Shown {
  batch: Batch;
  row: number;
  seq: number;
  /** Place in the picture and number of its rows, for "3 / 1,204". */
  index: number;
  total: number;
  utc: boolean;
  partition: number;
}

interface Branch {
  column: Column | null;
  children: Map<string, Branch>;
}

export class Inspector {
  readonly element: HTMLElement;
  private readonly place = h("span", { class: "inspector-place" });
  private readonly body = h("div", { class: "inspector-body", tabindex: "0" });
  private readonly tabs: HTMLButtonElement[];
  private pane: Pane = "tree";
  private shown: Shown | null = null;

  constructor(host: HTMLElement, private readonly events: InspectorEvents) {
    this.tabs = (["tree", "text", "hex"] as const).map((pane) => h("button", {
      type: "button", role: "tab", class: "tab", "data-pane": pane, onclick: () => this.setPane(pane),
    }, { tree: "Tree", text: "Text", hex: "Hex" }[pane]));
    this.element = h("aside", { class: "inspector", "aria-label": "Record", hidden: true },
      h("div", { class: "inspector-head" }, this.place,
        iconButton("up", "Previous record", "k", () => this.events.stepped(-1)),
        iconButton("down", "Next record", "j", () => this.events.stepped(1)),
        iconButton("link", "Copy a link to this record", "", () => this.link()),
        iconButton("close", "Close the record", "Esc", () => this.events.closed())),
      h("div", { class: "tabs", role: "tablist", "aria-label": "Form of the record" }, ...this.tabs), this.body);
    host.append(this.element);
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  close(): void {
    this.element.hidden = true;
    this.shown = null;
  }

  show(shown: Shown): void {
    this.shown = shown;
    this.element.hidden = false;
    this.element.dataset["seq"] = String(shown.seq);
    this.render();
  }

  private setPane(pane: Pane): void {
    this.pane = pane;
    this.render();
  }

  private link(): void {
    const offset = this.shown?.batch.byRole("offset");
    if (this.shown && offset) this.events.linkTo(this.shown.partition, offset.bigint(this.shown.row));
  }

  private render(): void {
    const shown = this.shown;
    if (!shown) return;
    setText(this.place, shown.index >= 0 ? `${count(shown.index + 1)} / ${count(shown.total)}` : "no longer in the picture");
    for (const tab of this.tabs) tab.setAttribute("aria-selected", String(tab.dataset["pane"] === this.pane));
    const { batch, row, utc } = shown;
    const error = batch.byRole("error");
    const parts: Node[] = [];
    if (error && !error.isNull(row)) {
      parts.push(h("p", { class: "inspector-error" }, icon("warn"), error.text(row, utc)!));
    }
    if (this.pane === "tree") parts.push(this.facts(shown), this.tree(shown));
    else if (this.pane === "text") parts.push(h("pre", { class: "record-text" }, recordText(batch, row)));
    else parts.push(...this.hex(shown));
    this.body.replaceChildren(...parts);
  }

  private facts({ batch, row, utc, partition }: Shown): HTMLElement {
    const list = h("dl", { class: "facts" });
    const add = (name: string, text: string | null, empty = "null") => {
      list.append(h("dt", {}, name), h("dd", text === null ? { class: "null" } : {}, text ?? empty));
    };
    add("partition", String(partition));
    for (const column of batch.columns) {
      if (column.role === "partition" || column.role === "value" || column.role === "error") continue;
      if (column.role === "header" && column.name === "headers") {
        list.append(h("dt", {}, "headers"), h("dd", {}, headerList(column.text(row, utc))));
      } else {
        add(column.name, column.text(row, utc));
      }
    }
    return list;
  }

  private tree({ batch, row, utc }: Shown): HTMLElement {
    const root: Branch = { column: null, children: new Map() };
    for (const column of batch.columns) {
      if (column.role !== "value") continue;
      let at = root;
      for (const part of column.name.split(".")) {
        if (!at.children.has(part)) at.children.set(part, { column: null, children: new Map() });
        at = at.children.get(part)!;
      }
      at.column = column;
    }
    const draw = (branch: Branch): HTMLElement => h("ul", { class: "tree" }, ...[...branch.children].map(([name, child]) => {
      const column = child.column;
      const text = column?.text(row, utc) ?? null;
      const value = column && h("span", { class: text === null ? "null" : `value type-${column.type}` },
        text === null ? "null" : column.type === "string" && !isJson(text) ? JSON.stringify(text) : text);
      const line = h("span", { class: "tree-line" }, h("span", { class: "tree-name" }, name), value);
      return child.children.size === 0 ? h("li", {}, line) : h("li", {}, h("details", { open: true }, h("summary", {}, line), draw(child)));
    }));
    return draw(root);
  }

  private hex({ batch, row, utc }: Shown): Node[] {
    const parts: Node[] = [];
    for (const column of batch.columns) {
      if ((column.type !== "string" && column.type !== "bytes") || column.isNull(row)) continue;
      const bytes = column.type === "bytes" ? column.bytes(row) : kEncoder.encode(column.text(row, utc)!);
      parts.push(h("h3", {}, `${column.name} · ${count(bytes.length)} B`), h("pre", { class: "hex" }, hexDump(bytes)));
    }
    return parts.length > 0 ? parts : [h("p", { class: "soft" }, "This record has no text and no bytes.")];
  }
}

// Arrays, and what is nested too deeply, come as JSON text: as such it is read best.
function isJson(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function headerList(text: string | null): Node {
  if (text === null) return h("span", { class: "null" }, "null");
  try {
    const pairs = JSON.parse(text) as [string, string | null][];
    if (pairs.length === 0) return h("span", { class: "soft" }, "none");
    return h("ul", { class: "headers" }, ...pairs.map(([name, value]) => h("li", {}, h("span", { class: "tree-name" }, name),
      value === null ? h("span", { class: "null" }, "null") : value)));
  } catch {
    return h("span", {}, text);
  }
}

/** The record as one JSON object, a member a line, exact. */
export function recordText(batch: Batch, row: number): string {
  const members = batch.columns.map((column) => `  ${JSON.stringify(column.name)}: ${column.json(row)}`);
  return `{\n${members.join(",\n")}\n}`;
}
