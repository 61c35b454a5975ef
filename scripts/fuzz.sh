#!/usr/bin/env bash
# Fuzzes every target of the given packages (default: those that read untrusted bytes).
#   scripts/fuzz.sh 10m                # ten minutes each, another seed every time
#   GODEBUG=fuzzseed=1 scripts/fuzz.sh 2000x -parallel 1   # the same inputs every time
#   PACKAGES="trace merge" scripts/fuzz.sh 1m
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
shift || true
grep -rl '^func Fuzz' --include='*_test.go' ${PACKAGES:-readers formulae reduce page merge} | sort | while read -r file; do
	grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r name; do
		go test -vet=off -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "$@" "./$(dirname "$file")" </dev/null
	done
done
