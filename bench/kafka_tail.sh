#!/bin/sh
# Compares `kafscope tail T --until end --arrow` with a bare librdkafka reader on one topic of a real Kafka:
#   bench/kafka_tail.sh [RECORDS] [ROUNDS]
# Needs: scripts/setup.sh test; the presets release (kafscope) and bench (kafka_drain), built.
cd "$(dirname "$0")/.." || exit 1
exec .deps/venv/bin/python bench/kafka_tail.py "$@"
