#!/usr/bin/env bash
# Installs what building and testing needs on a bare Debian 12: quiet, as often as you like, without network when
# everything is there. `tools/setup.sh --list` prints the packages and installs nothing.
set -euo pipefail

packages=(
  # build
  bazel-bootstrap bazel-bootstrap-data bazel-platforms bazel-rules-java bazel-rules-proto bazel-skylib
  g++ clang-14 lld-14 clang lld libclang-rt-14-dev clang-format-14 git
  # what users build with: tests build a project of theirs
  cmake make pkg-config
  # libraries
  libabsl-dev libasio-dev libbenchmark-dev libcli11-dev libgflags-dev libgmock-dev libgoogle-glog-dev libgtest-dev
  libprotobuf-dev libssl-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev protobuf-compiler
  # what tests and scripts use
  iproute2 procps python3-minimal
)

if [ "${1:-}" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
elif [ $# -gt 0 ]; then
  echo "usage: tools/setup.sh [--list]   (unknown argument: $1)" >&2
  exit 2
fi

missing=()
# dpkg-query exits with 1 as soon as one package is unknown to it.
installed=$({ dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' "${packages[@]}" 2>/dev/null || true; } | awk '$2 == "ii" {print $1}')
for p in "${packages[@]}"; do
  grep -qxF "$p" <<<"$installed" || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}" >&2
sudo=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: these packages are missing and only root can install them: ${missing[*]}" >&2
    exit 1
  }
  sudo=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
install() { "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$log" 2>&1; }
if ! { [ -n "$(ls /var/lib/apt/lists 2>/dev/null | grep -v -e lock -e partial)" ] && install; }; then
  "${sudo[@]}" apt-get update -qq >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  install || { cat "$log" >&2; echo "setup: apt-get could not install: ${missing[*]}" >&2; exit 1; }
fi
