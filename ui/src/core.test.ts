import { Binary, Bool, type Builder, type DataType, Field, Float64, Int16, Int32, Int64, makeBuilder, makeData, Null, RecordBatch,
  Schema, Struct, Table, tableToIPC, TimestampNanosecond, Uint64, Utf8 } from "apache-arrow";
import { describe, expect, it } from "vitest";

import { emptyAddress, formatAddress, parseAddress, recordAddress, streamUrl } from "./address";
import { decodeMessage } from "./arrow_decode";
import { Batch, joinBatches } from "./batch";
import { downsample, timeRange } from "./downsample";
import { exportSlice } from "./export";
import { byteSize, count, hexDump, rfc3339, timeText } from "./format";
import { hintFor, isLasting, retryDelay } from "./hints";
import { Ring } from "./ring";
import type { WireBatch } from "./wire";

const kMax = 9223372036854775807n;
const kTime = 1700000000000000123n;

// The library's own builder takes times in milliseconds only.
function times(type: TimestampNanosecond, values: (bigint | null)[]) {
  const nullBitmap = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, row) => {
    if (value !== null) nullBitmap[row >> 3]! |= 1 << (row & 7);
  });
  const data = BigInt64Array.from(values, (value) => value ?? 0n);
  return makeData({ type, length: values.length, nullCount: values.filter((value) => value === null).length, nullBitmap,
    data: data as never });
}

// Column specs → one IPC message, as the server sends it.
function message(columns: [string, unknown, unknown[], string][]): Uint8Array {
  const fields: Field[] = [];
  const children = columns.map(([name, type, values, role]) => {
    fields.push(new Field(name, type as never, true, new Map([["kafscope.role", role]])));
    if (type instanceof TimestampNanosecond) return times(type, values as (bigint | null)[]);
    const builder = makeBuilder({ type: type as DataType, nullValues: [null] }) as Builder;
    for (const value of values) builder.append(value as never);
    return builder.finish().flush();
  });
  const schema = new Schema(fields);
  const rows = columns[0]![2].length;
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children: children as never });
  return tableToIPC(new Table([new RecordBatch(schema, data as never)]), "stream");
}

function wire(columns: [string, unknown, unknown[], string][]): WireBatch {
  return decodeMessage(message(columns), 0)[0]!;
}

const all = (): [string, unknown, unknown[], string][] => [
  ["time", new TimestampNanosecond("UTC"), [kTime, null, 0n], "time"],
  ["partition", new Int32(), [0, 1, 2], "partition"],
  ["offset", new Int64(), [5n, 6n, kMax], "offset"],
  ["id", new Int64(), [kMax, -7210194211959421178n, null], "value"],
  ["u", new Uint64(), [18446744073709551615n, null, 10699247336865531002n], "value"],
  ["f", new Float64(), [1.5, NaN, null], "value"],
  ["b", new Bool(), [true, null, false], "value"],
  ["s", new Utf8(), ["äöü\n\"q\",", "", null], "value"],
  ["raw", new Binary(), [new Uint8Array([255, 0]), null, new Uint8Array([1])], "value"],
  ["nothing", new Null(), [null, null, null], "value"],
  ["error", new Utf8(), [null, null, "syntax at byte 3: x"], "error"],
];

describe("arrow_decode", () => {
  it("keeps every type exact", () => {
    const batch = new Batch(0, wire(all()));
    const text = (name: string, row: number) => batch.column(name)!.text(row, true);
    expect(text("id", 0)).toBe("9223372036854775807");
    expect(text("id", 1)).toBe("-7210194211959421178");
    expect(text("id", 2)).toBeNull();
    expect(text("u", 0)).toBe("18446744073709551615");
    expect(text("u", 2)).toBe("10699247336865531002");
    expect(text("f", 0)).toBe("1.5");
    expect(text("f", 1)).toBe("NaN");
    expect(text("b", 0)).toBe("true");
    expect(text("b", 1)).toBeNull();
    expect(text("b", 2)).toBe("false");
    expect(text("s", 0)).toBe("äöü\n\"q\",");
    expect(text("s", 1)).toBe("");
    expect(text("raw", 0)).toBe("/wA=");
    expect(batch.column("raw")!.cell(0, true)).toBe("/wA= (2 B)");
    expect(text("nothing", 0)).toBeNull();
    expect(text("time", 0)).toBe("2023-11-14 22:13:20.000000123");
    expect(batch.byRole("offset")!.text(2, true)).toBe("9223372036854775807");
    expect(batch.errorRows()).toEqual([2]);
  });

  it("turns an unknown type into text", () => {
    const batch = new Batch(0, wire([["x", new Int16(), [1, null, -3], "value"]]));
    expect(batch.column("x")!.type).toBe("string");
    expect([0, 1, 2].map((row) => batch.column("x")!.text(row, true))).toEqual(["1", null, "-3"]);
  });

  it("cuts long cells in the grid only", () => {
    const long = "é".repeat(1000);
    const batch = new Batch(0, wire([["s", new Utf8(), [long], "value"]]));
    expect(batch.column("s")!.cell(0, true)!.length).toBeLessThan(310);
    expect(batch.column("s")!.text(0, true)).toBe(long);
  });
});

