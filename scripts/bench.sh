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

# bench TIME COUNT PACKAGE... runs the benchmarks of the packages that were
# asked for.
bench() {
  local time=$1 count=$2 chosen=()
  shift 2
  for package in "$@"; do
    if grep -qxF "$package" <<<"$packages"; then chosen+=("$package"); fi
  done
  [ ${#chosen[@]} -gt 0 ] || return 0
  go test -p 1 -run '^$' -bench . -benchmem -count "$count" -benchtime "$time" -timeout 60m "${chosen[@]}" |
    { grep -v 'no test files' || true; } | tee -a "$log"
}

module=github.com/openoriginals/originals
evidence=$module/internal/evidence
whole=("$module/internal/ledger/redisledger" "$module/services/originals" "$module/services/crash")

echo "machine: $(nproc) processors, $(go version)"
read -ra patterns <<<"${BENCH_PACKAGES:-./...}"
packages=$(go list "${patterns[@]}")
mapfile -t parts < <(printf '%s\n' "$packages" | grep -vxF -e "$evidence" "${whole[@]/#/-e}" || true)

bench "${BENCH_TIME:-1s}" "${BENCH_COUNT:-3}" "${parts[@]}"
# Bulk verification takes whole documents of 200,000 rounds: a count that they
# divide makes its time per round exact.
bench 1000000x "${BENCH_COUNT:-3}" "$evidence"
# Bets, memory and whole rounds repeat themselves: once is enough.
bench 1x 1 "${whole[@]}"

echo
echo "ratios (medians of this run)"
awk '
  /^pkg: / { pkg = $2; sub(/.*\/originals\//, "", pkg) }
  /^bets by / || /^  processor time a bet/ { bets = bets "  " $0 "\n" }
  /^Benchmark/ {
    name = $1; sub(/-[0-9]+$/, "", name)
    key = pkg " " name
    for (i = 2; i < NF; i++) {
      if ($(i + 1) == "ns/op") times[key] = times[key] " " $i
      if ($(i + 1) ~ /^(times-bare|p99-ms|%-decided-in-5ms|ms-to-final|B\/watcher)$/) memory = memory sprintf("  %-62s %s\n", pkg " " name ", " $(i + 1), $i)
      if ($(i + 1) ~ /^B\/(round|player|transfer)$/) memory = memory sprintf("  %-62s %s\n", "Redis memory, " $(i + 1), $i)
    }
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
    ratio("rolls of a duel / bare calls of Redis", "internal/duelstore BenchmarkRoll/ping", "internal/duelstore BenchmarkRoll/roll", "0.30")
    ledger = "internal/ledger/redisledger Benchmark"
    ratio("claims and acknowledgements / a bare pipeline of their writes", ledger "Claims/bare", ledger "Claims/claim", "0.50")
    ratio("settlements streamed to 64 consumers in batches / by XREAD", "services/settlement BenchmarkStream/xread", "services/settlement BenchmarkStream/batches", "0.50")
    ratio("settlements read by 64 readers / entries by XREAD", ledger "Feed/xread", ledger "Feed/settlements", "0.50")
    ratio("bets with the feed of settlements / without", ledger "Settling/bare", ledger "Settling/feed", "0.80")
    printf "%s%s", memory, bets
  }
' "$log"
