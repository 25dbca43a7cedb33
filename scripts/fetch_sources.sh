#!/usr/bin/env bash
# Fetches the pinned third-party sources into .deps, by their checksums, and builds librdkafka (static).
#
#   scripts/fetch_sources.sh            .deps/librdkafka/{include,lib}, .deps/simdjson/simdjson.{h,cpp}
#
# A second run finds the stamps and does nothing. Needs npm, python3 with venv, a C compiler and the -dev packages that
# scripts/setup.sh installs.
set -euo pipefail
cd "$(dirname "$0")/.."
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

# done_before NAME INPUT…: whether NAME was built from just these inputs.
stamp_of() { cat "$@" | sha256sum | cut -d' ' -f1; }

build_librdkafka() {
  local stamp patches
  patches=(third_party/librdkafka/patches/*.patch)
  [ -e "${patches[0]}" ] || patches=()
  stamp=$(stamp_of <(echo "$rdkafka_sha") scripts/fetch_sources.sh "${patches[@]}")
  [ "$(cat "$deps/librdkafka/stamp" 2>/dev/null || true)" = "$stamp" ] && return 0
  echo "setup: building librdkafka 2.15.1"
  fetch confluentinc-kafka-javascript-1.10.1.tgz "$rdkafka_sha" \
    npm pack --ignore-scripts @confluentinc/kafka-javascript@1.10.1
  local build=$deps/build/librdkafka
  rm -rf "$build" "$deps/librdkafka"
  mkdir -p "$build"
  tar -xzf "$deps/download/confluentinc-kafka-javascript-1.10.1.tgz" -C "$build" --strip-components=3 \
    package/deps/librdkafka
  local patch
  for patch in "${patches[@]}"; do patch --quiet -d "$build" -p1 <"$patch"; done
  (
    cd "$build"
    ./configure --prefix="$deps/librdkafka" --enable-static --disable-gssapi --disable-curl --disable-lz4-ext \
      --CFLAGS="-O2 -g1 -fPIC" >../librdkafka.log 2>&1 || { tail -40 ../librdkafka.log >&2; exit 1; }
    make -j"$(nproc)" -C src librdkafka.a >../librdkafka.log 2>&1 || { tail -40 ../librdkafka.log >&2; exit 1; }
    mkdir -p "$deps/librdkafka/include/librdkafka" "$deps/librdkafka/lib"
    cp src/rdkafka.h src/rdkafka_mock.h "$deps/librdkafka/include/librdkafka/"
    cp src/librdkafka.a "$deps/librdkafka/lib/"
    cp LICENSES.txt "$deps/librdkafka/"
  )
  rm -rf "$build"
  echo "$stamp" >"$deps/librdkafka/stamp"
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
build_librdkafka
