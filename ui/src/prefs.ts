// What a user did to the columns of a topic: order, visibility, width. Kept by topic in local storage.
import { recall, remember } from "./dom";
import type { KnownColumn } from "./ring";

export interface ColumnPrefs {
  /** Names that the user moved, in the user's order; others follow in order of appearance. */
  order: string[];
  hidden: string[];
  widths: Record<string, number>;
}

export function emptyPrefs(): ColumnPrefs {
  return { order: [], hidden: [], widths: {} };
}

export function loadPrefs(topic: string): ColumnPrefs {
  try {
    const read = JSON.parse(recall(`columns.${topic}`) ?? "{}") as Partial<ColumnPrefs>;
    return {
      order: Array.isArray(read.order) ? read.order.filter((name) => typeof name === "string") : [],
      hidden: Array.isArray(read.hidden) ? read.hidden.filter((name) => typeof name === "string") : [],
      widths: read.widths && typeof read.widths === "object" ? read.widths : {},
    };
  } catch {
    return emptyPrefs();
  }
}

export function savePrefs(topic: string, prefs: ColumnPrefs): void {
  const untouched = prefs.order.length === 0 && prefs.hidden.length === 0 && Object.keys(prefs.widths).length === 0;
  remember(`columns.${topic}`, untouched ? null : JSON.stringify(prefs));
}

/** All columns in the user's order: those that were moved first, then the others as they appeared. */
export function ordered(columns: readonly KnownColumn[], prefs: ColumnPrefs): KnownColumn[] {
  const rank = new Map(prefs.order.map((name, index) => [name, index]));
  const moved = columns.filter((column) => rank.has(column.name));
  moved.sort((a, b) => rank.get(a.name)! - rank.get(b.name)!);
  return [...moved, ...columns.filter((column) => !rank.has(column.name))];
}

export function visible(columns: readonly KnownColumn[], prefs: ColumnPrefs): KnownColumn[] {
  const hidden = new Set(prefs.hidden);
  return ordered(columns, prefs).filter((column) => !hidden.has(column.name));
}

/** Moves a column by one place among all. */
export function moveColumn(columns: readonly KnownColumn[], prefs: ColumnPrefs, name: string, by: -1 | 1): ColumnPrefs {
  const names = ordered(columns, prefs).map((column) => column.name);
  const at = names.indexOf(name);
  const to = at + by;
  if (at < 0 || to < 0 || to >= names.length) return prefs;
  [names[at], names[to]] = [names[to]!, names[at]!];
  return { ...prefs, order: names };
}
