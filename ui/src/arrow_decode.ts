// Arrow IPC → WireBatch. Each message of the server is a whole Arrow stream: schema, one batch, end.
//
// Types that Kafscope sends keep their buffers; any other type (a future server) becomes text, so that the page never
// fails on a column that it does not know.
import { type Data, DataType, type Field, type RecordBatch, tableFromIPC, TimeUnit, Type, type Vector } from "apache-arrow";

import type { ColumnRole, ColumnType, ColumnValues, WireBatch, WireColumn } from "./wire";

const kNanosPerUnit: Record<number, bigint> = {
  [TimeUnit.SECOND]: 1_000_000_000n,
  [TimeUnit.MILLISECOND]: 1_000_000n,
  [TimeUnit.MICROSECOND]: 1_000n,
  [TimeUnit.NANOSECOND]: 1n,
};

const kRoles = new Set<string>(["time", "partition", "offset", "key", "header", "value", "error"]);

export function decodeMessage(bytes: Uint8Array, arrived: number): WireBatch[] {
  const table = tableFromIPC(bytes);
  return table.batches
    .filter((batch) => batch.numRows > 0)
    .map((batch, index) => ({
      rows: batch.numRows,
      bytes: index === 0 ? bytes.byteLength : 0,
      arrived,
      columns: batch.schema.fields.map((field, i) => decodeColumn(batch, field, i)),
    }));
}

function decodeColumn(batch: RecordBatch, field: Field, index: number): WireColumn {
  const vector = batch.getChildAt(index) as Vector;
  const data = vector.data[0] as Data;
  const role = field.metadata.get("kafscope.role") ?? "value";
  const known = knownColumn(field.type, data);
  const body = known ?? textColumn(vector, batch.numRows);
  const validity = known && data.nullCount > 0 && body.type !== "null" ? (data.nullBitmap as Uint8Array) : null;
  return {
    name: field.name,
    role: (kRoles.has(role) ? role : "value") as ColumnRole,
    validity: known ? validity : (body as TextColumn).validity,
    type: body.type,
    values: body.values,
    offsets: body.offsets,
  };
}

interface ColumnBody {
  type: ColumnType;
  values: ColumnValues;
  offsets: Int32Array | null;
}

interface TextColumn extends ColumnBody {
  validity: Uint8Array | null;
}

// The buffers of a type that the server sends, or null for a type that it does not.
function knownColumn(type: DataType, data: Data): ColumnBody | null {
  const plain = (kind: ColumnType): ColumnBody => ({ type: kind, values: data.values as ColumnValues, offsets: null });
  switch (type.typeId) {
    case Type.Null:
      return { type: "null", values: null, offsets: null };
    case Type.Bool:
      return plain("bool");
    case Type.Int: {
      const { bitWidth, isSigned } = type as unknown as { bitWidth: number; isSigned: boolean };
      if (bitWidth === 32 && isSigned) return plain("int32");
      if (bitWidth === 64) return plain(isSigned ? "int64" : "uint64");
      return null;
    }
    case Type.Float:
      return data.values instanceof Float64Array ? plain("float64") : null;
    case Type.Timestamp:
      return { type: "time", values: nanoseconds(type, data), offsets: null };
    case Type.Utf8:
    case Type.Binary:
      return {
        type: type.typeId === Type.Utf8 ? "string" : "bytes",
        values: data.values as Uint8Array,
        offsets: data.valueOffsets as Int32Array,
      };
    default:
      return null;
  }
}

function nanoseconds(type: DataType, data: Data): BigInt64Array {
  const raw = data.values as ArrayBufferView;
  const ticks = raw instanceof BigInt64Array
    ? raw
    : new BigInt64Array(raw.buffer as ArrayBuffer, raw.byteOffset, raw.byteLength / 8);
  const factor = kNanosPerUnit[(type as unknown as { unit: number }).unit] ?? 1n;
  return factor === 1n ? ticks : ticks.map((tick) => tick * factor);
}

function textColumn(vector: Vector, rows: number): TextColumn {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  const offsets = new Int32Array(rows + 1);
  const validity = new Uint8Array((rows + 7) >> 3);
  let size = 0;
  for (let row = 0; row < rows; ++row) {
    const value: unknown = vector.get(row);
    if (value !== null && value !== undefined) {
      const part = encoder.encode(String(value));
      parts.push(part);
      size += part.length;
      validity[row >> 3]! |= 1 << (row & 7);
    }
    offsets[row + 1] = size;
  }
  const values = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    values.set(part, at);
    at += part.length;
  }
  return { type: "string", values, offsets, validity };
}

/** The distinct buffers behind the batches, for transfer. */
export function transferList(batches: WireBatch[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const batch of batches) {
    for (const column of batch.columns) {
      for (const view of [column.validity, column.values, column.offsets]) {
        if (view && view.byteLength > 0) buffers.add(view.buffer as ArrayBuffer);
      }
    }
  }
  return [...buffers];
}
