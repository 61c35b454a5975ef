#!/usr/bin/env bash
# Fuzzes every target of the given packages (default: those that read untrusted bytes).
#   scripts/fuzz.sh 10m                # ten minutes each, another seed every time
#   GODEBUG=fuzzseed=1 scripts/fuzz.sh 2000x -parallel 1   # the same inputs every time
#   PACKAGES="trace merge" scripts/fuzz.sh 1m
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-10s}
shift || true
cache=$(go env GOCACHE)/fuzz/tracekit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A package is linked once for all its targets.
grep -rl '^func Fuzz' --include='*_test.go' ${PACKAGES:-readers formulae reduce page merge} | xargs -n 1 dirname | sort -u | while read -r package; do
	go test -c -vet=off -fuzz . -o "$work/test" "./$package"
	grep -ho '^func Fuzz[A-Za-z0-9_]*' "$package"/*_test.go | sed 's/^func //' | while read -r name; do
		(cd "$package" && "$work/test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x \
			-test.fuzzcachedir "$cache/$package" "${@/#-/-test.}" </dev/null) | sed "s|^|$package $name: |"
	done
done
