#!/bin/sh
# Starts a real Kafka by hand, prints its addresses, runs until Ctrl-C: tests/kafka/start.sh [BROKERS]
cd "$(dirname "$0")" || exit 1
python=../../.deps/venv/bin/python
[ -x "$python" ] || { echo "run scripts/setup.sh test first" >&2; exit 1; }
exec "$python" start.py "$@"