describe("ring", () => {
  const one = (value: bigint) => wire([["offset", new Int64(), [value], "offset"], ["s", new Utf8(), [`v${value}`], "value"],
    ["b", new Bool(), [value % 2n === 0n], "value"], ["n", new Float64(), [value % 3n === 0n ? null : 0.5], "value"]]);

  it("joins small batches without changing a cell", () => {
    const ring = new Ring(1000);
    for (let i = 0n; i < 100n; ++i) ring.append(one(i), 1);
    expect(ring.batchCount).toBeLessThan(40);
    const view = ring.view();
    expect(view.rows).toBe(100);
    for (let seq = 0; seq < 100; ++seq) {
      const { batch, row } = view.find(seq)!;
      expect(batch.column("offset")!.text(row, true)).toBe(String(seq));
      expect(batch.column("s")!.text(row, true)).toBe(`v${seq}`);
      expect(batch.column("b")!.text(row, true)).toBe(String(seq % 2 === 0));
      expect(batch.column("n")!.text(row, true)).toBe(seq % 3 === 0 ? null : "0.5");
    }
  });

  it("keeps the newest rows and old pictures whole", () => {
    const ring = new Ring(50);
    for (let i = 0n; i < 60n; ++i) ring.append(one(i), 1);
    const picture = ring.view();
    expect(picture.rows).toBe(50);
    expect(picture.firstSeq).toBe(10);
    for (let i = 60n; i < 300n; ++i) ring.append(one(i), 1);
    expect(ring.rows).toBe(50);
    const { batch, row } = picture.find(12)!;
    expect(batch.column("s")!.text(row, true)).toBe("v12");
    expect(picture.find(60)).toBeNull();
    expect(ring.view().findRecord(0, 290n)).toBe(290);
    expect(ring.view().findRecord(0, 1n)).toBe(-1);
  });

  it("bounds bytes", () => {
    const ring = new Ring(100_000, 10_000);
    for (let i = 0n; i < 200n; ++i) ring.append(one(i), 1);
    expect(ring.bytes).toBeLessThan(40_000);
  });

  it("appends columns and widens types, never moves them", () => {
    const ring = new Ring(1000);
    ring.append(wire([["a", new Int64(), [1n], "value"], ["error", new Null(), [null], "error"]]), 5);
    ring.append(wire([["a", new Float64(), [1.5], "value"], ["error", new Null(), [null], "error"],
      ["c", new Utf8(), ["x"], "value"]]), 7);
    expect(ring.columns.map((column) => [column.name, column.type, column.since])).toEqual(
      [["a", "float64", 0], ["error", "null", 0], ["c", "string", 7]]);
  });

  it("picks error rows", () => {
    const ring = new Ring(1000);
    ring.append(wire(all()), 1);
    ring.append(wire(all()), 1);
    const view = ring.view().errorsOnly();
    expect(view.rows).toBe(2);
    expect(view.seqAt(1)).toBe(5);
    expect(view.indexOf(5)).toBe(1);
    expect(ring.errorRows).toBe(2);
    ring.clear();
    expect(ring.rows).toBe(0);
    expect(ring.errorRows).toBe(2);
  });

  it("joins batches with text and bytes", () => {
    const parts = [new Batch(0, wire(all())), new Batch(3, wire(all()))];
    const joined = joinBatches(parts);
    for (const column of joined.columns) {
      for (let row = 0; row < 6; ++row) {
        expect(column.text(row, true)).toBe(parts[0]!.column(column.name)!.text(row % 3, true));
      }
    }
  });
});

describe("format", () => {
  it("writes times to the precision that they have", () => {
    expect(rfc3339(0n)).toBe("1970-01-01T00:00:00.000Z");
    expect(rfc3339(kTime)).toBe("2023-11-14T22:13:20.000000123Z");
    expect(rfc3339(1700000000123456000n)).toBe("2023-11-14T22:13:20.123456Z");
    expect(rfc3339(-1n)).toBe("1969-12-31T23:59:59.999999999Z");
    expect(timeText(1654964761000000000n, true)).toBe("2022-06-11 16:26:01.000");
  });
  it("shows a dash for what is not known", () => {
    expect(count(null)).toBe("–");
    expect(count(1204331)).toBe("1,204,331");
    expect(byteSize(undefined)).toBe("–");
    expect(byteSize(0)).toBe("0 B");
    expect(hexDump(new Uint8Array([65, 0]))).toBe(`00000000  41 00${" ".repeat(42)}  A.`);
  });
});

