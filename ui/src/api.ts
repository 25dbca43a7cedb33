// The server's HTTP API (docs/web-api.md).

export interface ServerStatus {
  version: string;
  brokers: string;
  broker_state: { connected: boolean; reason?: string | null };
  registry: string | null;
  demo: boolean;
}

export interface TopicInfo {
  name: string;
  internal: boolean;
  partitions: number;
  records: number | null;
  rate: number | null;
  error?: string | null;
}

export interface TopicList {
  topics: TopicInfo[];
  sampled_at_ms: number;
}

export interface FormatInfo {
  name: string;
  help: string;
  schema: boolean;
  message: boolean;
}

export interface FormatList {
  formats: FormatInfo[];
  key_formats: (string | { name: string; help?: string })[];
}

export interface SchemaCheck {
  ok: boolean;
  messages?: string[];
  error?: { message: string; line?: number; column?: number };
}

/** A failed call: `message` is the server's word where it gave one. */
export class ApiError extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

async function readAnswer<T>(response: Response): Promise<T> {
  const text = await response.text();
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    body = null;
  }
  if (!response.ok || body === null) {
    const said = (body as { error?: { message?: string } } | null)?.error?.message;
    throw new ApiError(said ?? `HTTP status ${response.status}`, response.status);
  }
  return body as T;
}

const kTimeoutMs = 15_000;

export async function getJson<T>(path: string): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(kTimeoutMs), headers: { Accept: "application/json" } });
  } catch (error) {
    throw new ApiError((error as Error).message, 0);
  }
  return readAnswer<T>(response);
}

export async function checkSchema(format: string, schema: string): Promise<SchemaCheck> {
  let response: Response;
  try {
    response = await fetch("api/v1/schema/check", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ format, schema }),
      signal: AbortSignal.timeout(kTimeoutMs),
    });
  } catch (error) {
    throw new ApiError((error as Error).message, 0);
  }
  return readAnswer<SchemaCheck>(response);
}
