#!/usr/bin/env bash
# Says what each part of a distributed analysis costs, in seconds of processor time (user and system),
# the least of a few runs in turn, and that its document is that of the plain command. Needs Go
# alone; what it writes goes to a temporary directory.
#
#   scripts/shares.sh TRACE...
#   SHARDS=2       shards of the trace; shown is the dearest one
#   RUNS=5
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
n=${SHARDS:-2}
work=$(mktemp -d "${TMPDIR:-/tmp}/tracekit-shares-XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$root" && go build -o "$work/tracekit" ./cmd/tracekit)
tracekit="$work/tracekit"
parts="$work/parts"

least() { # NAME COMMAND…: keeps the least time of a command under a name
	local name=$1 TIMEFORMAT='%U %S' spent
	shift
	spent=$({ time "$@" >"$work/out" 2>"$work/err"; } 2>&1 | awk '{ print $1 + $2 }')
	awk -v a="$spent" -v b="$(cat "$work/$name" 2>/dev/null || echo "$spent")" 'BEGIN { print a < b ? a : b }' >"$work/$name.new"
	mv "$work/$name.new" "$work/$name"
}
dearest() { cat "$@" | sort -n | tail -n 1; }

printf '%-28s %12s %8s %8s %8s %8s %8s\n' trace events analyze shard combine share between
for trace in "$@"; do
	rm -rf "$parts" "$work"/t-*
	for i in $(seq "$n"); do "$tracekit" analyze -q --shard "$i/$n" -o "$parts" "$trace" >"$work/out"; done
	all="for i in \$(seq $n); do '$tracekit' combine -q --shard \$i/$n '$parts' || exit; done; mkdir -p '$work/left'; cp '$parts'/*.task '$parts'/*.profile '$work/left'"
	"$tracekit" combine -q --json --second-pass "$all" "$parts" >"$work/shared.json"
	"$tracekit" analyze -q --json "$trace" | cmp - "$work/shared.json"
	for _ in $(seq "${RUNS:-5}"); do
		least t-analyze "$tracekit" analyze -q --json "$trace"
		least t-combine "$tracekit" combine -q --json "$parts"
		least t-between "$tracekit" combine -q --json --second-pass "cp '$work'/left/*.profile '$parts'" "$parts"
		cp "$work"/left/*.task "$parts"
		for i in $(seq "$n"); do
			least "t-shard-$i" "$tracekit" analyze -q --force --shard "$i/$n" -o "$parts" "$trace"
			least "t-share-$i" "$tracekit" combine -q --shard "$i/$n" "$parts"
		done
		rm -f "$parts"/*.task "$parts"/*.profile
	done
	events=$(grep -m 1 -o '"events": [0-9]*' "$work/shared.json" | grep -o '[0-9]*$')
	printf '%-28s %12s %8s %8s %8s %8s %8s\n' "$(basename "${trace%/traces.otf2}")" "$events" "$(cat "$work/t-analyze")" \
		"$(dearest "$work"/t-shard-*)" "$(cat "$work/t-combine")" "$(dearest "$work"/t-share-*)" "$(cat "$work/t-between")"
done
echo "load $(cut -d' ' -f1 /proc/loadavg)"
