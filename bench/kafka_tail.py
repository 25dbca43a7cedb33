"""What bench/kafka_tail.sh runs: the same topic drained by both, in turns, since rates vary from minute to minute."""

import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "kafka"))
from cluster import Cluster  # noqa: E402

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
KAFSCOPE = os.environ.get("KAFSCOPE_BINARY", str(ROOT / "build/release/bin/kafscope"))
DRAIN = os.environ.get("KAFKA_DRAIN", str(ROOT / "build/bench/bench/kafka_drain"))
VALUE = "2024-01-01T00:00:00Z sensor-01 value=21.5".ljust(100, ".")


def fill(brokers, topic):
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic
    admin = AdminClient({"bootstrap.servers": brokers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    producer = Producer({"bootstrap.servers": brokers, "linger.ms": 20, "batch.num.messages": 10000,
                         "queue.buffering.max.messages": 1000000})
    for i in range(RECORDS):
        while True:
            try:
                producer.produce(topic, VALUE)
                break
            except BufferError:
                producer.poll(0.1)
        if i % 1000 == 0:
            producer.poll(0)
    assert producer.flush(300) == 0


def run(*command):
    """Seconds and CPU seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with Cluster() as kafka:
    brokers = kafka.bootstrap()
    fill(brokers, "drain")
    commands = {
        "librdkafka": (DRAIN, brokers, "drain"),
        "kafscope tail": (KAFSCOPE, "tail", "drain", "--brokers", brokers, "--format", "plaintext", "--from", "earliest",
                          "--until", "end", "--arrow"),
    }
    runs = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            runs[name].append(run(*command))
    rates = {}
    for name, results in runs.items():
        rates[name] = RECORDS / statistics.median(seconds for seconds, _ in results)
        cpu = statistics.median(cpu for _, cpu in results) / RECORDS * 1e6
        print(f"{name:14} {rates[name] / 1e3:8.0f} k records/s   {cpu:.2f} CPU-us a record   (median of {ROUNDS})")
    print(f"ratio          {rates['kafscope tail'] / rates['librdkafka']:.2f}")
