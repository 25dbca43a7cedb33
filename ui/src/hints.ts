// A failure's words → what to change. The reason itself is the broker's or the server's and is shown as it came; the
// hint names the option. First match wins, so the narrow patterns stand first.

const kHints: [RegExp, string][] = [
  [/certificate verify|unknown ca|self.signed|unable to get local issuer/i,
    "The broker's certificate is not trusted: set -X ssl.ca.location to the CA that signed it."],
  [/host ?name.*(mismatch|verif)|(mismatch|verif).*host ?name/i,
    "The certificate is for another host name: use that name in --brokers, or set -X ssl.endpoint.identification.algorithm."],
  [/sasl|authentication/i,
    "Check -X sasl.username, -X sasl.password and -X sasl.mechanism of the server."],
  [/authori[sz]ation|not authori[sz]ed|acl/i,
    "The user may not read this topic: grant READ and DESCRIBE, or change -X sasl.username."],
  [/ssl|tls|handshake|security.protocol/i,
    "The port and the protocol do not fit: check -X security.protocol and the port in --brokers."],
  [/unknown topic|topic .*(not exist|does not|unknown|deleted)|no such topic/i,
    "Check the topic's name: the list at the left shows those of this broker."],
  [/partition/i, "Check the partitions chosen for this topic."],
  [/registry|schema id/i, "Check --registry of the server, or give a schema under Options."],
  [/schema|message type/i, "Check the schema under Options."],
  [/refused|transport|broker|timed out|timeout|resolve|unreachable|disconnected/i,
    "Check that the broker runs and that --brokers names its address."],
  [/token|401|403/i, "Open the page once with ?token=… as the server printed it."],
];

export function hintFor(reason: string): string {
  for (const [pattern, hint] of kHints) if (pattern.test(reason)) return hint;
  return "";
}

/** Faults that waiting does not cure soon: the page tries again all the same, but slowly. */
export function isLasting(reason: string): boolean {
  return /unknown topic|not exist|authori[sz]|sasl|certificate|schema|option|invalid|must be/i.test(reason);
}

/** Seconds until the next try, after `failures` in a row. */
export function retryDelay(failures: number, lasting: boolean): number {
  return lasting ? 10 : Math.min(15, 2 ** Math.max(0, failures - 1));
}
