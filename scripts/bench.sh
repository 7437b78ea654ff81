#!/usr/bin/env bash
# Runs every benchmark of the tree, one package at a time so that none
# disturbs another, and prints the ratios that the project promises: each
# number stands beside a bare baseline measured in the same run.
#
#   BENCH_COUNT     how often each benchmark runs; the median counts (default 3)
#   BENCH_TIME      how long each run takes (default 1s)
#   BENCH_PACKAGES  which packages (default ./...)
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Bulk verification takes whole documents of 200,000 rounds: a count that they
# divide makes its time per round exact.
rounds=1000000x

bench() {
  local time=$1
  shift
  go test -p 1 -run '^$' -bench . -benchmem -count "${BENCH_COUNT:-3}" -benchtime "$time" -timeout 60m "$@" |
    { grep -v 'no test files' || true; } | tee -a "$log"
}

echo "machine: $(nproc) processors, $(go version)"
read -ra patterns <<<"${BENCH_PACKAGES:-./...}"
packages=$(go list "${patterns[@]}")
others=$(grep -v '/internal/evidence$' <<<"$packages" || true)
[ -z "$others" ] || bench "${BENCH_TIME:-1s}" $others
[ "$others" = "$packages" ] || bench "$rounds" ./internal/evidence

echo
echo "ratios (medians of this run)"
awk '
  /^pkg: / { pkg = $2; sub(/.*\/originals\//, "", pkg) }
  /^Benchmark/ {
    name = $1; sub(/-[0-9]+$/, "", name)
    key = pkg " " name
    for (i = 2; i < NF; i++) if ($(i + 1) == "ns/op") times[key] = times[key] " " $i
  }
  function median(key,   n, a, i, j, t) {
    n = split(times[key], a, " ")
    for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
    return n ? a[int((n + 1) / 2)] + 0 : 0
  }
  function ratio(what, baseline, measured, least) {
    if (!median(baseline) || !median(measured)) { printf "  %-62s not measured\n", what; return }
    printf "  %-62s %.2f (at least %s)\n", what, median(baseline) / median(measured), least
  }
  END {
    ratio("derivation rate / rate of the bare permutations", "internal/rng BenchmarkBarePermutations", "internal/rng BenchmarkDerive", "0.70")
    ratio("bulk verification rate / derivation rate, on all processors", "internal/evidence BenchmarkDerive", "internal/evidence BenchmarkBulk", "0.80")
  }
' "$log"
