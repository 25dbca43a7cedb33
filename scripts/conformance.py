#!/usr/bin/env python3
"""Makes docs/conformance.md: each public corpus, the cases run, those passed, and every deviation with its rule.

    scripts/conformance.py --build build/release            writes docs/conformance.md
    scripts/conformance.py --build build/release --check    fails if the file says something else

The tests of the corpora decide: those that leave a file of counts (KAFSCOPE_CONFORMANCE_OUT) are taken by it; the
others fail on any case that differs, so their cases are counted here from the data and all pass or none.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPORA = ROOT / "tests" / "corpora"
PAGE = ROOT / "docs" / "conformance.md"

HEAD = """# Conformance

Made by `scripts/conformance.py --build build/release`; a test checks that it is true. "Passed" means: the outcome that
the corpus states, value by value where it states values. A deviation stands only where the corpus leaves the outcome
open or a rule of ours decides; each is named. What is not supported, with the error that a user sees: `limits.md`.
Origin and licence of each corpus: `NOTICE` in its folder under `tests/corpora`.

| corpus | cases | passed | deviations |
|---|---|---|---|
"""


def lines(pattern):
    return sum(1 for file in sorted(CORPORA.glob(pattern)) for line in file.read_bytes().splitlines() if line.strip())


def records(corpus):
    return sum(len(json.loads(file.read_text())["records"]) for file in CORPORA.glob(f"{corpus}/*.expected.json"))


def wire_vectors():
    text = (CORPORA / "confluent-wire" / "vectors.jsonl").read_text()
    cases = [json.loads(line) for line in text.splitlines() if line.strip()]
    old = sum(1 for case in cases if not case.get("zigzag", True))
    return len(cases), {"message indexes without zig-zag, the deprecated form of one old client: not told apart": old}


# (corpus, program, test, counter): every case of these is asserted by the test.
ASSERTED = [
    ("json-testsuite", "decode", "JsonCorpora.JsonTestSuite", lambda: lines("json-testsuite/cases.jsonl")),
    ("json-yyjson", "decode", "JsonCorpora.Yyjson*",
     lambda: lines("json-yyjson/cases.jsonl") + lines("json-yyjson/numbers.jsonl")),
    ("json-numbers-f64", "decode", "JsonCorpora.NumbersHaveTheirBits", lambda: lines("json-numbers-f64/*.txt")),
    ("json-docs", "decode", "JsonCorpora.NdjsonLinesDecode",
     lambda: lines("json-docs/amazon_cellphones.ndjson") + lines("json-docs/debezium.ndjson")),
    ("text-utf8", "decode", "TextCorpora.Utf8Tests", lambda: lines("text-utf8/*.jsonl")),
    ("text-blns", "decode", "TextCorpora.NaughtyStrings", lambda: lines("text-blns/blns.jsonl")),
    ("lp-corpus", "decode", "LineProtocol.CorpusOfInflux", lambda: lines("lp-corpus/decode.jsonl")),
    ("lp-telegraf", "decode", "LineProtocol.CorpusOfTelegraf",
     lambda: len(list(CORPORA.glob("lp-telegraf/*.lp")))),
    ("lp-questdb", "decode", "LineProtocol.CorpusOfQuestDb", lambda: lines("lp-questdb/interop.jsonl")),
    ("avro-apache", "decode", "AvroCorpora.Apache", lambda: records("avro-apache")),
    ("avro-apache (canonical forms)", "schema", "AvroSchema.CorpusCanonicalForms",
     lambda: lines("avro-apache/canonical.jsonl")),
    ("avro-fastavro", "decode", "AvroCorpora.Fastavro", lambda: records("avro-fastavro")),
    ("avro-goavro", "decode", "AvroCorpora.Goavro", lambda: records("avro-goavro")),
    ("avro-hamba", "decode", "AvroCorpora.Hamba", lambda: records("avro-hamba")),
    ("avro-datums", "decode", "AvroCorpora.Datums", lambda: lines("avro-datums/*.datums.jsonl")),
    ("confluent-wire", "schema", "WireFormat.Corpus", wire_vectors),
]
COUNTED = ["pb-conformance", "pb-golden", "pb-hyperpb", "pb-mapbox", "pb-protoscope", "pb-schemas"]


def run(build, program, tests, counts):
    binary = build / "src" / program / f"{program}_test"
    result = pathlib.Path(counts) / f"{program}.json"
    # The data of the repository, not a larger set beside it: the page is the same everywhere.
    environment = dict(os.environ, KAFSCOPE_CONFORMANCE_OUT=counts, KAFSCOPE_CORPORA=str(CORPORA))
    subprocess.run([binary, f"--gtest_filter={':'.join(tests)}", f"--gtest_output=json:{result}"], env=environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=False)
    outcome = {}
    for suite in json.loads(result.read_text())["testsuites"]:
        for test in suite["testsuite"]:
            outcome[f"{suite['name']}.{test['name']}"] = test.get("result") == "COMPLETED" and "failures" not in test
    return outcome


def passes(outcome, pattern):
    names = [name for name in outcome if name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))]
    return bool(names) and all(outcome[name] for name in names)


def row(corpus, total, passed, deviations):
    text = "; ".join(f"{count}: {rule}" for rule, count in sorted(deviations.items()) if count) or "–"
    return f"| {corpus} | {total} | {passed} | {text} |\n"


def make(build):
    with tempfile.TemporaryDirectory() as counts:
        outcome = run(build, "schema", [test for _, program, test, _ in ASSERTED if program == "schema"], counts)
        tests = [test for _, program, test, _ in ASSERTED if program == "decode"] + ["ProtobufCorpora.*-ProtobufCorpora.Sources"]  # its sources are not in the repository
        outcome.update(run(build, "decode", tests, counts))
        table = ""
        for corpus, _, test, counter in ASSERTED:
            counted = counter()
            total, deviations = counted if isinstance(counted, tuple) else (counted, {})
            passed = total - sum(deviations.values()) if passes(outcome, test) else 0
            table += row(corpus, total, passed, deviations)
        for corpus in COUNTED:
            counted = json.loads((pathlib.Path(counts) / f"{corpus}.json").read_text())
            table += row(corpus, counted["total"], counted["passed"], counted["deviations"])
        failed = sorted(name for name, good in outcome.items() if not good)
    return HEAD + table, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build folder")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    text, failed = make(options.build)
    for name in failed:
        print(f"failed: {name}", file=sys.stderr)
    if options.check:
        if PAGE.read_text() != text:
            print(f"docs/conformance.md is not what the tests say; it should be:\n{text}", file=sys.stderr)
            return 1
    else:
        PAGE.write_text(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
