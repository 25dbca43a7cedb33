// Why the view is empty, in one sentence, and what to press.
import type { Address } from "./address";
import type { TopicInfo } from "./api";
import { count } from "./format";
import type { Stream } from "./stream";

export interface Explanation {
  text: string;
  action: "" | "last100" | "earliest" | "all" | "read_again";
  label: string;
}

/** Only where there is no row to show; null where nothing needs saying. */
export function explain(stream: Stream, address: Address, topic: TopicInfo | undefined, now: number): Explanation | null {
  const plain = (text: string): Explanation => ({ text, action: "", label: "" });
  if (!address.topic) return plain("Choose a topic at the left: its records appear here as they arrive.");
  if (address.errors && stream.ring.rows > 0) {
    return { text: `None of the ${count(stream.ring.rows)} rows here is an error.`, action: "all", label: "Show all rows" };
  }
  if (stream.phase === "connecting") return plain(`Opening ${address.topic} …`);
  if (stream.phase === "retrying") return plain(`No rows of ${address.topic} yet: see the message above.`);
  if (stream.ring.endSeq > 0) {
    return { text: "The rows were cleared; new ones appear here as they arrive.", action: "read_again", label: "Read again" };
  }
  const records = topic?.records ?? null;
  if (stream.phase === "ended") {
    return { text: `The end was reached: no record of ${address.topic} is in the range that was asked for.`,
      action: "earliest", label: "Show from the start" };
  }
  if (records === 0) return plain(`${address.topic} holds no record yet; the first one appears here by itself.`);
  const waited = Math.max(0, Math.round((now - stream.lastRowAt) / 1000));
  const holds = records === null ? "" : `${address.topic} holds ${count(records)} ${records === 1 ? "record" : "records"}; `;
  if (address.from === "" || address.from === "latest") {
    return { text: `${holds}you are at its end, and none has arrived for ${waited} s.`, action: "last100", label: "Show the last 100" };
  }
  return { text: `${holds}none has arrived from ${address.from} on for ${waited} s.`, action: "last100", label: "Show the last 100" };
}
