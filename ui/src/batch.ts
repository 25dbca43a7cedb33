// Batch: some rows in columns, as they arrived; Column: reads cells out of Arrow's layout.
//
// Cost: a cell's text is made when it is drawn, never before. numbers() converts a column once and keeps the result,
// for the chart only.
import { base64, doubleText, rfc3339, timeText } from "./format";
import type { ColumnRole, ColumnType, WireBatch, WireColumn } from "./wire";

const kDecoder = new TextDecoder();
/** The grid shows at most this much of one cell; inspector and export show all. */
export const kCellLimit = 300;

export class Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly role: ColumnRole;
  private numbers_: Float64Array | null = null;

  constructor(readonly wire: WireColumn) {
    this.name = wire.name;
    this.type = wire.type;
    this.role = wire.role;
  }

  isNull(row: number): boolean {
    if (this.type === "null") return true;
    const validity = this.wire.validity;
    return validity !== null && (validity[row >> 3]! & (1 << (row & 7))) === 0;
  }

  bytes(row: number): Uint8Array {
    const offsets = this.wire.offsets!;
    return (this.wire.values as Uint8Array).subarray(offsets[row]!, offsets[row + 1]!);
  }

  bigint(row: number): bigint {
    return (this.wire.values as BigInt64Array)[row]!;
  }

  /** The whole value, exact; null for null. Times as the grid shows them. */
  text(row: number, utc: boolean): string | null {
    if (this.isNull(row)) return null;
    switch (this.type) {
      case "bool":
        return this.bool(row) ? "true" : "false";
      case "int32":
      case "int64":
      case "uint64":
        return String((this.wire.values as BigInt64Array | Int32Array)[row]);
      case "float64":
        return doubleText((this.wire.values as Float64Array)[row]!);
      case "time":
        return timeText(this.bigint(row), utc);
      case "string":
        return kDecoder.decode(this.bytes(row));
      case "bytes":
        return base64(this.bytes(row));
      default:
        return null;
    }
  }

  /** As text(), but cut: a record of megabytes costs the grid no more than a short one. */
  cell(row: number, utc: boolean): string | null {
    if ((this.type === "string" || this.type === "bytes") && !this.isNull(row)) {
      const bytes = this.bytes(row);
      if (this.type === "bytes") {
        const shown = base64(bytes.subarray(0, 210));
        return `${bytes.length > 210 ? `${shown}…` : shown} (${bytes.length} B)`;
      }
      if (bytes.length > kCellLimit) return `${kDecoder.decode(bytes.subarray(0, kCellLimit)).replace(/\uFFFD$/, "")}…`;
      return kDecoder.decode(bytes);
    }
    return this.text(row, utc);
  }

  /** The value as JSON text, in the form of `kafscope tail --json`. */
  json(row: number): string {
    if (this.isNull(row)) return "null";
    switch (this.type) {
      case "float64": {
        const value = (this.wire.values as Float64Array)[row]!;
        return Number.isFinite(value) ? (Object.is(value, -0) ? "-0.0" : doubleText(value)) : JSON.stringify(String(value));
      }
      case "time":
        return JSON.stringify(rfc3339(this.bigint(row)));
      case "string":
      case "bytes":
        return JSON.stringify(this.text(row, true));
      default:
        return this.text(row, true)!;
    }
  }

  get isNumeric(): boolean {
    return this.type === "float64" || this.type === "int64" || this.type === "uint64" || this.type === "int32";
  }

  /** All values as doubles, NaN for null: pixels only. Times in milliseconds. Computed once. */
  numbers(rows: number): Float64Array {
    if (this.numbers_) return this.numbers_;
    const out = new Float64Array(rows);
    const values = this.wire.values as ArrayLike<number | bigint> | null;
    const scale = this.type === "time" ? 1e6 : 1;
    for (let row = 0; row < rows; ++row) {
      out[row] = this.isNull(row) ? NaN : this.type === "bool" ? (this.bool(row) ? 1 : 0) : Number(values![row]) / scale;
    }
    this.numbers_ = out;
    return out;
  }

  private bool(row: number): boolean {
    return ((this.wire.values as Uint8Array)[row >> 3]! & (1 << (row & 7))) !== 0;
  }
}

