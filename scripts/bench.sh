#!/usr/bin/env bash
# Measures tracekit against a C program that only counts events through the reference
# library (otf2count), and one core against two; prints the tables of the README.
#
# usage: scripts/bench.sh [ARCHIVE.otf2...]
#
# Without archives it generates two: a halo exchange of 20 million events and a wavefront
# sweep of 6 million, most of whose calls communicate. ROUNDS (default 3) rounds are run, in
# which all programs take turns, so that what else the machine does strikes all; the best
# of each counts. Ratios to counting are of processor time on one core; "two cores" is
# elapsed time on one core by that on two. Needs gcc, OTF2's library (Debian:
# libopen-trace-format2-dev) and GNU time; the machine should be doing nothing else.
set -eu

rounds=${ROUNDS:-3}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for archive in "$@"; do
	realpath "$archive" >>"$tmp/list"
done
cd "$(dirname "$0")/.."
gcc -O2 -o "$tmp/count" scripts/otf2count/otf2count.c -lopen-trace-format2
CGO_ENABLED=0 go build -o "$tmp/tracekit" ./cmd/tracekit
go test -c -o "$tmp/otf2.test" ./readers/otf2
if [ $# -eq 0 ]; then
	"$tmp/tracekit" generate halo --ranks 64 --iterations 7300 -q -o "$tmp/halo" >/dev/null
	"$tmp/tracekit" generate sweep --ranks 16 --iterations 14600 -q -o "$tmp/sweep" >/dev/null
	printf '%s\n' "$tmp/halo/traces.otf2" "$tmp/sweep/traces.otf2" >"$tmp/list"
fi

# run NAME CORES COMMAND...: processor seconds to NAME.cpu, elapsed ones to NAME.wall.
TIMEFORMAT='%3U %3S %3R'
run() {
	name=$1 cores=$2
	shift 2
	{ time GOMAXPROCS=$cores "$@" >"$tmp/out"; } 2>"$tmp/time"
	awk '{ print $1 + $2 }' "$tmp/time" >>"$tmp/$name.cpu"
	awk '{ print $3 }' "$tmp/time" >>"$tmp/$name.wall"
}

# peak COMMAND...: that of its memory, in MiB.
peak() { GOMAXPROCS=1 /usr/bin/time -o "$tmp/time" -f '%M' "$@" >"$tmp/out" && awk '{ print $1 / 1024 }' "$tmp/time"; }

# round ARCHIVE: each program once.
round() {
	"$tmp/count" local "$1" | tr ' ' '\n' >"$tmp/counted"
	sed -n 's/^cpu=//p' "$tmp/counted" >>"$tmp/count.cpu"
	(cd readers/otf2 && TRACEKIT_BENCH=$1 GOMAXPROCS=1 "$tmp/otf2.test" -test.run '^$' \
		-test.bench 'Read/archive=.*/jobs=1$' -test.benchtime 1s) |
		awk '{ for (i = 2; i <= NF; i++) if ($i == "events/cpu-s") print 1e6 / $(i - 1) }' >>"$tmp/tables.cpu"
	for cores in 1 2; do
		run "analyze$cores" $cores "$tmp/tracekit" analyze --quiet --jobs $cores --json "$1"
		run "compress$cores" $cores "$tmp/tracekit" compress --quiet --jobs $cores --force -o "$tmp/out.tkf" "$1"
		rm -rf "$tmp/out.arrow"
		run "convert$cores" $cores "$tmp/tracekit" convert --quiet --jobs $cores "$1" "$tmp/out.arrow"
	done
}

least() { sort -n "$1" | head -n 1; }

row() { awk -v a="$1" -v b="$2" -v format="$3" 'BEGIN { printf format, a / b }'; }

echo '| Archive | events | tables | analyze | peak of analyze | analyze, two cores | compress, two cores | convert, two cores |'
echo '|---|---|---|---|---|---|---|---|'
while read -r archive; do
	rm -f "$tmp"/*.cpu "$tmp"/*.wall
	i=0
	while [ "$i" -lt "$rounds" ]; do
		round "$archive"
		i=$((i + 1))
	done
	counted=$(least "$tmp/count.cpu")
	events=$(sed -n 's/^events=//p' "$tmp/counted")
	printf '| %s | %s |' "$(basename "$(dirname "$archive")")" "$(row "$events" 1000000 '%.1f M')"
	awk -v us="$(least "$tmp/tables.cpu")" -v n="$events" -v c="$counted" 'BEGIN { printf " %.2f |", us * n / 1e6 / c }'
	row "$(least "$tmp/analyze1.cpu")" "$counted" ' %.1f |'
	row "$(peak "$tmp/tracekit" analyze --quiet --jobs 1 --json "$archive")" 1 ' %.0f MiB |'
	for what in analyze compress convert; do
		row "$(least "$tmp/${what}1.wall")" "$(least "$tmp/${what}2.wall")" ' %.2f |'
	done
	echo
done <"$tmp/list"
