// CSV and JSON of the rows on the screen, exact: digits and text as they are, no value through Number.
// Works in slices, so that a large export does not stop the page.
import type { KnownColumn, View } from "./ring";

const kSliceRows = 2000;

export type ExportKind = "csv" | "json";

function csvCell(text: string | null): string {
  if (text === null) return "";
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Text of rows [from, to) of the view; `header` writes the CSV head line. */
export function exportSlice(
  view: View, columns: readonly KnownColumn[], kind: ExportKind, from: number, to: number, header: boolean,
): string {
  const lines: string[] = [];
  if (header && kind === "csv") lines.push(columns.map((column) => csvCell(column.name)).join(","));
  const names = columns.map((column) => JSON.stringify(column.name));
  for (let index = from; index < to; ++index) {
    const found = view.find(view.seqAt(index));
    if (!found) continue;
    const { batch, row } = found;
    if (kind === "json") {
      const members = columns.map((column, i) => `${names[i]}:${batch.column(column.name)?.json(row) ?? "null"}`);
      lines.push(`{${members.join(",")}}`);
    } else {
      lines.push(columns.map((column) => {
        const cell = batch.column(column.name);
        if (!cell || cell.isNull(row)) return "";
        if (cell.type === "time") return csvCell(JSON.parse(cell.json(row)) as string);
        return csvCell(cell.text(row, true));
      }).join(","));
    }
  }
  return lines.length > 0 ? `${lines.join(kind === "csv" ? "\r\n" : "\n")}${kind === "csv" ? "\r\n" : "\n"}` : "";
}

export async function exportView(view: View, columns: readonly KnownColumn[], kind: ExportKind): Promise<Blob> {
  const parts: string[] = [];
  for (let from = 0; from === 0 || from < view.rows; from += kSliceRows) {
    parts.push(exportSlice(view, columns, kind, from, Math.min(view.rows, from + kSliceRows), from === 0));
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return new Blob(parts, { type: kind === "csv" ? "text/csv;charset=utf-8" : "application/x-ndjson" });
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken the data once the click returned to the event loop.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
