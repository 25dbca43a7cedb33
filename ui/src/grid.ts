// Grid: the rows of a View in a virtual table (regular-table). Only cells on the screen are ever turned into text.
//
// Following: after each picture the newest row is in view. A scroll upwards by the user, never one of ours, ends it.
import "regular-table";
import type { RegularTableElement } from "regular-table";

import { h } from "./dom";
import type { KnownColumn, View } from "./ring";

type Cells = { num_rows: number; num_columns: number; row_height: number; num_column_headers: number; column_headers: string[][]; data: string[][] };

export interface GridEvents {
  /** The user scrolled away from the newest row, or back to it. */
  scrolledAway(): void;
  scrolledBack(): void;
  /** A row was chosen; open: show it in the inspector. */
  chosen(seq: number, open: boolean): void;
  /** The user set the width of a column; null: back to automatic. */
  resized(name: string, width: number | null): void;
}

const kRowHeight = 24;
/** How long a new column is highlighted. */
export const kFreshMs = 4000;
const kNumeric = new Set(["int32", "int64", "uint64", "float64"]);

// Control characters would break the row or hide: their pictures are shown instead.
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, (char) =>
    String.fromCharCode(char === "\u007f" ? 0x2421 : 0x2400 + char.charCodeAt(0)));
}

export class Grid {
  readonly element: RegularTableElement;
  /** Finished pictures, for tests and for the honest count of redraws. */
  draws = 0;
  following = true;
  utc = false;
  selectedSeq = -1;
  private view_: View | null = null;
  private drawn_: View | null = null;
  private columns_: KnownColumn[] = [];
  private widths_: Record<string, number> = {};
  private lastTop_ = 0;
  private moving_ = 0;
  private appliedWidths_ = "";
  private busy_ = false;
  private again_ = false;

