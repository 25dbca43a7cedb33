#!/usr/bin/env bash
# Runs each fuzz target for long: fuzz/long.sh [MINUTES] [TARGET…]   (15 minutes each unless told)
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${1:-15}
shift || true
. scripts/env.sh
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target fuzzers
for program in build/fuzz/fuzz/*_fuzz; do
  name=$(basename "$program")
  if [ $# -gt 0 ] && [[ " $* " != *" ${name%_fuzz} "* ]]; then continue; fi
  found=build/fuzz-found/$name
  mkdir -p "$found" "fuzz/corpus/$name"
  echo "$name: $minutes minutes"
  "$program" -max_total_time=$((minutes * 60)) -rss_limit_mb=3072 -timeout=60 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$found/" "$found" "fuzz/corpus/$name" >"$found.log" 2>&1 ||
    { echo "$name: FOUND something: $found.log" >&2; exit 1; }
  grep -h number_of_executed_units "$found.log"
done
