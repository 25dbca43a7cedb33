"""The demo: its topics through `tail` and `topics`, the server's rules, a clean end."""

import io
import json
import subprocess

import pyarrow
import pytest
from program import BINARY, PATIENCE, rows, run, service, wait_for


@pytest.fixture(scope="module")
def demo():
    with service("demo", "--listen", "127.0.0.1:0") as running:
        running.brokers = running.read(r"broker:\s+(\S+)")
        wait_for(lambda: len(running.json("/api/v1/topics").get("topics", [])) >= 6, "the demo's topics")
        yield running


def tail(demo, topic, *options):
    return run("tail", topic, "--brokers", demo.brokers, "--json", *options)


def test_orders_have_exact_ids_keys_and_headers(demo):
    got = rows(tail(demo, "orders", "--from", "earliest", "--until", "count:50", "--key-format", "string", "--headers"))
    assert len(got) == 50
    assert all(row["order_id"] > 2**53 and row["key"].startswith("customer-") for row in got)
    assert json.loads(got[0]["headers"])[0] == ["source", "shop"]
    assert all(isinstance(json.loads(row["items"]), list) for row in got)


def test_every_topic_decodes(demo):
    for topic, form in [("orders", "json"), ("clicks", "json"), ("sensors", "json"), ("logs", "plaintext"),
                        ("metrics", "json"), ("metrics-influx", "lineprotocol")]:
        got = rows(tail(demo, topic, "--format", form, "--from", "earliest", "--until", "count:100"))
        assert len(got) == 100, topic
        assert all(row.get("error") is None for row in got), topic


def test_last_n_and_time_and_partition(demo):
    assert len(rows(tail(demo, "sensors", "--from", "last:7", "--until", "count:7"))) == 7
    offset = rows(tail(demo, "sensors", "--from", "earliest", "--until", "count:1"))[0]["offset"]
    got = rows(tail(demo, "sensors", "--partitions", "0", "--from", f"offset:{offset + 5}", "--until", "count:3"))
    assert [row["offset"] for row in got] == [offset + 5, offset + 6, offset + 7]
    assert "partition" not in got[0]


def test_bad_readings_are_rows_and_told_at_the_end(demo):
    result = tail(demo, "sensors", "--from", "earliest", "--until", "count:1200")
    bad = [row for row in rows(result) if row["error"]]
    assert bad and all(row["error"].startswith("invalid_json at byte") for row in bad)
    assert f"{len(bad)} error rows: invalid_json".encode() in result.stderr
    assert result.returncode == 0


def test_time_field_is_the_time(demo):
    got = rows(tail(demo, "sensors", "--from", "earliest", "--until", "count:20", "--time-field", "ts"))
    assert all(row["time"] is not None for row in got)


def test_arrow_streams_read_back(demo):
    result = run("tail", "clicks", "--brokers", demo.brokers, "--from", "earliest", "--until", "count:5000", "--arrow")
    data = io.BytesIO(result.stdout)
    total = 0
    while data.tell() < len(result.stdout):
        with pyarrow.ipc.open_stream(data) as reader:
            total += reader.read_all().num_rows
    assert total == 5000


def test_a_reader_that_leaves_is_no_failure(demo):
    with subprocess.Popen([BINARY, "tail", "clicks", "--brokers", demo.brokers, "--from", "earliest", "--json", "--quiet"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(PATIENCE) == 0


def test_ctrl_c_ends_a_tail_cleanly(demo):
    with subprocess.Popen([BINARY, "tail", "clicks", "--brokers", demo.brokers, "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        process.stdout.readline()
        process.terminate()
        rest = process.stdout.read()
        assert process.wait(PATIENCE) == 0
        for line in rest.splitlines():
            json.loads(line)  # whole rows only


def test_produce_and_topics(demo):
    assert run("topics", "create", "mine", "--partitions", "2", "--brokers", demo.brokers).returncode == 0
    result = run("produce", "mine", "--brokers", demo.brokers, "--count", "500", "--fields", "8", "--key", "sequence")
    assert result.returncode == 0 and b"delivered 500, failed 0" in result.stdout
    got = rows(tail(demo, "mine", "--from", "earliest", "--until", "end", "--key-format", "string"))
    assert sorted(int(row["key"]) for row in got) == list(range(500))
    listed = json.loads(run("topics", "list", "--json", "--brokers", demo.brokers).stdout)
    assert {"name": "mine", "internal": False, "partitions": 2, "records": 500} in listed
    described = json.loads(run("topics", "describe", "mine", "--json", "--brokers", demo.brokers).stdout)
    assert sum(part["end_offset"] for part in described["partitions"]) == 500


def test_unknown_topic_is_said_in_words(demo):
    result = tail(demo, "no-such-topic", "--until", "end")
    assert result.returncode == 1 and b"'no-such-topic' does not exist" in result.stderr


def test_server_answers_and_protects(demo):
    status, headers, body = demo.get("/")
    assert status == 200 and headers["Content-Security-Policy"].startswith("default-src 'none'") and "<" in body
    assert demo.json("/api/v1/status")["demo"] is True
    assert demo.get("/api/v1/status", {"Host": "evil.example"})[0] == 403
    assert demo.get("/api/v1/status", {"Origin": "http://evil.example"})[0] == 403
    assert "kafscope_records_received_total" in demo.get("/metrics")[2]


def test_token_from_file_and_environment(demo, tmp_path):
    (tmp_path / "token").write_text("s3cret-in-file\n")
    for options, env, token in [(["--token-file", str(tmp_path / "token")], {}, "s3cret-in-file"),
                                ([], {"KAFSCOPE_TOKEN": "s3cret-in-env"}, "s3cret-in-env")]:
        with service("serve", "--brokers", demo.brokers, "--listen", "127.0.0.1:0", *options, env=env) as server:
            assert server.get("/healthz")[0] == 200
            assert server.get("/metrics")[0] == 401
            status, _, body = server.get("/metrics", {"Authorization": f"Bearer {token}"})
            assert status == 200 and token not in body
            status, headers, _ = server.get(f"/?token={token}")
            assert status == 303 and "HttpOnly" in headers["Set-Cookie"] and headers["Location"] == "/"
            assert server.stop() == 0
            assert token not in server.said


def test_a_broker_that_is_not_there_is_a_reason_not_a_crash():
    with service("serve", "--brokers", "127.0.0.1:1", "--listen", "127.0.0.1:0") as server:
        state = wait_for(lambda: (lambda s: s["reason"] not in (None, "connecting") and s)(
            server.json("/api/v1/status")["broker_state"]), "the reason")
        assert state["connected"] is False
        assert server.stop() == 0


def test_the_demo_ends_by_sigterm():
    with service("demo", "--listen", "127.0.0.1:0") as running:
        assert running.get("/healthz")[0] == 200
        assert running.stop() == 0
