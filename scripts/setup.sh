#!/usr/bin/env bash
# Installs what Kafscope needs on Debian 12 and is missing. Run by demo.sh (build) and test.sh (test).
#
#   scripts/setup.sh build      what ./demo.sh needs: compilers, libraries, Node, pinned sources
#   scripts/setup.sh test       that, and what ./test.sh needs: clang, Chromium, Java and Kafka, Go, Python packages
#
# Packages come from Debian by apt (root or sudo); Node and Go, where Debian's are too old, from PyPI into .deps; Kafka's
# jars by Maven into .deps. A second run finds everything there and does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-build}
deps=${KAFSCOPE_DEPS_DIR:-$PWD/.deps}
mkdir -p "$deps"

build_packages=(ca-certificates ccache cmake curl fonts-dejavu-core g++ git libabsl-dev libboost-dev libc-ares-dev
  libcli11-dev libexpected-dev libflatbuffers-dev libfmt-dev libgmock-dev libgrpc++-dev libgtest-dev liblz4-dev
  libprotobuf-dev libprotoc-dev libre2-dev libspdlog-dev libssl-dev libzstd-dev make ninja-build nlohmann-json3-dev
  patch pkg-config protobuf-compiler protobuf-compiler-grpc python3 python3-venv zip zlib1g-dev)
test_packages=(binutils chromium clang-19 clang-format-19 clang-tidy-19 libavro-dev libclang-rt-19-dev lld-19 llvm-19
  maven openjdk-17-jre-headless openssl procps)

install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$name" 2>/dev/null | grep -q '^installed$' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "setup: installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "setup: needs root or sudo to install: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  local try
  for try in 1 2 3; do
    if "${as_root[@]}" apt-get update -qq >"$deps/apt.log" 2>&1 &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        "${missing[@]}" >>"$deps/apt.log" 2>&1; then
      return 0
    fi
    sleep 5
  done
  tail -20 "$deps/apt.log" >&2
  echo "setup: apt-get could not install ${missing[*]}" >&2
  exit 1
}

# at_least HAVE WANT: version comparison.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -1)" = "$2" ]; }

make_venv() {
  local wanted=$deps/venv/wanted
  cmp -s scripts/requirements-"$1".txt "$wanted-$1" 2>/dev/null && return 0
  echo "setup: installing Python packages ($1) into .deps/venv"
  # The distribution's Python, whatever else is on the PATH: the same version on every machine.
  [ -x "$deps/venv/bin/python" ] || /usr/bin/python3 -m venv "$deps/venv"
  local try
  for try in 1 2 3; do
    "$deps/venv/bin/pip" install --quiet --disable-pip-version-check -r scripts/requirements-"$1".txt && break
    [ "$try" = 3 ] && { echo "setup: pip could not install scripts/requirements-$1.txt" >&2; exit 1; }
    sleep 5
  done
  cp scripts/requirements-"$1".txt "$wanted-$1"
}

install_node() {
  if command -v node >/dev/null && command -v npm >/dev/null && at_least "$(node --version | tr -d v)" 20.0.0; then
    return 0
  fi
  make_venv node
}

install_go() {
  if command -v go >/dev/null && at_least "$(go env GOVERSION | tr -d go)" 1.25; then return 0; fi
  make_venv go
}

install_kafka() {
  local stamp=$deps/kafka/stamp
  cmp -s scripts/kafka.pom.xml "$stamp" 2>/dev/null && return 0
  echo "setup: fetching Apache Kafka's jars by Maven"
  rm -rf "$deps/kafka"
  mkdir -p "$deps/kafka"
  local try
  for try in 1 2 3; do
    mvn -B -q -f scripts/kafka.pom.xml dependency:copy-dependencies -DoutputDirectory="$(cd "$deps" && pwd -P)/kafka/jars" \
      -DincludeScope=runtime >"$deps/maven.log" 2>&1 && break
    [ "$try" = 3 ] && { tail -20 "$deps/maven.log" >&2; echo "setup: Maven could not fetch Kafka" >&2; exit 1; }
    sleep 5
  done
  cp scripts/kafka.pom.xml "$stamp"
}

case $what in
  build) install_packages "${build_packages[@]}" ;;
  test) install_packages "${build_packages[@]}" "${test_packages[@]}" ;;
  *) echo "usage: scripts/setup.sh [build|test]" >&2; exit 2 ;;
esac
install_node
# shellcheck source=scripts/env.sh
. scripts/env.sh
scripts/fetch_sources.sh "$what"
if [ "$what" = test ]; then
  install_go
  make_venv test
  install_kafka
fi
echo "setup: all that $what needs is there"
