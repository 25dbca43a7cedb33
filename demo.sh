#!/usr/bin/env bash
# Installs what is missing, builds Kafscope and runs its demo: an embedded broker, sample topics with live producers and
# the browser page. Prints the address; Ctrl-C ends it. Needs no Kafka and no Grafana.
#
#   ./demo.sh [--listen 127.0.0.1:8080 …]     options go to `kafscope demo`
#   ./demo.sh --build-only                    only installs and builds: build/release/bin/kafscope
set -euo pipefail
cd "$(dirname "$0")"
build_only=no
if [ "${1:-}" = --build-only ]; then build_only=yes; shift; fi
scripts/setup.sh build
# shellcheck source=scripts/env.sh
. scripts/env.sh
[ -x scripts/build_ui.sh ] && scripts/build_ui.sh
cmake --preset release >build-configure.log || { cat build-configure.log >&2; exit 1; }
rm -f build-configure.log
cmake --build --preset release --target kafscope
[ "$build_only" = yes ] && { echo "built: build/release/bin/kafscope"; exit 0; }
exec build/release/bin/kafscope demo "$@"