  constructor(host: HTMLElement, private readonly events: GridEvents) {
    this.element = document.createElement("regular-table");
    this.element.setAttribute("aria-label", "Records");
    this.element.className = "grid";
    host.append(h("div", { class: "grid-host" }, this.element));
    this.element.setDataListener((async (x0: number, y0: number, x1: number, y1: number) =>
      this.cells(x0, y0, x1, y1)) as never, { virtual_mode: "both" });
    this.element.addStyleListener(() => this.style());
    this.element.addEventListener("scroll", () => this.scrolled());
    this.element.addEventListener("click", (event) => this.clicked(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("mousedown", (event) => this.watchResize(event));
    new ResizeObserver(() => void this.refresh()).observe(this.element);
  }

  setColumns(columns: KnownColumn[], widths: Record<string, number>): void {
    const same = columns.length === this.columns_.length && columns.every((column, i) => column === this.columns_[i]) &&
      JSON.stringify(widths) === JSON.stringify(this.widths_);
    if (same) return;
    this.columns_ = columns;
    this.widths_ = { ...widths };
  }

  /** Shows a picture; resolves when it is on the screen, or at once where a draw under way will show it. */
  async show(view: View): Promise<void> {
    this.view_ = view;
    if (this.busy_) {
      this.again_ = true;
      return;
    }
    this.busy_ = true;
    try {
      do {
        this.again_ = false;
        await this.draw();
      } while (this.again_);
    } finally {
      this.busy_ = false;
    }
  }

  /** Draws the same picture again (selection, time zone, widths). */
  async refresh(): Promise<void> {
    if (this.view_) await this.show(this.view_);
  }

  /** Puts a row near the top of the screen. */
  async scrollToIndex(index: number, above = 3): Promise<void> {
    await this.refresh();
    this.setTop(Math.max(0, (index - above) * kRowHeight));
    await this.element.draw({ invalid_viewport: true });
  }

  scrollToEnd(): void {
    this.setTop(Number.MAX_SAFE_INTEGER);
  }

  /** Rows that fit on the screen. */
  get pageRows(): number {
    return Math.max(1, Math.floor((this.element.clientHeight - kRowHeight) / kRowHeight) - 1);
  }

  forget(): void {
    this.view_ = null;
    this.drawn_ = null;
    this.lastTop_ = 0;
    this.selectedSeq = -1;
    this.following = true;
    this.element.scrollTop = 0;
    this.element.scrollLeft = 0;
  }

  private async draw(): Promise<void> {
    if (!this.element.isConnected || this.element.clientHeight === 0) return;
    this.applyWidths();
    if (this.following) this.scrollToEnd();
    await this.element.draw({ invalid_viewport: true });
    // The panel grew in the draw above: its new end has to be drawn as well. Once is enough but for a first picture.
    for (let pass = 0; this.following && pass < 3; ++pass) {
      const before = this.element.scrollTop;
      this.scrollToEnd();
      if (this.element.scrollTop === before) break;
      await this.element.draw({ invalid_viewport: true });
    }
    ++this.draws;
  }

  private setTop(top: number): void {
    ++this.moving_;
    this.element.scrollTop = top;
    this.lastTop_ = this.element.scrollTop;
    // The scroll event of this move comes with the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => --this.moving_));
  }

  private scrolled(): void {
    const top = this.element.scrollTop;
    const bottom = this.element.scrollHeight - this.element.clientHeight;
    const atEnd = top >= bottom - kRowHeight * 0.75;
    // Our own moves go down only; so a place above the last one, away from the end, is the user's doing.
    if (this.following && !atEnd && top < this.lastTop_ - kRowHeight * 0.5) {
      this.following = false;
      this.events.scrolledAway();
    } else if (!this.following && atEnd && this.moving_ === 0) {
      this.events.scrolledBack();
    }
    if (this.following) this.lastTop_ = Math.max(this.lastTop_, top);
  }

  private cells(x0: number, y0: number, x1: number, y1: number): Cells {
    const view = this.view_;
    const columns = this.columns_.slice(x0, x1);
    const rows = view?.rows ?? 0;
    this.drawn_ = view;
    const data: string[][] = columns.map(() => []);
    for (let y = y0; y < Math.min(y1, rows); ++y) {
      const found = view!.find(view!.seqAt(y));
      for (let x = 0; x < columns.length; ++x) {
        const text = found?.batch.column(columns[x]!.name)?.cell(found.row, this.utc) ?? null;
        data[x]!.push(text === null ? "null" : text === "" ? "\"\"" : printable(text));
      }
    }
    return {
      num_rows: rows, num_columns: this.columns_.length, row_height: kRowHeight, num_column_headers: 1,
      column_headers: columns.map((column) => [column.name]), data,
    };
  }

  private style(): void {
    const view = this.drawn_;
    if (!view) return;
    const now = Date.now();
    for (const head of this.element.querySelectorAll<HTMLElement>("thead th")) {
      const meta = this.element.getMeta(head) as { x?: number } | undefined;
      const column = meta?.x === undefined ? undefined : this.columns_[meta.x];
      if (!column) continue;
      head.className = `${keepOwn(head)} head-${kNumeric.has(column.type) ? "number" : "text"} role-${column.role}` +
        (now - column.since < kFreshMs ? " fresh" : "");
      head.title = `${column.name} (${column.type})`;
    }
    for (const cell of this.element.querySelectorAll<HTMLElement>("tbody td")) {
      const meta = this.element.getMeta(cell) as { x?: number; y?: number } | undefined;
      if (meta?.x === undefined || meta.y === undefined || meta.y >= view.rows) continue;
      this.styleCell(cell, view, meta.x, meta.y, now);
    }
  }

  private styleCell(cell: HTMLElement, view: View, x: number, y: number, now: number): void {
    const seq = view.seqAt(y);
    const found = view.find(seq);
    const known = this.columns_[x];
    if (!found || !known) return;
    const column = found.batch.column(known.name);
    const error = found.batch.byRole("error");
    let names = keepOwn(cell);
    if (kNumeric.has(known.type)) names += " right";
    if (!column || column.isNull(found.row)) names += " null";
    else if (column.type === "string" && cell.textContent === "\"\"" && column.bytes(found.row).length === 0) names += " empty";
    const reason = error && !error.isNull(found.row) ? error.cell(found.row, this.utc)! : "";
    if (reason) names += " error-row";
    if (cell.title !== reason) cell.title = reason;
    if (seq === this.selectedSeq) names += " selected";
    if (now - known.since < kFreshMs) names += " fresh";
    cell.className = names;
    cell.dataset["seq"] = String(seq);
  }

  private clicked(event: Event): void {
    const cell = (event.target as HTMLElement).closest("td");
    if (!cell || !this.drawn_ || !getSelection()?.isCollapsed) return;
    const seq = Number(cell.dataset["seq"] ?? "-1");
    if (seq >= 0) this.events.chosen(seq, true);
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" && this.selectedSeq >= 0) {
      this.events.chosen(this.selectedSeq, true);
      event.preventDefault();
    } else if (step !== undefined && this.view_ && this.view_.rows > 0 && !event.ctrlKey && !event.metaKey) {
      this.step(step);
      event.preventDefault();
    }
  }

  /** Chooses the next or previous row and keeps it on the screen. */
  step(by: number): void {
    const view = this.view_;
    if (!view || view.rows === 0) return;
    const at = this.selectedSeq >= 0 ? view.indexOf(this.selectedSeq) : -1;
    const index = at < 0 ? view.rows - 1 : Math.min(view.rows - 1, Math.max(0, at + by));
    this.events.chosen(view.seqAt(index), false);
    const top = index * kRowHeight;
    const bodyHeight = this.element.clientHeight - kRowHeight * 2;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top > this.element.scrollTop + bodyHeight) this.element.scrollTop = top - bodyHeight;
  }