describe("address", () => {
  it("goes round", () => {
    const address = { ...emptyAddress(), topic: "a b&c", format: "avro", from: "last:100", headers: "all", schema: "{\"x\": 1}\n#",
      view: "series" as const, fields: ["x,y", "z"], split: "s", errors: true, record: "3:9223372036854775807", rail: false,
      utc: true, theme: "dark" };
    const text = formatAddress(address);
    const [search, hash] = text.split("#");
    expect(parseAddress(search!, `#${hash}`)).toEqual(address);
  });
  it("ignores nonsense", () => {
    expect(parseAddress("?view=x&record=a&theme=z", "")).toEqual(emptyAddress());
  });
  it("makes stream and record addresses", () => {
    const url = streamUrl("http://127.0.0.1:1", { ...emptyAddress(), topic: "t", schema: "s" });
    expect(url).toBe("ws://127.0.0.1:1/ws?topic=t&schema=s&batch_latency=50ms");
    expect(recordAddress({ ...emptyAddress(), topic: "t" }, 2, kMax).from).toBe("offset:9223372036854775757");
  });
});

describe("export", () => {
  it("is exact", () => {
    const ring = new Ring();
    ring.append(wire(all()), 1);
    const json = exportSlice(ring.view(), ring.columns, "json", 0, 3, true).split("\n");
    expect(json[0]).toBe("{\"time\":\"2023-11-14T22:13:20.000000123Z\",\"partition\":0,\"offset\":5," +
      "\"id\":9223372036854775807,\"u\":18446744073709551615,\"f\":1.5,\"b\":true,\"s\":\"äöü\\n\\\"q\\\",\"," +
      "\"raw\":\"/wA=\",\"nothing\":null,\"error\":null}");
    expect(json[1]).toContain("\"f\":\"NaN\"");
    const csv = exportSlice(ring.view(), ring.columns, "csv", 0, 3, true).split("\r\n");
    expect(csv[0]).toBe("time,partition,offset,id,u,f,b,s,raw,nothing,error");
    expect(csv[1]).toBe("2023-11-14T22:13:20.000000123Z,0,5,9223372036854775807,18446744073709551615,1.5,true," +
      "\"äöü\n\"\"q\"\",\",/wA=,,");
    expect(csv[2]).toBe(",1,6,-7210194211959421178,,NaN,,\"\",,,");
  });
});

describe("downsample", () => {
  it("loses no spike", () => {
    const ring = new Ring();
    const times: bigint[] = [];
    const values: number[] = [];
    const names: string[] = [];
    for (let i = 0; i < 10_000; ++i) {
      times.push(BigInt(i) * 1_000_000n);
      values.push(i === 4321 ? 1000 : i === 4322 ? -1000 : Math.sin(i / 100));
      names.push(i % 2 ? "odd" : "even");
    }
    ring.append(wire([["time", new TimestampNanosecond("UTC"), times, "time"], ["v", new Float64(), values, "value"],
      ["n", new Utf8(), names, "value"]]), 1);
    const view = ring.view();
    const range = timeRange(view)!;
    expect(range).toEqual({ min: 0, max: 9999 });
    const data = downsample(view, ["v"], "", range, 100);
    const y = data.series[0]!.y.filter((value) => value !== null);
    expect(Math.max(...y)).toBe(1000);
    expect(Math.min(...y)).toBe(-1000);
    const at = data.series[0]!.y.indexOf(1000);
    expect(data.series[0]!.rows[at]).toBe(4321);
    expect(data.points).toBe(10_000);
    const split = downsample(view, ["v"], "n", range, 100);
    expect(split.series.map((series) => series.label)).toEqual(["even", "odd"]);
  });
});

describe("hints", () => {
  it("name the option", () => {
    expect(hintFor("Local: Broker transport failure: Connection refused")).toContain("--brokers");
    expect(hintFor("unknown topic 'x'")).toContain("topic");
    expect(hintFor("SASL authentication failed")).toContain("sasl.password");
    expect(hintFor("SSL handshake failed")).toContain("security.protocol");
    expect(hintFor("certificate verify failed")).toContain("ssl.ca.location");
    expect(hintFor("Topic authorization failed")).toContain("READ");
    expect(hintFor("nonsense")).toBe("");
  });
  it("back off", () => {
    expect([1, 2, 3, 4, 5, 6].map((failures) => retryDelay(failures, false))).toEqual([1, 2, 4, 8, 15, 15]);
    expect(isLasting("unknown topic")).toBe(true);
  });
});
