// Points for the chart: minimum and maximum of each series in each pixel, so that no spike is lost.
//
// Every pixel gets two x positions; a series puts its earlier extreme at the first and its later one at the second.
// `rows` remembers the row behind each point: the exact value at the cursor is read there, not from the pixels.
import type { View } from "./ring";

export interface SeriesSpec {
  field: string;
  /** Value of the split column, or null where nothing is split. */
  split: string | null;
}

export interface ChartData {
  /** Milliseconds; two per pixel. */
  x: Float64Array;
  series: { spec: SeriesSpec; label: string; y: (number | null)[]; rows: Float64Array; points: number }[];
  min: number;
  max: number;
  /** Split values that were left out because there are too many. */
  more: number;
  points: number;
}

export const kMaxSeries = 12;

interface Extremes {
  spec: SeriesSpec;
  low: Float64Array;
  high: Float64Array;
  lowRow: Float64Array;
  highRow: Float64Array;
  points: number;
}

/** Range of the time column over the view, in milliseconds; null if there is no point. */
export function timeRange(view: View): { min: number; max: number } | null {
  let min = Infinity;
  let max = -Infinity;
  for (const batch of view.batches) {
    const time = batch.byRole("time");
    if (!time || time.type !== "time") continue;
    const values = time.numbers(batch.rows);
    const from = Math.max(0, view.firstSeq - batch.firstSeq);
    for (let row = from; row < batch.rows; ++row) {
      const value = values[row]!;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  }
  return min <= max ? { min, max } : null;
}

// The split column's text per row, once per batch: decoding it anew on each redraw would dominate.
const splitTexts = new WeakMap<object, { name: string; texts: string[] }>();

function splitOf(batch: View["batches"][number], name: string): string[] {
  const known = splitTexts.get(batch);
  if (known && known.name === name) return known.texts;
  const column = batch.column(name);
  const texts: string[] = new Array<string>(batch.rows);
  for (let row = 0; row < batch.rows; ++row) texts[row] = column?.cell(row, true) ?? "null";
  splitTexts.set(batch, { name, texts });
  return texts;
}

export function downsample(
  view: View,
  fields: readonly string[],
  split: string,
  range: { min: number; max: number },
  pixels: number,
): ChartData {
  const width = Math.max(1, Math.floor(pixels));
  const span = range.max - range.min;
  const scale = span > 0 ? (width - 1) / span : 0;
  const found = new Map<string, Extremes>();
  const refused = new Set<string>();
  let points = 0;

  const extremesFor = (field: string, value: string | null): Extremes | null => {
    const key = value === null ? field : `${field}\u0000${value}`;
    const known = found.get(key);
    if (known) return known;
    if (found.size >= kMaxSeries) {
      refused.add(key);
      return null;
    }
    const fresh: Extremes = {
      spec: { field, split: value },
      low: new Float64Array(width).fill(Infinity),
      high: new Float64Array(width).fill(-Infinity),
      lowRow: new Float64Array(width),
      highRow: new Float64Array(width),
      points: 0,
    };
    found.set(key, fresh);
    return fresh;
  };

  for (const batch of view.batches) {
    const time = batch.byRole("time");
    if (!time || time.type !== "time") continue;
    const times = time.numbers(batch.rows);
    const from = Math.max(0, view.firstSeq - batch.firstSeq);
    const texts = split ? splitOf(batch, split) : null;
    for (const field of fields) {
      const column = batch.column(field);
      if (!column || (!column.isNumeric && column.type !== "bool")) continue;
      const values = column.numbers(batch.rows);
      let target = texts ? null : extremesFor(field, null);
      let targetText: string | null = null;
      for (let row = from; row < batch.rows; ++row) {
        const at = times[row]!;
        const value = values[row]!;
        if (!(at >= range.min && at <= range.max) || !Number.isFinite(value)) continue;
        if (texts && (target === null || texts[row] !== targetText)) {
          targetText = texts[row]!;
          target = extremesFor(field, targetText);
        }
        if (!target) continue;
        const pixel = Math.round((at - range.min) * scale);
        if (value < target.low[pixel]!) {
          target.low[pixel] = value;
          target.lowRow[pixel] = batch.firstSeq + row;
        }
        if (value > target.high[pixel]!) {
          target.high[pixel] = value;
          target.highRow[pixel] = batch.firstSeq + row;
        }
        ++target.points;
        ++points;
      }
    }
  }

  const x = new Float64Array(width * 2);
  const step = scale > 0 ? 1 / scale : 1;
  for (let pixel = 0; pixel < width; ++pixel) {
    x[pixel * 2] = range.min + pixel * step;
    x[pixel * 2 + 1] = range.min + (pixel + 0.5) * step;
  }
  const series = [...found.values()].map((extremes) => layOut(extremes, width, fields.length > 1));
  if (split) series.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  return { x, series, min: range.min, max: range.max, more: refused.size, points };
}

function layOut(extremes: Extremes, width: number, namesField: boolean): ChartData["series"][number] {
  const y: (number | null)[] = new Array<number | null>(width * 2).fill(null);
  const rows = new Float64Array(width * 2).fill(-1);
  for (let pixel = 0; pixel < width; ++pixel) {
    if (extremes.low[pixel] === Infinity) continue;
    const lowFirst = extremes.lowRow[pixel]! <= extremes.highRow[pixel]!;
    const first = pixel * 2;
    y[first] = lowFirst ? extremes.low[pixel]! : extremes.high[pixel]!;
    rows[first] = lowFirst ? extremes.lowRow[pixel]! : extremes.highRow[pixel]!;
    if (extremes.lowRow[pixel] !== extremes.highRow[pixel]) {
      y[first + 1] = lowFirst ? extremes.high[pixel]! : extremes.low[pixel]!;
      rows[first + 1] = lowFirst ? extremes.highRow[pixel]! : extremes.lowRow[pixel]!;
    }
  }
  const { field, split } = extremes.spec;
  const label = split === null ? field : namesField ? `${field} · ${split}` : split;
  return { spec: extremes.spec, label, y, rows, points: extremes.points };
}
