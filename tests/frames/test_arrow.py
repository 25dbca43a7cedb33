"""Arrow streams of ours, read by pyarrow and compared with the rows that `--json` prints."""

import base64
import io
import json
import math
import os
import pathlib
import subprocess

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("KAFSCOPE_BUILD", ROOT / "build" / "release"))
SAMPLES = BUILD / "tests" / "frames" / "frame_samples"


def read_streams(data):
    """All batches of the streams that stand one behind another."""
    source = io.BytesIO(data)
    while source.tell() < len(data):
        reader = ipc.open_stream(source)
        while True:
            try:
                batch = reader.read_next_batch()
            except StopIteration:
                break
            batch.validate(full=True)
            yield batch


def time_text(nanos):
    seconds, rest = divmod(nanos, 1_000_000_000)
    text = (pa.scalar(seconds, pa.timestamp("s")).as_py()).strftime("%Y-%m-%dT%H:%M:%S.")
    if rest % 1_000_000 == 0:
        return f"{text}{rest // 1_000_000:03}Z"
    if rest % 1000 == 0:
        return f"{text}{rest // 1000:06}Z"
    return f"{text}{rest:09}Z"


def values(column):
    """A column as `--json` shows it."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        assert kind == pa.timestamp("ns", tz="UTC")
        return [None if v is None else time_text(v) for v in column.cast(pa.int64()).to_pylist()]
    found = column.to_pylist()
    if pa.types.is_floating(kind):
        names = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return [v if v is None or math.isfinite(v) else names.get(v, "NaN") for v in found]
    if pa.types.is_binary(kind):
        return [None if v is None else base64.b64encode(v).decode() for v in found]
    return found


def rows_of(batch):
    names = batch.schema.names
    return [list(zip(names, row)) for row in zip(*(values(c) for c in batch.columns))]


@pytest.mark.parametrize("seed", range(25))
def test_pyarrow_reads_what_json_prints(seed, tmp_path):
    subprocess.run([SAMPLES, str(seed), tmp_path], check=True, timeout=60)
    lines = (tmp_path / "rows.ndjson").read_text(encoding="utf-8").split("\n")[:-1]
    expected = [json.loads(line, object_pairs_hook=list) for line in lines]
    for name in ("stream.arrows", "self_contained.arrows"):
        batches = list(read_streams((tmp_path / name).read_bytes()))
        assert [row for batch in batches for row in rows_of(batch)] == expected, name
        for batch in batches:
            assert int(batch.schema.metadata[b"kafscope.schema_version"]) >= 1
            assert batch.schema.field("offset").metadata[b"kafscope.role"] == b"offset"
            assert all(f.nullable and b"kafscope.role" in f.metadata for f in batch.schema)


@pytest.mark.parametrize("seed", range(5))
def test_each_frame_is_one_json_text(seed, tmp_path):
    subprocess.run([SAMPLES, str(seed), tmp_path], check=True, timeout=60)
    for line in (tmp_path / "frames.ndjson").read_text(encoding="utf-8").split("\n")[:-1]:
        frame = json.loads(line)
        assert len(frame["schema"]["fields"]) == len(frame["data"]["values"])
