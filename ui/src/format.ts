// How values are written. Integers stay BigInt or digits: none passes through Number on its way to text.

const kGroup = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1204331 → "1,204,331"; unknown → a dash. For counts of ours, which are far below 2^53. */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined || !Number.isFinite(value) ? "–" : kGroup.format(Math.round(value));
}

/** 1234 → "1.2k": for the rail, where a digit more would not be read. */
export function shortRate(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value < 10 && value > 0) return value.toFixed(1);
  if (value < 1000) return String(Math.round(value));
  if (value < 1e6) return `${(value / 1e3).toFixed(1)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

export function byteSize(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value < 1024) return `${value} B`;
  if (value < 1024 * 1024) return `${(value / 1024).toFixed(1)} KiB`;
  if (value < 1024 ** 3) return `${(value / 1024 ** 2).toFixed(1)} MiB`;
  return `${(value / 1024 ** 3).toFixed(1)} GiB`;
}

export function lagTime(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

const kNanosPerMilli = 1_000_000n;

/** Floor division into milliseconds and the nanoseconds within, right for times before 1970 as well. */
function splitNanos(nanos: bigint): { milli: number; rest: number } {
  let milli = nanos / kNanosPerMilli;
  let rest = nanos % kNanosPerMilli;
  if (rest < 0n) {
    rest += kNanosPerMilli;
    milli -= 1n;
  }
  return { milli: Number(milli), rest: Number(rest) };
}

function fraction(milli: number, rest: number): string {
  const millis = String(((milli % 1000) + 1000) % 1000).padStart(3, "0");
  if (rest === 0) return millis;
  const nanos = String(rest).padStart(6, "0");
  return millis + (rest % 1000 === 0 ? nanos.slice(0, 3) : nanos);
}

/** RFC 3339 in UTC with 3, 6 or 9 fraction digits as needed: the form of exports. */
export function rfc3339(nanos: bigint): string {
  const { milli, rest } = splitNanos(nanos);
  return `${new Date(milli).toISOString().slice(0, 19)}.${fraction(milli, rest)}Z`;
}

/** The form of the grid: "2026-01-31 12:00:00.123", local or UTC. */
export function timeText(nanos: bigint, utc: boolean): string {
  const { milli, rest } = splitNanos(nanos);
  const date = new Date(milli);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = utc
    ? [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
    : [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  const clock = utc
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds()];
  return `${String(day[0]).padStart(4, "0")}-${two(day[1]!)}-${two(day[2]!)} ` +
    `${clock.map(two).join(":")}.${fraction(milli, rest)}`;
}

export function doubleText(value: number): string {
  return String(value);
}

export function base64(bytes: Uint8Array): string {
  let binary = "";
  // In pieces: a spread of a large array would overflow the stack.
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

export function hexDump(bytes: Uint8Array, limit = 4096): string {
  const lines: string[] = [];
  const end = Math.min(bytes.length, limit);
  for (let at = 0; at < end; at += 16) {
    const row = bytes.subarray(at, Math.min(at + 16, end));
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, "0"));
    const text = Array.from(row, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "."));
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.join(" ").padEnd(47)}  ${text.join("")}`);
  }
  if (bytes.length > limit) lines.push(`… ${count(bytes.length - limit)} more bytes`);
  return lines.join("\n");
}
