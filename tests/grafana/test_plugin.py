"""The Grafana plugin's process, driven as Grafana drives it by grafana-host, on the demo's broker."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "program"))
from program import PATIENCE, service, wait_for  # noqa: E402

PLUGIN = pathlib.Path(os.environ.get("KAFSCOPE_PLUGIN", ROOT / "build/release/bin/gpx_kafscope_linux_amd64"))
SECRET = "a-password-that-must-not-be-logged"


@pytest.fixture(scope="session")
def host(tmp_path_factory):
    """The Go program that plays Grafana."""
    program = ROOT / "build" / "grafana-host"
    program.parent.mkdir(exist_ok=True)
    subprocess.run(["go", "build", "-o", program, "."], cwd=ROOT / "tests/grafana/host", check=True, timeout=900)
    return program


@pytest.fixture(scope="module")
def demo():
    with service("demo", "--listen", "127.0.0.1:0") as running:
        running.brokers = running.read(r"broker:\s+(\S+)")
        wait_for(lambda: len(running.json("/api/v1/topics").get("topics", [])) >= 5, "the demo's topics")
        yield running


@pytest.fixture
def call(host, tmp_path):
    """grafana-host with settings and a query; gives the finished process."""

    def run(command, brokers, query, *options):
        settings = {"url": "", "jsonData": {"bootstrapServers": brokers}, "secureJsonData": {"saslPassword": SECRET}}
        (tmp_path / "settings.json").write_text(json.dumps(settings))
        (tmp_path / "query.json").write_text(json.dumps({"refId": "A", **query}))
        arguments = [host, command, PLUGIN, "--settings", tmp_path / "settings.json"]
        if query:
            arguments += ["--query", tmp_path / "query.json"]
        result = subprocess.run([*map(str, arguments), *options], capture_output=True, text=True, timeout=3 * PATIENCE)
        assert SECRET not in result.stdout + result.stderr
        return result

    return run


def good(result):
    assert result.returncode == 0, result.stdout[-4000:] + result.stderr[-4000:]
    return result.stdout


def test_conformance(call):
    out = good(call("check", "127.0.0.1:1", {"topicName": "t"}, "--path", "v1/abc", "--orphan"))
    assert out.strip().splitlines()[-1] == "32 passed, 0 failed", out


@pytest.mark.parametrize("topic, options", [
    ("orders", {"keyFormat": "string", "headers": True}),
    ("clicks", {}),
    ("sensors", {}),
    ("logs", {"messageFormat": "plaintext"}),
    ("metrics-influx", {"messageFormat": "lineprotocol", "lineProtocolLayout": "wide"}),
])
def test_streams_hold_every_row_once(call, demo, topic, options):
    """grafana-host checks each packet: JSON, UTF-8, append-only columns, offsets without gap or repeat."""
    good(call("stream", demo.brokers, {"topicName": topic, "autoOffsetReset": "earliest", **options},
              "--rows", "200", "--for", "60s"))


def test_twenty_subscribers_share_one_stream(call, demo):
    good(call("stream", demo.brokers, {"topicName": "clicks", "alias": "{{topic}} {{field}}"}, "--subscribers", "20",
              "--rows", "500", "--for", "60s"))


def test_channel_of_an_answer(call, demo):
    """The way of DataSourceWithBackend: the path comes from meta.channel, and no data is sent."""
    good(call("stream", demo.brokers, {"topicName": "clicks"}, "--via-query", "--rows", "200", "--for", "60s"))


def test_history_and_live_are_one_reading(call, demo):
    good(call("stream", demo.brokers, {"topicName": "orders", "mode": "historyLive", "lookbackMs": 3_600_000},
              "--rows", "300", "--for", "60s"))


def test_history(call, demo):
    out = good(call("query", demo.brokers, {"topicName": "orders", "mode": "history", "downSampling": "none"},
                    "--from", "now-1h", "--to", "now", "--json"))
    assert "order_id" in out


def test_history_in_series(call, demo):
    out = good(call("query", demo.brokers, {"topicName": "sensors", "mode": "history", "seriesBy": ["sensor"]},
                    "--from", "now-1h", "--to", "now", "--json"))
    assert "sensor" in out


def test_alert_reduction(call, demo):
    good(call("query", demo.brokers, {"topicName": "orders", "mode": "history", "reduce": "count"},
              "--from", "now-1h", "--to", "now", "--json"))


def test_a_missing_topic_is_said(call, demo):
    result = call("query", demo.brokers, {"topicName": "no-such-topic", "mode": "history"}, "--from", "now-1h", "--to", "now")
    assert result.returncode == 1
    assert "no-such-topic" in result.stdout + result.stderr


def test_resources(call, demo):
    result = call("resource", demo.brokers, {}, "GET", "topics?prefix=or&limit=3")
    assert json.loads(good(result).strip().splitlines()[-1])["topics"] == ["orders"]
    result = call("resource", demo.brokers, {}, "GET", "partitions?topic=orders")
    assert json.loads(good(result).strip().splitlines()[-1])["topic"] == "orders"
