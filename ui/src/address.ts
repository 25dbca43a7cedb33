// The address bar holds the whole view: a link shows the same topic, options, tab, record. Schema text is in the
// fragment: it may be long, and the fragment does not go to the server with the page request.

export type Tab = "table" | "series";

/** What the server is asked for: every change opens a new stream. Empty text means the server's default. */
export interface StreamChoice {
  topic: string;
  format: string;
  from: string;
  until: string;
  partitions: string;
  key: string;
  headers: string;
  time_field: string;
  time_unit: string;
  max_depth: string;
  isolation: string;
  text: string;
  framing: string;
  message: string;
  lp_layout: string;
  lp_precision: string;
  lp_measurements: string;
  lp_fields: string;
  lp_tags: string;
  schema: string;
}

/** How it is shown. */
export interface Address extends StreamChoice {
  view: Tab | "";
  fields: string[];
  split: string;
  errors: boolean;
  record: string;
  rail: boolean;
  utc: boolean;
  theme: string;
}

export const kStreamKeys = [
  "topic", "format", "from", "until", "partitions", "key", "headers", "time_field", "time_unit", "max_depth",
  "isolation", "text", "framing", "message", "lp_layout", "lp_precision", "lp_measurements",
  "lp_fields", "lp_tags",
] as const;

export function emptyAddress(): Address {
  return {
    topic: "", format: "", from: "", until: "", partitions: "", key: "", headers: "", time_field: "", time_unit: "",
    max_depth: "", isolation: "", text: "", framing: "", message: "", lp_layout: "", lp_precision: "",
    lp_measurements: "", lp_fields: "", lp_tags: "", schema: "",
    view: "", fields: [], split: "", errors: false, record: "", rail: true, utc: false, theme: "",
  };
}

export function parseAddress(search: string, hash: string): Address {
  const query = new URLSearchParams(search);
  const out = emptyAddress();
  for (const key of kStreamKeys) out[key] = query.get(key) ?? "";
  const view = query.get("view");
  out.view = view === "table" || view === "series" ? view : "";
  out.fields = query.getAll("field");
  out.split = query.get("split") ?? "";
  out.errors = query.get("errors") === "1";
  out.record = /^\d+:\d+$/.test(query.get("record") ?? "") ? query.get("record")! : "";
  out.rail = query.get("rail") !== "0";
  out.utc = query.get("tz") === "utc";
  const theme = query.get("theme");
  out.theme = theme === "light" || theme === "dark" ? theme : "";
  out.schema = new URLSearchParams(hash.replace(/^#/, "")).get("schema") ?? "";
  return out;
}

export function formatAddress(address: Address): string {
  const query = new URLSearchParams();
  for (const key of kStreamKeys) if (address[key]) query.set(key, address[key]);
  if (address.view) query.set("view", address.view);
  for (const field of address.fields) query.append("field", field);
  if (address.split) query.set("split", address.split);
  if (address.errors) query.set("errors", "1");
  if (address.record) query.set("record", address.record);
  if (!address.rail) query.set("rail", "0");
  if (address.utc) query.set("tz", "utc");
  if (address.theme) query.set("theme", address.theme);
  const search = query.toString();
  const hash = address.schema ? `#${new URLSearchParams({ schema: address.schema }).toString()}` : "";
  return `${search ? `?${search}` : ""}${hash}`;
}

/** Equal keys ask for the same stream. */
export function streamKey(choice: StreamChoice): string {
  return JSON.stringify([...kStreamKeys.map((key) => choice[key]), choice.schema]);
}

/** Address of the WebSocket for a choice, relative to the page's origin. */
export function streamUrl(origin: string, choice: StreamChoice): string {
  const query = new URLSearchParams();
  for (const key of kStreamKeys) if (choice[key]) query.set(key === "key" ? "key_format" : key, choice[key]);
  if (choice.schema) query.set("schema", choice.schema);
  query.set("batch_latency", "50ms");
  return `${origin.replace(/^http/, "ws")}/ws?${query.toString()}`;
}

/** A link to one record: its partition from a little before it, so that its neighbours are there as well. */
export function recordAddress(address: Address, partition: number, offset: bigint): Address {
  const from = offset > 50n ? offset - 50n : 0n;
  return {
    ...address,
    view: "table",
    errors: false,
    partitions: String(partition),
    from: `offset:${from}`,
    until: "",
    record: `${partition}:${offset}`,
  };
}