export class Batch {
  readonly rows: number;
  readonly bytes: number;
  readonly columns: Column[];
  private readonly byName_ = new Map<string, Column>();
  private errorRows_: number[] | null = null;

  /** firstSeq: number of rows of the stream before this batch; it names a row for as long as the stream lives. */
  constructor(readonly firstSeq: number, readonly wire: WireBatch) {
    this.rows = wire.rows;
    this.bytes = wire.bytes;
    this.columns = wire.columns.map((column) => new Column(column));
    for (const column of this.columns) this.byName_.set(column.name, column);
  }

  get endSeq(): number {
    return this.firstSeq + this.rows;
  }

  column(name: string): Column | undefined {
    return this.byName_.get(name);
  }

  byRole(role: ColumnRole): Column | undefined {
    return this.columns.find((column) => column.role === role);
  }

  /** Rows (within this batch) that could not be decoded. */
  errorRows(): number[] {
    if (this.errorRows_) return this.errorRows_;
    const out: number[] = [];
    const column = this.byRole("error");
    if (column && column.type !== "null") {
      for (let row = 0; row < this.rows; ++row) if (!column.isNull(row)) out.push(row);
    }
    this.errorRows_ = out;
    return out;
  }

  /** Two batches with the same signature can be joined. */
  signature(): string {
    return this.columns.map((column) => `${column.name}\u0000${column.type}\u0000${column.role}`).join("\u0001");
  }
}

/** Joins batches of one signature, in order. Many small batches cost more memory than their rows. */
export function joinBatches(parts: Batch[]): Batch {
  const first = parts[0]!;
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const columns = first.columns.map((column, index) => joinColumns(column, parts, index, rows));
  return new Batch(first.firstSeq, {
    rows,
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    arrived: parts[parts.length - 1]!.wire.arrived,
    columns,
  });
}

function joinColumns(head: Column, parts: Batch[], index: number, rows: number): WireColumn {
  const { name, type, role } = head.wire;
  const columns = parts.map((part) => ({ wire: part.columns[index]!.wire, rows: part.rows }));
  const validity = columns.some((part) => part.wire.validity)
    ? joinBits(columns.map((part) => ({ bits: part.wire.validity, rows: part.rows })), rows)
    : null;
  if (type === "null") return { name, type, role, validity: null, values: null, offsets: null };
  if (type === "bool") {
    const values = joinBits(columns.map((part) => ({ bits: part.wire.values as Uint8Array, rows: part.rows })), rows);
    return { name, type, role, validity, values, offsets: null };
  }
  if (type === "string" || type === "bytes") return { name, type, role, validity, ...joinTexts(columns, rows) };
  const Kind = (head.wire.values as Float64Array).constructor as { new (length: number): Float64Array };
  const values = new Kind(rows);
  let at = 0;
  for (const part of columns) {
    values.set((part.wire.values as Float64Array).subarray(0, part.rows), at);
    at += part.rows;
  }
  return { name, type, role, validity, values, offsets: null };
}

function joinTexts(parts: { wire: WireColumn; rows: number }[], rows: number): { values: Uint8Array; offsets: Int32Array } {
  const size = parts.reduce((sum, part) => sum + part.wire.offsets![part.rows]! - part.wire.offsets![0]!, 0);
  const values = new Uint8Array(size);
  const offsets = new Int32Array(rows + 1);
  let row = 0;
  let at = 0;
  for (const part of parts) {
    const from = part.wire.offsets![0]!;
    values.set((part.wire.values as Uint8Array).subarray(from, part.wire.offsets![part.rows]!), at);
    for (let i = 1; i <= part.rows; ++i) offsets[row + i] = part.wire.offsets![i]! - from + at;
    row += part.rows;
    at = offsets[row]!;
  }
  return { values, offsets };
}

function joinBits(parts: { bits: Uint8Array | null; rows: number }[], rows: number): Uint8Array {
  const out = new Uint8Array((rows + 7) >> 3);
  let at = 0;
  for (const part of parts) {
    for (let row = 0; row < part.rows; ++row, ++at) {
      if (part.bits === null || (part.bits[row >> 3]! & (1 << (row & 7))) !== 0) out[at >> 3]! |= 1 << (at & 7);
    }
  }
  return out;
}
