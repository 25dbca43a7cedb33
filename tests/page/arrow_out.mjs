// Columns → one self-contained Arrow IPC stream, as the server sends it. Independent of the page's own code.
import { arrow } from "./packages.mjs";

const { Binary, Bool, Field, Float64, Int32, Int64, Null, RecordBatch, Schema, Struct, Table, TimestampNanosecond, Uint64, Utf8,
  makeData, tableToIPC } = arrow;

const kTypes = {
  bool: () => new Bool(), int32: () => new Int32(), int64: () => new Int64(), uint64: () => new Uint64(),
  float64: () => new Float64(), time: () => new TimestampNanosecond("UTC"), string: () => new Utf8(), bytes: () => new Binary(),
  null: () => new Null(),
};
const kArrays = { int32: Int32Array, int64: BigInt64Array, uint64: BigUint64Array, float64: Float64Array, time: BigInt64Array };

function bits(values, isSet) {
  const out = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, row) => {
    if (isSet(value)) out[row >> 3] |= 1 << (row & 7);
  });
  return out;
}

function column({ type, values }) {
  const length = values.length;
  const arrowType = kTypes[type]();
  if (type === "null") return makeData({ type: arrowType, length });
  const nullCount = values.filter((value) => value === null).length;
  const nullBitmap = nullCount > 0 ? bits(values, (value) => value !== null) : undefined;
  const common = { type: arrowType, length, nullCount, nullBitmap };
  if (type === "bool") return makeData({ ...common, data: bits(values, Boolean) });
  if (type === "string" || type === "bytes") {
    const parts = values.map((value) => (value === null ? Buffer.alloc(0) : Buffer.from(value)));
    const valueOffsets = new Int32Array(length + 1);
    parts.forEach((part, row) => (valueOffsets[row + 1] = valueOffsets[row] + part.length));
    return makeData({ ...common, valueOffsets, data: Buffer.concat(parts) });
  }
  const zero = type === "float64" || type === "int32" ? 0 : 0n;
  return makeData({ ...common, data: kArrays[type].from(values, (value) => value ?? zero) });
}

/** columns: [{name, type, role = "value", values}] */
export function ipc(columns) {
  const fields = columns.map(({ name, type, role = "value" }) =>
    new Field(name, kTypes[type](), true, new Map([["kafscope.role", role]])));
  const rows = columns[0].values.length;
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children: columns.map(column) });
  return Buffer.from(tableToIPC(new Table([new RecordBatch(new Schema(fields), data)]), "stream"));
}
