#!/usr/bin/env bash
# Fetches the pinned third-party sources into .deps, by their checksums, and builds librdkafka (static).
#
#   scripts/fetch_sources.sh [build]    .deps/librdkafka/{include,lib}, .deps/simdjson/simdjson.{h,cpp}
#   scripts/fetch_sources.sh test       and .deps/librdkafka-tsan, for the tests under ThreadSanitizer
#
# A second run finds the stamps and does nothing. Needs npm, python3 with venv, a C compiler and the -dev packages that
# scripts/setup.sh installs.
set -euo pipefail
cd "$(dirname "$0")/.."
what=${1:-build}
deps=${KAFSCOPE_DEPS_DIR:-$PWD/.deps}
mkdir -p "$deps/download"
deps=$(cd "$deps" && pwd -P)

rdkafka_sha=ada7d703bb1d3237e2292bfabf438d663b6160c9f1ac2a2406b5dc4257c81b66
simdjson_sha=44cf276e48912a3b9c7ca362c14da8420a7ac15a9f1a16ec95becff86db3904a

# fetch FILE SHA COMMAND…: runs COMMAND in the download folder unless FILE is there with its checksum.
fetch() {
  local file=$1 sha=$2 try
  shift 2
  for try in 1 2 3; do
    if (cd "$deps/download" && echo "$sha  $file" | sha256sum --check --status 2>/dev/null); then return 0; fi
    (cd "$deps/download" && "$@" >"$file.log" 2>&1) || { [ "$try" = 3 ] && tail -20 "$deps/download/$file.log" >&2; }
  done
  (cd "$deps/download" && echo "$sha  $file" | sha256sum --check --status) ||
    { echo "fetch_sources: $file could not be fetched, or its checksum differs" >&2; exit 1; }
}

# build_librdkafka NAME COMPILER FLAGS…: .deps/NAME, unless it was built from just these inputs. It is built aside and then
# put in place, so that another build of this machine never sees half of it.
build_librdkafka() {
  local name=$1 compiler=$2 stamp patches patch
  shift 2
  patches=(third_party/librdkafka/patches/*.patch)
  stamp=$( (echo "$rdkafka_sha $compiler $*" && cat "${patches[@]}") | sha256sum | cut -d' ' -f1)
  [ "$(cat "$deps/$name/stamp" 2>/dev/null || true)" = "$stamp" ] && return 0
  echo "setup: building $name 2.15.1"
  fetch confluentinc-kafka-javascript-1.10.1.tgz "$rdkafka_sha" \
    npm pack --ignore-scripts @confluentinc/kafka-javascript@1.10.1
  local build=$deps/build/$name log=$deps/build/$name.log
  rm -rf "$build"
  mkdir -p "$build/out/include/librdkafka" "$build/out/lib"
  tar -xzf "$deps/download/confluentinc-kafka-javascript-1.10.1.tgz" -C "$build" --strip-components=3 \
    package/deps/librdkafka
  for patch in "${patches[@]}"; do patch --quiet -d "$build" -p1 <"$patch"; done
  (
    cd "$build"
    CC=$compiler ./configure --enable-static --disable-gssapi --disable-curl --disable-lz4-ext "$@" >"$log" 2>&1 ||
      { tail -40 "$log" >&2; exit 1; }
    make -j"$(nproc)" -C src librdkafka.a >"$log" 2>&1 || { tail -40 "$log" >&2; exit 1; }
    cp src/rdkafka.h src/rdkafka_mock.h out/include/librdkafka/
    cp src/librdkafka.a out/lib/
    cp LICENSES.txt out/
    echo "$stamp" >out/stamp
  )
  rm -rf "${deps:?}/$name"
  mv "$build/out" "$deps/$name"
  rm -rf "$build"
}

fetch_simdjson() {
  [ "$(cat "$deps/simdjson/stamp" 2>/dev/null || true)" = "$simdjson_sha" ] && return 0
  echo "setup: fetching simdjson 3.12.3"
  local file=pysimdjson-7.0.2.tar.gz
  # pip prepares a source package's metadata before it keeps the file; its build tools from a venv of ours are quicker
  # than those that pip would install anew each time.
  if ! (cd "$deps/download" && echo "$simdjson_sha  $file" | sha256sum --check --status 2>/dev/null); then
    [ -x "$deps/build/pip/bin/pip" ] || python3 -m venv "$deps/build/pip"
    "$deps/build/pip/bin/pip" install --quiet --disable-pip-version-check --upgrade setuptools wheel cython
  fi
  fetch "$file" "$simdjson_sha" "$deps/build/pip/bin/pip" download --quiet --disable-pip-version-check --no-deps \
    --no-build-isolation --no-binary pysimdjson pysimdjson==7.0.2
  mkdir -p "$deps/simdjson"
  tar -xzf "$deps/download/$file" -C "$deps/simdjson" --strip-components=2 \
    pysimdjson-7.0.2/simdjson/simdjson.h pysimdjson-7.0.2/simdjson/simdjson.cpp
  echo "$simdjson_sha" >"$deps/simdjson/stamp"
}

fetch_simdjson
build_librdkafka librdkafka gcc --CFLAGS="-O2 -g1 -fPIC"
if [ "$what" = test ]; then
  # ThreadSanitizer sees no lock and no atomic of code that it did not compile, nor the threads of C11.
  build_librdkafka librdkafka-tsan clang-19 --disable-c11threads --CFLAGS="-O1 -g1 -fPIC -fsanitize=thread"
fi
