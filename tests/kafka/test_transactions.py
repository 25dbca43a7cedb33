"""Transactions, markers, compaction: offsets that are not records."""

from conftest import wait_for


def read(tail, topic, *options):
    one = tail(topic, "--until", "end", *options)
    assert one.end() == 0, one.text()
    return one


def test_aborted_records_are_not_shown_and_markers_are_no_records(tail, topic):
    one = topic()
    one.produce(["a"])
    one.transaction(["committed"])
    one.transaction(["aborted"], commit=False)
    one.produce(["b"])
    assert read(tail, one, "--from", "earliest").texts() == ["a", "committed", "b"]
    everything = read(tail, one, "--from", "earliest", "--isolation", "read_uncommitted").texts()
    assert everything == ["a", "committed", "aborted", "b"]


def test_last_n_walks_back_over_markers(tail, topic):
    one = topic()
    one.produce([str(i) for i in range(60)])
    # Each leaves an aborted record and a marker behind.
    for _ in range(5):
        one.transaction(["aborted"] * 9, commit=False)
    assert one.end_offset() == 110
    assert read(tail, one, "--from", "last:50").texts() == [str(i) for i in range(10, 60)]
    assert read(tail, one, "--from", "last:1000").texts() == [str(i) for i in range(60)]


def test_open_transaction_is_given_as_the_reason(tail, topic):
    one = topic()
    one.produce(["before"])
    producer = one.transaction(["waits"], commit=None)
    one.produce(["behind"])
    ended = read(tail, one, "--from", "earliest")
    assert ended.texts() == ["before"]
    assert "open transaction" in ended.text() and "last stable offset" in ended.text()

    reader = tail(one, "--from", "earliest")
    reader.await_message("open transaction")
    assert reader.texts() == ["before"]
    producer.commit_transaction(60)
    reader.await_rows(3)
    assert reader.texts() == ["before", "waits", "behind"]


def test_compaction_gaps(tail, topic):
    one = topic(cleanup_policy="compact", segment_ms=100, min_cleanable_dirty_ratio="0.01", min_compaction_lag_ms=0,
                max_compaction_lag_ms=1000, delete_retention_ms=0)
    for i in range(60):
        one.produce([f"{i}"], key="same" if i % 3 else f"key-{i}")

    def compacted():
        # The active segment is not compacted: a new record closes it.
        one.produce(["filler"], key="filler")
        texts = read(tail, one, "--from", "earliest").texts()
        return texts if len([t for t in texts if t != "filler"]) < 45 else None

    assert wait_for(compacted, "compaction")[0] == "0"

    def last_ten_are_right():
        # The cleaner may still be at work: what counts is a log that did not change meanwhile.
        before = read(tail, one, "--from", "earliest").values()
        last = read(tail, one, "--from", "last:10").values()
        if read(tail, one, "--from", "earliest").values() != before:
            return False
        assert len(before) >= 10 and last == before[-10:]
        return True

    wait_for(last_ten_are_right, "a log that the cleaner leaves alone")


def test_ten_partitions_on_three_brokers_are_complete(three_brokers, tail):
    from conftest import Topic
    one = Topic(three_brokers, 10, 3)
    for partition in range(10):
        one.transaction([f"{partition}-{i}" for i in range(20)], partition=partition)
    reader = tail(one, "--from", "earliest", "--until", "end", brokers=three_brokers.bootstrap())
    assert reader.end() == 0, reader.text()
    assert sorted(reader.texts()) == sorted(f"{p}-{i}" for p in range(10) for i in range(20))


def test_the_death_of_a_leader_loses_and_doubles_nothing(three_brokers, tail):
    from conftest import Topic
    one = Topic(three_brokers, 3, 3)
    reader = tail(one, "--from", "earliest", brokers=three_brokers.bootstrap())
    for partition in range(3):
        one.produce([f"{partition}-{i}" for i in range(100)], partition=partition)
    reader.await_rows(300)
    victim = three_brokers.brokers[1]
    victim.kill()
    try:
        for partition in range(3):
            one.produce([f"{partition}-{i}" for i in range(100, 200)], partition=partition)
        reader.await_rows(600)
    finally:
        victim.start()
    for partition in range(3):
        one.produce([f"{partition}-{i}" for i in range(200, 300)], partition=partition)
    reader.await_rows(900)
    for partition in range(3):
        texts = [text for p, _, text in reader.values() if p == partition]
        assert texts == [f"{partition}-{i}" for i in range(300)]
