"""`kafscope decode --registry` against franz-go's fake schema registry, which no one here wrote."""

import json
import os
import pathlib
import subprocess
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("KAFSCOPE_BINARY", str(ROOT / "build" / "release" / "bin" / "kafscope"))
PATIENCE = 300  # seconds, for a loaded machine


@pytest.fixture(scope="session")
def registry(tmp_path_factory):
    program = tmp_path_factory.mktemp("srfake") / "srfake"
    subprocess.run(["go", "build", "-o", program, "."], cwd=pathlib.Path(__file__).parent / "srfake", check=True,
                   timeout=1200)
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait(PATIENCE)


def register(registry, subject, schema, kind="AVRO", references=()):
    body = {"schema": schema if isinstance(schema, str) else json.dumps(schema), "schemaType": kind}
    if references:
        body["references"] = [{"name": n, "subject": s, "version": v} for n, s, v in references]
    request = urllib.request.Request(f"{registry}/subjects/{subject}/versions", json.dumps(body).encode(),
                                     {"Content-Type": "application/vnd.schemaregistry.v1+json"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.load(answer)["id"]


def framed(schema_id, payload_hex):
    return f"00{schema_id:08x}{payload_hex}"


def decode(registry, records, *options, code=0):
    """The rows; `code` is 1 where there is an error row."""
    done = subprocess.run([BINARY, "decode", "--registry", registry, "--input", "hex", "--json", *options],
                          input="\n".join(records) + "\n", capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == code, done.stderr
    return [{k: v for k, v in json.loads(line).items() if k not in ("offset", "time") and v is not None}
            for line in done.stdout.splitlines()]


def test_avro_each_record_by_its_own_schema(registry):  # cases.md 28
    first = register(registry, "pets-value", {"type": "enum", "name": "Pet", "symbols": ["CAT", "DOG"]})
    second = register(registry, "pets-value", {"type": "enum", "name": "Pet", "symbols": ["MOUSE", "CAT", "DOG"]})
    records = [framed(first, "00"), framed(second, "00"), framed(first, "02"), framed(second, "04")]
    assert decode(registry, records, "--format", "avro") == [
        {"value": "CAT"}, {"value": "MOUSE"}, {"value": "DOG"}, {"value": "DOG"}]


def test_avro_nested_references(registry):  # cases.md 29
    register(registry, "io.Kind", {"type": "enum", "name": "Kind", "namespace": "io", "symbols": ["A", "B"]})
    register(registry, "io.Source", {"type": "record", "name": "Source", "namespace": "io",
                                     "fields": [{"name": "kind", "type": "io.Kind"}]},
             references=[("io.Kind", "io.Kind", 1)])
    envelope = register(registry, "envelope-value", {"type": "record", "name": "Envelope", "fields": [
        {"name": "source", "type": "io.Source"}, {"name": "op", "type": "string"}]},
        references=[("io.Source", "io.Source", 1)])
    assert decode(registry, [framed(envelope, "020263")], "--format", "avro") == [{"source.kind": "B", "op": "c"}]


def test_unknown_id_is_an_error_row_and_the_rest_flows(registry):
    known = register(registry, "numbers-value", '"long"')
    rows = decode(registry, [framed(known, "02"), framed(99999, "02"), framed(known, "04")], "--format", "avro", code=1)
    assert rows[0] == {"value": 1} and rows[2] == {"value": 2}
    assert rows[1]["error"].startswith("unknown_schema at byte 0: schema 99999: ")


def test_a_schema_of_another_kind_is_told(registry):
    other = register(registry, "proto-value", 'syntax = "proto3"; message M { int32 a = 1; }', "PROTOBUF")
    rows = decode(registry, [framed(other, "00082a")], "--format", "avro", code=1)
    assert rows == [{"error": f"invalid_schema at byte 0: schema {other} of the registry is not an Avro schema"}]


def test_no_registry_there():
    rows = decode("http://127.0.0.1:1", [framed(1, "02")], "--format", "avro", code=1)
    assert len(rows) == 1 and rows[0]["error"].startswith("registry_unavailable at byte 0: schema 1: ")
