#!/bin/sh
# Compares what "tracekit analyze" takes with a C program that only counts events through
# the reference library: processor time on one core, and memory.
#
# usage: scripts/bench-analyze.sh COUNT.c ARCHIVE.otf2...
#
# COUNT.c is built with gcc against the library (Debian: libopen-trace-format2-dev) and run
# as "count local ARCHIVE.otf2"; it prints events=… and cpu=… (seconds). All steps take
# turns, so that what else the machine does strikes all; the best of ROUNDS (default 3)
# rounds counts. "tables" is reading alone, "merge" reading and reconciling, "analyze" the
# whole command. Ratios are to counting. Wanted of analyze: at most 3 times the time, and
# 300 MiB and 64 bytes for each message.
set -eu

if [ $# -lt 2 ]; then
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
source=$1
shift
rounds=${ROUNDS:-3}
here=$(pwd)
cd "$(dirname "$0")/.."
root=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $source in /*) ;; *) source=$here/$source ;; esac

gcc -O2 -o "$tmp/count" "$source" -lopen-trace-format2
go build -o "$tmp/tracekit" ./cmd/tracekit
go test -c -o "$tmp/otf2" ./readers/otf2
go test -c -o "$tmp/merge" ./merge
export GOMAXPROCS=1

# number NAME: the number behind "NAME=" in the input.
number() {
	tr ' ' '\n' | sed -n "s/^$1=//p"
}

# seconds: the processor seconds that /usr/bin/time -f "%U %S" has written.
seconds() {
	awk '{ print $1 + $2 }'
}

# one ARCHIVE: a round of all steps; each adds a line to its file.
one() {
	"$tmp/count" local "$1" | tee "$tmp/last" | number cpu >>"$tmp/count.s"
	(cd "$root/readers/otf2" && TRACEKIT_BENCH=$1 /usr/bin/time -o "$tmp/time" -f "%U %S" "$tmp/otf2" \
		-test.run '^$' -test.bench 'Read/archive=.*/jobs=1$' -test.benchtime 1x) >"$tmp/out"
	awk '{ for (i = 2; i <= NF; i++) if ($i == "events/cpu-s") print $(i - 1) }' "$tmp/out" | tail -n 1 >>"$tmp/tables.rate"
	(cd "$root/merge" && TRACEKIT_BENCH_ARCHIVE=$1 /usr/bin/time -o "$tmp/time" -f "%U %S" "$tmp/merge" \
		-test.run '^$' -test.bench 'Merge/memory=192/jobs=1$' -test.benchtime 1x) >/dev/null
	seconds <"$tmp/time" >>"$tmp/merge.s"
	/usr/bin/time -o "$tmp/time" -f "%U %S %M" "$tmp/tracekit" analyze --quiet --jobs 1 --json "$1" >"$tmp/json"
	seconds <"$tmp/time" >>"$tmp/analyze.s"
	awk '{ print $3 / 1024 }' "$tmp/time" >>"$tmp/analyze.mib"
}

least() {
	sort -n "$1" | head -n 1
}

# row NAME SECONDS: a line of the table.
row() {
	awk -v name="$1" -v s="$2" -v c="$counted" -v n="$events" 'BEGIN {
		printf "  %-10s %9.2f %9.2f %12.1f\n", name, s, s / c, n / s / 1e6 }'
}

for archive in "$@"; do
	case $archive in /*) ;; *) archive=$here/$archive ;; esac
	rm -f "$tmp"/*.s "$tmp"/*.rate "$tmp"/*.mib
	i=0
	while [ "$i" -lt "$rounds" ]; do
		one "$archive"
		i=$((i + 1))
	done
	events=$(number events <"$tmp/last")
	messages=$(tr -d '\n' <"$tmp/json" | sed -n 's/.*"messages": *{ *"count": *\([0-9]*\).*/\1/p')
	counted=$(least "$tmp/count.s")
	echo "$archive: $events events, ${messages:=0} messages"
	echo "  step       CPU seconds   ratio   M events/s"
	row count "$counted"
	row tables "$(awk -v n="$events" '$1 > best { best = $1 } END { print n / best }' "$tmp/tables.rate")"
	row merge "$(least "$tmp/merge.s")"
	row analyze "$(least "$tmp/analyze.s")"
	awk -v peak="$(sort -n "$tmp/analyze.mib" | tail -n 1)" -v n="$messages" 'BEGIN {
		printf "  memory     %.0f MiB at most, wanted %.0f MiB\n", peak, 300 + n * 64 / 1048576 }'
done
