#!/bin/sh
# Compares how fast an OTF2 archive is read: by tracekit to column tables, and by a C
# program that counts events through the reference library.
#
# usage: scripts/bench-otf2.sh COUNT.c ARCHIVE.otf2 [ROUNDS]
#
# COUNT.c is built with gcc against the library (Debian: libopen-trace-format2-dev) and run
# as "count local ARCHIVE.otf2"; it prints its rates as Mev/s=… (elapsed) and Mev/cpus=…
# (per second of processor time). Both programs run in turns, so that what else the
# machine does strikes both; the best round of each counts. One core means GOMAXPROCS=1.
set -eu

if [ $# -lt 2 ]; then
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
fi
source=$1 archive=$(realpath "$2") rounds=${3:-3}
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

gcc -O2 -o "$tmp/count" "$source" -lopen-trace-format2
go test -c -o "$tmp/bench" ./readers/otf2

i=0
while [ "$i" -lt "$rounds" ]; do
	"$tmp/count" local "$archive" >>"$tmp/c"
	for jobs in 1 2; do
		(cd readers/otf2 && TRACEKIT_BENCH="$archive" GOMAXPROCS=$jobs \
			"$tmp/bench" -test.run '^$' -test.bench "Read/archive=.*/jobs=$jobs\$" -test.benchtime 1s) >>"$tmp/go$jobs"
	done
	i=$((i + 1))
done

# best FILE WORD: the largest number of the field before (go) or after (C) the word.
best() {
	awk -v word="$2" '
		{ for (i = 1; i <= NF; i++) {
			v = -1
			if ($i == word) v = $(i - 1) / 1e6
			if (index($i, word "=") == 1) v = substr($i, length(word) + 2)
			if (v > max) max = v + 0 } }
		END { printf "%.1f", max }' "$1"
}

row() {
	awk -v what="$1" -v wall="$2" -v cpu="$3" -v cwall="$4" -v ccpu="$5" 'BEGIN {
		printf "%-28s %10.1f %14.1f %10.2f %14.2f\n", what, wall, cpu, wall / cwall, cpu / ccpu }'
}

cwall=$(best "$tmp/c" Mev/s) ccpu=$(best "$tmp/c" Mev/cpus)
echo "million events per second, best of $rounds rounds: $archive"
printf '%-28s %10s %14s %10s %14s\n' "" elapsed "processor" ratio "ratio"
row "reference library, counting" "$cwall" "$ccpu" "$cwall" "$ccpu"
for jobs in 1 2; do
	row "tracekit, tables, $jobs core(s)" "$(best "$tmp/go$jobs" events/s)" "$(best "$tmp/go$jobs" events/cpu-s)" "$cwall" "$ccpu"
done
