#!/bin/sh
# The study of a wavefront program's communication overhead: benchmark, profile, runs of
# samples/programs/sweep.c at several process counts, and the tables of tracekit scaling --overhead,
# held to the benchmark's profile and to each run itself.
#
# usage: scripts/overhead-study.sh DIR [PROCESSES...]      (default 2 4 6 8 12 16)
#
# Traces are made by samples/make.sh (which says what it needs) below DIR; those that are
# there already are used again. BENCH_P processes (default 2) run the benchmark, with
# REPEAT calls (default 200) of each kind and size up to MAXBYTES (default 100000). Use no
# more than there are cores. DIR/profile.json is the profile, DIR/plots its pictures.
set -eu

if [ $# -lt 1 ]; then
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 2 4 6 8 12 16
cd "$(dirname "$0")/.."
bench=${BENCH_P:-2}

[ -d "$dir/mpibench-$bench" ] || samples/make.sh bench "$dir" "$bench" "${REPEAT:-200}" "${MAXBYTES:-100000}" >&2
missing=""
for p; do [ -d "$dir/sweep-$p" ] || missing="$missing $p"; done
# shellcheck disable=SC2086 # a list of words
[ -z "$missing" ] || samples/make.sh study "$dir" $missing >&2

go build -o "$dir/tracekit" ./cmd/tracekit
"$dir/tracekit" fit --quiet --force --top 20 --stability --plots "$dir/plots" -o "$dir/profile.json" "$dir"/mpibench-* >"$dir/fit.txt"

cd "$dir"
for option in "--profile profile.json" ""; do
	# shellcheck disable=SC2086 # an option and its value
	./tracekit scaling --overhead --quiet $option $(for p; do echo "sweep-$p"; done)
done
