// Columns menu: which columns the table shows, and in which order.
import { h, iconButton } from "./dom";
import { type ColumnPrefs, emptyPrefs, moveColumn, ordered } from "./prefs";
import type { KnownColumn } from "./ring";

export class ColumnsMenu {
  readonly element: HTMLDetailsElement;
  private readonly list = h("div", { class: "menu-list", role: "group", "aria-label": "Columns" });
  private key = "";
  private columns: readonly KnownColumn[] = [];
  private prefs: ColumnPrefs = emptyPrefs();

  constructor(private readonly changed: (prefs: ColumnPrefs) => void) {
    this.element = h("details", { class: "menu menu-right" },
      h("summary", { class: "button", title: "Which columns, in which order", "data-control": "columns" }, "Columns"),
      h("div", { class: "menu-body" }, this.list));
  }

  update(columns: readonly KnownColumn[], prefs: ColumnPrefs): void {
    const key = JSON.stringify([columns.map((column) => column.name), prefs.order, prefs.hidden]);
    if (key === this.key) return;
    this.key = key;
    this.columns = columns;
    this.prefs = prefs;
    const hidden = new Set(prefs.hidden);
    this.list.replaceChildren(
      h("button", { type: "button", class: "button", onclick: () => this.changed(emptyPrefs()) }, "Reset"),
      ...ordered(columns, prefs).map((column) => h("div", { class: "column-row" },
        h("label", { class: "check" }, h("input", { type: "checkbox", checked: !hidden.has(column.name), "data-column": column.name,
          onchange: (event: Event) => {
            const on = (event.target as HTMLInputElement).checked;
            const others = this.prefs.hidden.filter((name) => name !== column.name);
            this.changed({ ...this.prefs, hidden: on ? others : [...others, column.name] });
          } }), column.name),
        iconButton("up", `Move ${column.name} left`, "", () => this.move(column.name, -1)),
        iconButton("down", `Move ${column.name} right`, "", () => this.move(column.name, 1)))));
  }

  private move(name: string, by: -1 | 1): void {
    this.changed(moveColumn(this.columns, this.prefs, name, by));
  }
}
