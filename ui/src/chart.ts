// Chart: time series of a View (uPlot). Lines are drawn from minimum and maximum per pixel; the values in the legend are
// read from the rows themselves and are exact.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

import { h, setShown, setText } from "./dom";
import { type ChartData, downsample, kMaxSeries, timeRange } from "./downsample";
import { count, timeText } from "./format";
import type { KnownColumn, View } from "./ring";

export interface ChartEvents {
  fieldsChosen(fields: string[]): void;
  splitChosen(split: string): void;
  picked(seq: number): void;
}

const kAxisFont = "12px system-ui, sans-serif";

// [smallest step in ms, format, and what is added where the year, month, day, … changes]: 24 hours, ISO dates.
const kTimeTicks = [
  [86_400_000 * 28, "{YYYY}-{MM}", null, null, null, null, null, null, 1],
  [86_400_000, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
  [60_000, "{HH}:{mm}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1_000, "{HH}:{mm}:{ss}", "\n{YYYY}-{MM}-{DD}", null, "\n{MM}-{DD}", null, null, null, 1],
  [1, "{ss}.{fff}", "\n{YYYY}-{MM}-{DD} {HH}:{mm}", null, "\n{MM}-{DD} {HH}:{mm}", null, "\n{HH}:{mm}", null, 1],
];

/** Columns that can be drawn. */
export function drawable(columns: readonly KnownColumn[]): KnownColumn[] {
  return columns.filter((column) => column.role !== "partition" && column.role !== "offset" &&
    (column.type === "float64" || column.type === "int64" || column.type === "uint64" || column.type === "int32" ||
      column.type === "bool"));
}

/** Columns whose values can name series. */
export function splittable(columns: readonly KnownColumn[]): KnownColumn[] {
  return columns.filter((column) => column.role === "partition" || (column.role !== "error" &&
    (column.type === "string" || column.type === "bool" || column.type === "int32" || column.type === "int64")));
}

/** What a newcomer sees first: the first measured value, split by the first text column with a few distinct values. */
export function guessFields(columns: readonly KnownColumn[], view: View): { fields: string[]; split: string } {
  const values = drawable(columns).filter((column) => column.role === "value");
  const first = values.find((column) => column.type === "float64") ?? values.find((column) => column.type !== "bool") ?? values[0];
  if (!first) return { fields: [], split: "" };
  const last = view.batches.slice(-50);
  for (const column of columns) {
    if (column.role !== "value" || column.type !== "string") continue;
    const seen = new Set<string>();
    for (const batch of last) {
      const cells = batch.column(column.name);
      for (let row = 0; cells && row < Math.min(batch.rows, 200) && seen.size <= kMaxSeries; ++row) {
        if (!cells.isNull(row)) seen.add(cells.cell(row, true)!);
      }
    }
    if (seen.size >= 2 && seen.size <= kMaxSeries) return { fields: [first.name], split: column.name };
  }
  return { fields: [first.name], split: "" };
}

export class Chart {
  readonly element: HTMLElement;
  draws = 0;
  /** Points in the last picture, before reduction. */
  points = 0;
  utc = false;
  private readonly plotHost: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly fieldList: HTMLElement;
  private readonly fieldButton: HTMLElement;
  private readonly splitSelect: HTMLSelectElement;
  private readonly resetButton: HTMLButtonElement;
  private readonly noteText: HTMLElement;
  private plot: uPlot | null = null;
  private shape = "";
  private data: ChartData | null = null;
  private view: View | null = null;
  private zoom: { min: number; max: number } | null = null;
  private controlsKey = "";
  private legendKey = "";

  constructor(host: HTMLElement, private readonly events: ChartEvents) {
    this.fieldList = h("div", { class: "menu-list", role: "group", "aria-label": "Fields to draw" });
    this.fieldButton = h("summary", { class: "button", title: "Which fields are drawn" }, "Fields");
    this.splitSelect = h("select", {
      "aria-label": "Split by", title: "One line for each value of this column",
      onchange: () => this.events.splitChosen(this.splitSelect.value),
    });
    this.resetButton = h("button", { type: "button", class: "button", title: "Show the whole range (double click)",
      onclick: () => this.setZoom(null) }, "Whole range");
    this.noteText = h("span", { class: "soft" });
    this.plotHost = h("div", { class: "plot", role: "img", "aria-label": "Time series" });
    this.legend = h("div", { class: "legend", "aria-label": "Series" });
    this.element = h("div", { class: "chart" },
      h("div", { class: "chart-bar" },
        h("details", { class: "menu", "data-menu": "fields" }, this.fieldButton, h("div", { class: "menu-body" }, this.fieldList)),
        h("label", { class: "inline" }, "split by ", this.splitSelect), this.resetButton, this.noteText),
      this.plotHost, this.legend);
    host.append(this.element);
    new ResizeObserver(() => this.redraw()).observe(this.plotHost);
    this.setControls([], [], "");
  }

  get isZoomed(): boolean {
    return this.zoom !== null;
  }

  get seriesCount(): number {
    return this.data?.series.length ?? 0;
  }

  setControls(columns: readonly KnownColumn[], fields: readonly string[], split: string): void {
    const choices = drawable(columns);
    const splits = splittable(columns);
    const key = JSON.stringify([choices.map((c) => c.name), splits.map((c) => c.name), fields, split]);
    if (key === this.controlsKey) return;
    this.controlsKey = key;
    setText(this.fieldButton, fields.length === 0 ? "Fields" : fields.length === 1 ? fields[0]! : `${fields.length} fields`);
    this.fieldList.replaceChildren(...choices.map((column) => h("label", { class: "check" },
      h("input", { type: "checkbox", checked: fields.includes(column.name), onchange: (event: Event) => {
        const on = (event.target as HTMLInputElement).checked;
        const now = fields.filter((name) => name !== column.name);
        this.events.fieldsChosen(on ? [...now, column.name] : now);
      } }), column.name)));
    if (choices.length === 0) this.fieldList.append(h("p", { class: "soft" }, "No numeric column yet."));
    this.splitSelect.replaceChildren(h("option", { value: "" }, "nothing"),
      ...splits.map((column) => h("option", { value: column.name }, column.name)));
    if (split && !splits.some((column) => column.name === split)) {
      this.splitSelect.append(h("option", { value: split }, split));
    }
    this.splitSelect.value = split;
  }

  forget(): void {
    this.zoom = null;
    this.data = null;
    this.view = null;
    this.destroy();
    this.legend.replaceChildren();
    this.legendKey = "";
  }

  /** A theme or time zone change: colours and labels are read anew. */
  restyle(): void {
    this.destroy();
    this.redraw();
  }

  show(view: View, fields: readonly string[], split: string): void {
    this.view = view;
    this.fields = fields;
    this.split = split;
    this.redraw();
  }

  private fields: readonly string[] = [];
  private split = "";

  private redraw(): void {
    const width = this.plotHost.clientWidth;
    const height = this.plotHost.clientHeight;
    setShown(this.resetButton, this.zoom !== null);
    if (!this.view || width < 40 || height < 40) return;
    const whole = timeRange(this.view);
    if (!whole || this.fields.length === 0) {
      this.points = 0;
      this.destroy();
      this.legend.replaceChildren();
      this.legendKey = "";
      setText(this.noteText, this.fields.length === 0 ? "Choose a numeric field to draw." : "No row with a time yet.");
      return;
    }
    const range = this.zoom ?? (whole.max > whole.min ? whole : { min: whole.min - 500, max: whole.max + 500 });
    this.data = downsample(this.view, this.fields, this.split, range, width - 70);
    this.points = this.data.points;
    const more = this.data.more > 0 ? `, the first ${kMaxSeries} of ${kMaxSeries + this.data.more} series` : "";
    setText(this.noteText, `${count(this.data.points)} points${more}`);
    const shape = JSON.stringify([this.data.series.map((series) => series.label), this.utc]);
    if (!this.plot || shape !== this.shape) this.create(shape, width, height);
    const plot = this.plot!;
    if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
    plot.setData([this.data.x, ...this.data.series.map((series) => series.y)] as unknown as uPlot.AlignedData, false);
    plot.setScale("x", range);
    this.updateLegend();
    ++this.draws;
  }

  private create(shape: string, width: number, height: number): void {
    this.destroy();
    this.shape = shape;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--ink-soft"), grid: { stroke: colour("--line"), width: 1 }, font: kAxisFont,
      ticks: { stroke: colour("--line"), width: 1 } };
    const sparse = (): boolean => this.points < width / 2;
    this.plot = new uPlot({
      width, height, ms: 1, legend: { show: false },
      ...(this.utc ? { tzDate: (ms: number) => uPlot.tzDate(new Date(ms), "Etc/UTC") } : {}),
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
      scales: { x: { time: true, auto: false }, y: { auto: true } },
      axes: [{ ...axis, values: kTimeTicks as never }, { ...axis, size: 60 }],
      series: [{}, ...this.data!.series.map((series, index) => ({
        label: series.label, stroke: colour(`--series-${(index % kMaxSeries) + 1}`), width: 1.5, spanGaps: true,
        points: { show: sparse, size: 5 },
      }))],
      hooks: {
        setSelect: [(plot: uPlot) => {
          if (plot.select.width < 4) return;
          const min = plot.posToVal(plot.select.left, "x");
          const max = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          this.setZoom({ min, max });
        }],
        setCursor: [() => this.updateLegend()],
      },
    }, [[0], ...this.data!.series.map(() => [null])] as unknown as uPlot.AlignedData, this.plotHost);
    this.plot.over.addEventListener("dblclick", () => this.setZoom(null));
    this.plot.over.addEventListener("click", () => this.pickAtCursor());
  }

  private setZoom(zoom: { min: number; max: number } | null): void {
    this.zoom = zoom && zoom.max > zoom.min ? zoom : null;
    this.redraw();
  }

  // The row of the point of a series that is nearest to the cursor, or its newest.
  private rowAt(series: ChartData["series"][number], index: number | null): number {
    const last = series.rows.length - 1;
    if (index === null) {
      for (let at = last; at >= 0; --at) if (series.rows[at]! >= 0) return series.rows[at]!;
      return -1;
    }
    for (let away = 0; away <= 40; ++away) {
      if (index - away >= 0 && series.rows[index - away]! >= 0) return series.rows[index - away]!;
      if (index + away <= last && series.rows[index + away]! >= 0) return series.rows[index + away]!;
    }
    return -1;
  }

  private updateLegend(): void {
    const data = this.data;
    const view = this.view;
    if (!data || !view || !this.plot) return;
    const index = this.plot.cursor.idx ?? null;
    const key = JSON.stringify(data.series.map((series) => series.label));
    if (key !== this.legendKey) {
      this.legendKey = key;
      this.legend.replaceChildren(...data.series.map((series, i) => h("span", { class: "legend-item" },
        h("span", { class: `swatch swatch-${(i % kMaxSeries) + 1}` }), h("span", { class: "legend-name" }, series.label),
        h("span", { class: "legend-value" }))), h("span", { class: "legend-time soft" }));
    }
    const values = this.legend.querySelectorAll(".legend-value");
    let time = "";
    data.series.forEach((series, i) => {
      const row = this.rowAt(series, index);
      const found = row >= 0 ? view.find(row) : null;
      setText(values[i]!, found?.batch.column(series.spec.field)?.text(found.row, this.utc) ?? "–");
      const at = found?.batch.byRole("time");
      if (index !== null && found && at && !at.isNull(found.row) && !time) time = timeText(at.bigint(found.row), this.utc);
    });
    setText(this.legend.querySelector(".legend-time")!, time || (index === null ? "newest values" : ""));
  }

  private pickAtCursor(): void {
    const index = this.plot?.cursor.idx ?? null;
    if (index === null || !this.data) return;
    for (const series of this.data.series) {
      const row = this.rowAt(series, index);
      if (row >= 0) {
        this.events.picked(row);
        return;
      }
    }
  }

  private destroy(): void {
    this.plot?.destroy();
    this.plot = null;
    this.shape = "";
  }
}
