#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. The last line is `N passed, N failed`; not 0 on failure.
#
#   ./test.sh                     all stages
#   ./test.sh --quick             format, build, unit tests
#   ./test.sh --stages unit,asan  only these          ./test.sh --list   what there is
#
# FUZZ_SECONDS=N: how long each fuzz target runs (10; 30 in CI).
set -euo pipefail
cd "$(dirname "$0")"
scripts/setup.sh test
# shellcheck source=scripts/env.sh
. scripts/env.sh
exec /usr/bin/python3 scripts/run_tests.py "$@"
