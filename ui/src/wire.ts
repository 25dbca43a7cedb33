// What crosses between the worker (socket and Arrow) and the page: plain objects and typed arrays whose buffers are
// transferred, never copied. Values keep Arrow's layout; the page reads single cells out of it when it draws them.

export type ColumnType =
  | "null" | "bool" | "int32" | "int64" | "uint64" | "float64" | "time" | "string" | "bytes";

export type ColumnRole = "time" | "partition" | "offset" | "key" | "header" | "value" | "error";

export type ColumnValues = Uint8Array | Int32Array | BigInt64Array | BigUint64Array | Float64Array | null;

export interface WireColumn {
  name: string;
  type: ColumnType;
  role: ColumnRole;
  /** Arrow validity bitmap, or null where every value is valid. */
  validity: Uint8Array | null;
  /** bool: bits; time: nanoseconds since 1970 UTC; string and bytes: the bytes; null type: null. */
  values: ColumnValues;
  /** string and bytes: rows + 1 offsets into values. */
  offsets: Int32Array | null;
}

export interface WireBatch {
  rows: number;
  /** Size of the message on the wire. */
  bytes: number;
  /** Clock of the worker at arrival (performance.timeOrigin + performance.now()). */
  arrived: number;
  columns: WireColumn[];
}

export type ToWorker =
  | { type: "open"; url: string; generation: number }
  | { type: "close" }
  | { type: "ack" };

export type FromWorker =
  | { type: "open"; generation: number }
  | { type: "batches"; generation: number; batches: WireBatch[]; skippedRows: number }
  | { type: "text"; generation: number; message: ServerText }
  | { type: "closed"; generation: number; opened: boolean; code: number; reason: string; ended: boolean };

export interface StreamStats {
  type: "stats";
  received: number;
  decoded: number;
  rows: number;
  frames: number;
  bytes: number;
  errors: Record<string, number>;
  filtered: number;
  dropped: Record<string, number>;
  lag_records: number | null;
  lag_seconds: number | null;
  queued_bytes: number;
  partitions: { id: number; next_offset: number; log_end_offset: number }[];
  notes: string[];
}

export type ServerText =
  | { type: "hello"; query?: unknown }
  | StreamStats
  | { type: "event"; kind: string; message: string; count?: number }
  | { type: "end" }
  | { type: "error"; message: string };
