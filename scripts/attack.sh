#!/usr/bin/env bash
# Damages copies of the samples in every format, runs every command on them, and judges the
# answers: docs/internals/ATTACK.md. It prints a table, and fails if a run is bad.
#   scripts/attack.sh 100000                     # as many runs
#   scripts/attack.sh 1000 --seed 7 --jobs 1     # others, one at a time
#   scripts/attack.sh 1 --seed 7 --run 123       # run 123 of them alone, which is kept
#   scripts/attack.sh 100000 --log FILE          # may be ended with Ctrl-C, and taken up again by the same line
# TRACEKIT=PATH of one that was built with -tags attack saves building it. Runs write into TMPDIR, by
# default into memory where there is /dev/shm; bad ones are kept in /tmp/attack-kept.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-1000}
shift || true
kept=${TMPDIR:-/tmp}/attack-kept
if [ -z "${TMPDIR:-}" ] && [ -w /dev/shm ]; then
	export TMPDIR=/dev/shm
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tracekit=${TRACEKIT:-$work/tracekit}
[ -n "${TRACEKIT:-}" ] || go build -tags attack -o "$tracekit" ./cmd/tracekit
go build -o "$work/attack" ./scripts/attack
"$work/attack" -tracekit "$tracekit" -n "$runs" -keep "$kept" "$@"
