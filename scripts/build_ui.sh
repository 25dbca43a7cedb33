#!/usr/bin/env bash
# Builds the browser page into ui/dist. Installs its packages when the lock file changed; a second run is quick.
set -euo pipefail
cd "$(dirname "$0")/../ui"
if [[ -f ../scripts/env.sh ]]; then
  # shellcheck disable=SC1091
  source ../scripts/env.sh
fi
stamp=node_modules/.kafscope-installed
if [[ ! -f $stamp ]] || ! cmp -s package-lock.json "$stamp"; then
  for try in 1 2 3; do
    npm ci --no-audit --no-fund --ignore-scripts && break
    [[ $try == 3 ]] && exit 1
    sleep 5
  done
  cp package-lock.json "$stamp"
fi
if [[ ${1:-} == --install-only ]]; then exit 0; fi
if [[ -f dist/index.html && -z $(find index.html vite.config.ts tsconfig.json package-lock.json src public -newer dist/index.html -print -quit) ]]; then
  echo "page: ui/dist is up to date"
  exit 0
fi
npm run --silent build