  // A press on a column's edge resizes it; its width when the button is let go is the user's.
  private watchResize(event: MouseEvent): void {
    if (!(event.target as HTMLElement).classList.contains("rt-column-resize")) return;
    const head = (event.target as HTMLElement).closest("th");
    const meta = head ? (this.element.getMeta(head) as { x?: number } | undefined) : undefined;
    const column = meta?.x === undefined ? undefined : this.columns_[meta.x];
    if (!column) return;
    document.addEventListener("mouseup", () => {
      // The table finishes its own resize in the same event, after this listener.
      setTimeout(() => {
        const width = this.element.saveColumnSizes()[meta!.x!];
        this.widths_ = { ...this.widths_, ...(width === undefined ? {} : { [column.name]: width }) };
        this.events.resized(column.name, width ?? null);
      }, 0);
    }, { once: true });
  }

  // Widths are fixed when a column is first seen: a column that breathed with its content would move under the pointer.
  private applyWidths(): void {
    const sizes: Record<number, number> = {};
    this.columns_.forEach((column, x) => {
      sizes[x] = this.widths_[column.name] ?? this.estimate(column);
    });
    const key = JSON.stringify(sizes);
    if (key === this.appliedWidths_) return;
    this.appliedWidths_ = key;
    this.element.resetAutoSize({ auto: true, override: true, indices: true, row_height: false });
    this.element.restoreColumnSizes(sizes);
  }

  private readonly estimates_ = new Map<KnownColumn, number>();

  private estimate(column: KnownColumn): number {
    const known = this.estimates_.get(column);
    if (known) return known;
    let chars = column.name.length + 1;
    const view = this.view_;
    let sampled = false;
    if (view && view.rows > 0) {
      const from = Math.max(0, view.rows - 40);
      for (let index = from; index < view.rows; ++index) {
        const found = view.find(view.seqAt(index));
        const text = found?.batch.column(column.name)?.cell(found.row, this.utc);
        if (text === null || text === undefined) continue;
        sampled = true;
        chars = Math.max(chars, text.length);
      }
    }
    const limit = column.role === "error" ? 60 : 42;
    const width = Math.round(Math.min(chars, limit) * 7.4 + 22);
    if (sampled) this.estimates_.set(column, width);
    return Math.max(56, width);
  }
}

// The table's own classes begin with rt-; ours are set anew on each draw.
function keepOwn(element: HTMLElement): string {
  return [...element.classList].filter((name) => name.startsWith("rt-")).join(" ");
}
