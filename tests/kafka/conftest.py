"""Fixtures: a broker for the whole session, three brokers for the tests of failover, and `kafscope tail` as a process."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cluster import ROOT, Cluster  # noqa: E402

BINARY = os.environ.get("KAFSCOPE_BINARY", str(ROOT / "build" / "release" / "bin" / "kafscope"))
PATIENCE = 120  # seconds, for a loaded machine; waits end as soon as what they wait for is there


def wait_for(condition, what, patience=PATIENCE):
    """Gives condition()'s first true value."""
    deadline = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience} s for {what}")
        time.sleep(0.05)


class Tail:
    """`kafscope tail TOPIC --format plaintext --json …`: its rows and messages as they come."""

    def __init__(self, brokers, topic, *options):
        command = [BINARY, "tail", topic, "--brokers", brokers, "--format", "plaintext", "--json", *options]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.rows = []
        self.messages = []
        self._threads = [threading.Thread(target=self._read_rows, daemon=True),
                         threading.Thread(target=self._read_messages, daemon=True)]
        for thread in self._threads:
            thread.start()

    def _read_rows(self):
        for line in self.process.stdout:
            self.rows.append(json.loads(line))

    def _read_messages(self):
        for line in self.process.stderr:
            self.messages.append(line)

    def await_rows(self, count):
        def enough():
            if self.process.poll() is not None and len(self.rows) < count:
                self._threads[0].join(10)
                assert len(self.rows) >= count, f"tail ended with {len(self.rows)} of {count} rows: {self.text()}"
            return len(self.rows) >= count
        try:
            wait_for(enough, f"{count} rows")
        except AssertionError as error:
            raise AssertionError(f"{error}: {len(self.rows)} rows; {self.text()}") from None
        return self.rows

    def await_message(self, *words):
        """Waits for a line on standard error that holds all of `words`."""
        def said():
            return next((m for m in list(self.messages) if all(w in m for w in words)), None)
        try:
            return wait_for(said, f"a message with {words}")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.text()}") from None

    def end(self):
        """Waits until it ends by itself; gives its exit code."""
        code = self.process.wait(PATIENCE)
        for thread in self._threads:
            thread.join(PATIENCE)
        return code

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(30)
        for thread in self._threads:
            thread.join(30)

    def text(self):
        return "".join(self.messages)

    def values(self):
        """(partition, offset, message) of each row; the partition is left out of the rows where only one is read."""
        return [(row.get("partition", 0), row["offset"], row["message"]) for row in self.rows]

    def texts(self):
        return [row["message"] for row in self.rows]


class Topic:
    """A topic of its own for a test, and what tests do with it."""

    def __init__(self, kafka, partitions=1, replication=1, name=None, **config):
        from confluent_kafka import Producer
        from confluent_kafka.admin import AdminClient
        self.kafka = kafka
        self.name = name or f"t-{uuid.uuid4().hex[:12]}"
        self.admin = AdminClient({"bootstrap.servers": kafka.bootstrap()})
        self.create(partitions, replication, **config)
        self.producer = Producer({"bootstrap.servers": kafka.bootstrap(), "linger.ms": 5,
                                  "message.max.bytes": 33554432, "topic.metadata.refresh.interval.ms": 1000})

    def create(self, partitions=1, replication=1, **config):
        from confluent_kafka.admin import NewTopic
        settings = {key.replace("_", "."): str(value) for key, value in config.items()}
        futures = self.admin.create_topics([NewTopic(self.name, partitions, replication, config=settings)],
                                           request_timeout=60)
        futures[self.name].result(60)
        wait_for(lambda: self.partitions() == partitions, f"topic {self.name}")

    def partitions(self):
        metadata = self.admin.list_topics(self.name, timeout=60).topics[self.name]
        return 0 if metadata.error is not None else len(metadata.partitions)

    def delete(self):
        self.admin.delete_topics([self.name], request_timeout=60)[self.name].result(60)
        wait_for(lambda: self.name not in self.admin.list_topics(timeout=60).topics, "the topic's deletion")

    def produce(self, values, partition=0, **more):
        """Sends and waits until all are confirmed."""
        failed = []
        # A producer learns of new partitions by itself only after a while.
        wait_for(lambda: partition in self.producer.list_topics(self.name, timeout=60).topics[self.name].partitions,
                 f"partition {partition}")
        for value in values:
            while True:
                try:
                    self.producer.produce(self.name, value, partition=partition,
                                          on_delivery=lambda error, _: failed.append(error) if error else None, **more)
                    break
                except BufferError:
                    self.producer.poll(0.1)
            self.producer.poll(0)
        assert self.producer.flush(PATIENCE) == 0
        assert not failed, failed

    def transaction(self, values, commit=True, partition=0):
        from confluent_kafka import Producer
        producer = Producer({"bootstrap.servers": self.kafka.bootstrap(), "transactional.id": uuid.uuid4().hex})
        producer.init_transactions(60)
        producer.begin_transaction()
        for value in values:
            producer.produce(self.name, value, partition=partition)
        assert producer.flush(60) == 0
        if commit is None:
            return producer  # open
        if commit:
            producer.commit_transaction(60)
        else:
            producer.abort_transaction(60)
        return None

    def end_offset(self, partition=0):
        from confluent_kafka import TopicPartition
        from confluent_kafka.admin import OffsetSpec
        where = TopicPartition(self.name, partition)
        return self.admin.list_offsets({where: OffsetSpec.latest()}, request_timeout=60)[where].result(60).offset

    def delete_records(self, before, partition=0):
        from confluent_kafka import TopicPartition
        where = TopicPartition(self.name, partition, before)
        for future in self.admin.delete_records([where], request_timeout=60).values():
            future.result(60)


def await_start(topic, reader):
    """Sends records 5, 6, … until a reader from the latest shows one: from then on it sees all that comes."""
    number = 5

    def started():
        nonlocal number
        topic.produce([str(number)])
        number += 1
        time.sleep(0.05)
        return reader.rows

    wait_for(started, "a row of a reader from the latest")
    reader.await_rows(1)


@pytest.fixture(scope="session")
def kafka():
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def three_brokers():
    with Cluster(brokers=3) as cluster:
        yield cluster


@pytest.fixture
def topic(kafka):
    return lambda *args, **more: Topic(kafka, *args, **more)


@pytest.fixture
def tail(kafka):
    """tail(topic, *options): one that reads the shared broker's plaintext door; ended with the test."""
    started = []

    def start(name, *options, brokers=None):
        one = Tail(brokers or kafka.bootstrap(), getattr(name, "name", name), *options)
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop()
