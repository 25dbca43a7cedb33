"""What happens to topic and broker while a stream runs."""

import signal
import time

from conftest import await_start, wait_for


def numbers(start, end):
    return [str(i) for i in range(start, end)]


def test_retention_passing_the_reader_is_a_counted_gap(tail, topic):
    one = topic()
    one.produce(numbers(0, 10))
    reader = tail(one, "--from", "earliest")
    reader.await_rows(10)
    reader.process.send_signal(signal.SIGSTOP)  # a reader that falls behind
    one.produce(numbers(10, 100))
    one.delete_records(60)
    reader.process.send_signal(signal.SIGCONT)
    one.produce(numbers(100, 110))
    wait_for(lambda: "109" in reader.texts(), "the newest row")
    shown = [int(text) for text in reader.texts()]
    assert shown == sorted(set(shown))
    assert set(range(60, 110)) <= set(shown)
    # A fetch that was on its way may have brought some of the records that are gone now.
    missing = 110 - len(shown)
    if missing:
        assert "gone" in reader.await_message("retention")


def test_partitions_added_while_streaming_are_read_from_their_beginning(tail, topic):
    from confluent_kafka.admin import NewPartitions
    one = topic(1)
    reader = tail(one, "--from", "latest")
    await_start(one, reader)
    one.admin.create_partitions([NewPartitions(one.name, 3)], request_timeout=60)[one.name].result(60)
    wait_for(lambda: one.partitions() == 3, "three partitions")
    one.produce(["first of 1"], partition=1)
    one.produce(["first of 2"], partition=2)
    wait_for(lambda: {"first of 1", "first of 2"} <= set(reader.texts()), "the rows of the new partitions")
    reader.await_message("3 partitions")


def test_a_topic_that_comes_later_is_read_whole(tail, topic):
    one = topic(name=f"late-{time.time_ns()}")
    one.delete()
    reader = tail(one, "--from", "latest")
    reader.await_message(one.name, "does not exist")
    one.create(1)
    one.produce(["a", "b"])
    assert reader.await_rows(2) and reader.texts() == ["a", "b"]


def test_a_missing_topic_ends_a_tail_that_has_an_end(tail):
    reader = tail("no-such-topic", "--until", "end")
    assert reader.end() == 1
    assert "no-such-topic" in reader.text() and "does not exist" in reader.text()


def test_recreation_is_noticed(tail, topic):
    one = topic()
    one.produce(numbers(0, 5))
    reader = tail(one, "--from", "earliest")
    reader.await_rows(5)
    one.delete()
    one.create(1)
    one.produce(numbers(100, 103))
    reader.await_message("deleted and created again")
    reader.await_rows(8)
    assert reader.texts()[5:] == ["100", "101", "102"]


def test_deletion_is_noticed(tail, topic):
    one = topic()
    one.produce(["a"])
    reader = tail(one, "--from", "earliest")
    reader.await_rows(1)
    one.delete()
    reader.await_message("does not exist any more")


def test_broker_killed_and_restarted_loses_and_doubles_nothing(kafka, tail, topic):
    one = topic(2)
    for partition in range(2):
        one.produce([f"{partition}-{i}" for i in range(200)], partition=partition)
    reader = tail(one, "--from", "earliest")
    reader.await_rows(400)
    kafka.brokers[0].kill()
    try:
        reader.await_message("no broker can be reached")
    finally:
        kafka.brokers[0].start()  # the other tests need it
    for partition in range(2):
        one.produce([f"{partition}-{i}" for i in range(200, 400)], partition=partition)
    reader.await_rows(800)
    for partition in range(2):
        texts = [text for p, _, text in reader.values() if p == partition]
        assert texts == [f"{partition}-{i}" for i in range(400)]
