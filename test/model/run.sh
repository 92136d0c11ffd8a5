#!/usr/bin/env bash
# Builds Ollama once, then runs the tests of this folder against it. README.md says what it needs.
#
#   test/model/run.sh            build if need be, then test (make e2e-model)
#   test/model/run.sh build      only build; prints the path of the binary
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly ollama=github.com/ollama/ollama@v0.17.4
# miniaudio.h is one of three headers that Ollama's module lacks. Debian 12 has no package of it; this
# module carries it.
readonly miniaudio=github.com/gen2brain/malgo@v0.11.24
readonly cache=${XDG_CACHE_HOME:-$HOME/.cache}/unitask-test/ollama-${ollama##*@v}
readonly binary=$cache/bin/ollama

packages() {
  local missing=()
  command -v g++ >/dev/null || missing+=(gcc g++ libc6-dev)
  [[ -e /usr/include/nlohmann/json.hpp ]] || missing+=(nlohmann-json3-dev)
  [[ -e /usr/include/stb/stb_image.h ]] || missing+=(libstb-dev)
  if ((${#missing[@]} == 0)); then return; fi
  local as=()
  if ((EUID != 0)); then as=(sudo -n); fi
  "${as[@]}" apt-get update -q
  DEBIAN_FRONTEND=noninteractive "${as[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
}

# headers puts miniaudio.h where Ollama looks for it.
headers() {
  local dir
  dir=$(cd "$cache" && go mod download -json "$miniaudio" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  install -D -m 0644 "$dir/miniaudio.h" "$cache/include/miniaudio/miniaudio.h"
}

# build compiles without debug information and at low priority: it keeps two cores busy for minutes.
build() {
  if [[ $(go version -m "$binary" 2>/dev/null) == *$'\tmod\t'"${ollama/@/$'\t'}"$'\t'* ]]; then return; fi
  echo "building $ollama into $cache: minutes, once" >&2
  mkdir -p "$cache"
  packages
  headers
  (
    cd "$cache"
    GOBIN=$cache/bin GOFLAGS='' CGO_ENABLED=1 CGO_CFLAGS='-O2 -g0' CGO_CXXFLAGS="-O1 -g0 -I$cache/include" \
      nice -n 15 go install -p 2 "$ollama"
  )
  echo "built in ${SECONDS} s" >&2
}

if [[ ${1:-} == build ]]; then
  build
  echo "$binary"
  exit
fi
build
UNITASK_E2E_MODEL=$binary go test -count=1 -v -timeout 20m ./test/model/...
