#!/usr/bin/env bash
# Installs what the tests need and the machine lacks, from Debian's packages,
# and says so: redis-server (the real store), nodejs and python3 (the reference
# verifiers), gcc (the race detector).
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need redis-server redis-server
need redis-cli redis-tools
need node nodejs
need python3 python3
need gcc gcc
need openssl openssl
need curl curl
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null 2>&1; then
  echo "missing: ${missing[*]}; install them, then run this again" >&2
  exit 1
fi
echo "installing for the tests: ${missing[*]}"
sudo=()
[ "$(id -u)" -eq 0 ] || sudo=(sudo)
export DEBIAN_FRONTEND=noninteractive
# The package's own server is not wanted: each test starts one of its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${sudo[@]}" tee "$policy" >/dev/null
  "${sudo[@]}" chmod +x "$policy"
  trap '"${sudo[@]}" rm -f "$policy"' EXIT
fi
"${sudo[@]}" apt-get update -q
"${sudo[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
