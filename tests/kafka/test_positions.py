"""Where reading begins and ends, on a real Kafka."""

import pytest

from conftest import await_start


def read(tail, topic, *options):
    """All rows of a tail that ends at the end as seen."""
    one = tail(topic, *options)
    assert one.end() == 0, one.text()
    return one


def numbers(count, start=0):
    return [str(i) for i in range(start, start + count)]


@pytest.fixture(scope="module")
def timed(kafka):
    """Two partitions; partition 0 holds 0 … 9, a second apart from 1,700,000,000 s on, partition 1 is empty."""
    from conftest import Topic
    topic = Topic(kafka, 2)
    for i in range(10):
        topic.produce([str(i)], timestamp=1_700_000_000_000 + i * 1000)
    return topic


@pytest.mark.parametrize("start, first", [
    ("earliest", 0), ("latest", 10), ("last:3", 7), ("last:100", 0), ("last:0", 10), ("offset:4", 4),
    ("time:1700000004000", 4), ("time:1700000004001", 5), ("time:2023-11-14T22:13:29Z", 9),
    ("time:2040-01-01T00:00:00Z", 10),  # past the last record: the end
])
def test_start(tail, timed, start, first):
    rows = read(tail, timed, "--from", start, "--until", "end").values()
    assert rows == [(0, i, str(i)) for i in range(first, 10)]


@pytest.mark.parametrize("end, count", [("time:1700000003000", 3), ("time:1700000003001", 4), ("count:6", 6),
                                        ("count:0", 0), ("end", 10)])
def test_end(tail, timed, end, count):
    rows = read(tail, timed, "--from", "earliest", "--until", end).values()
    assert rows == [(0, i, str(i)) for i in range(count)]


def test_latest_gives_what_comes_after(tail, topic):
    one = topic()
    one.produce(numbers(5))
    reader = tail(one, "--from", "latest")
    await_start(one, reader)
    shown = [int(text) for text in reader.texts()]
    assert shown[0] >= 5
    assert shown == list(range(shown[0], shown[0] + len(shown)))


def test_chosen_partitions(tail, topic):
    one = topic(3)
    for partition in range(3):
        one.produce([f"p{partition}"], partition=partition)
    rows = read(tail, one, "--from", "earliest", "--until", "end", "--partitions", "2,0").values()
    assert sorted(rows) == [(0, 0, "p0"), (2, 0, "p2")]
    refused = tail(one, "--partitions", "7")
    assert refused.end() != 0
    assert "--partitions" in refused.text() and "7" in refused.text()


def test_each_partition_its_own_time(tail, topic):
    one = topic(3)
    one.produce(["before"], partition=0, timestamp=1_700_000_000_000)
    one.produce(["after"], partition=1, timestamp=1_700_000_010_000)
    rows = read(tail, one, "--from", "time:1700000005000", "--until", "end").values()
    assert rows == [(1, 0, "after")]


def test_offset_before_the_log_is_said(tail, topic):
    one = topic()
    one.produce(numbers(10))
    one.delete_records(6)
    reader = read(tail, one, "--from", "offset:2", "--until", "end")
    assert reader.texts() == numbers(4, 6)
    assert "offset 6" in reader.text() and "offset 2" in reader.text()


def test_no_group_appears_and_each_viewer_gets_every_row(kafka, tail, topic):
    one = topic()
    one.produce(numbers(100))
    readers = [tail(one, "--from", "earliest", "-X", "group.id=viewers") for _ in range(2)]
    for reader in readers:
        assert reader.await_rows(100) and reader.texts() == numbers(100)
    groups = one.admin.list_consumer_groups(request_timeout=60).result(60)
    assert not groups.valid and not groups.errors


def test_a_record_that_looks_like_a_marker_is_shown(tail, topic):
    one = topic()
    one.produce(["hello!"], key=b"\0\0\0\1")
    assert read(tail, one, "--from", "earliest", "--until", "end").texts() == ["hello!"]


def test_a_large_record_does_not_stop_the_others(tail, topic):
    one = topic(max_message_bytes=33554432)
    one.produce(["before", "x" * 20_000_000, "after"])
    reader = read(tail, one, "--from", "earliest", "--until", "end")
    texts = reader.texts()
    assert texts[0] == "before" and texts[-1] == "after"
    # Delivered, or skipped and said so.
    assert len(texts) == 3 or "skipped" in reader.text()
