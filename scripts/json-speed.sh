#!/usr/bin/env bash
# Measures how fast tracekit reads JSON: a trace of PyTorch, plain and compressed by gzip, against the time to read the file (cat)
# and to inflate it (gzip, and Go's own library).
#
# usage: scripts/json-speed.sh [TRACE.json[.gz] [MEGABYTES]]
#
# The trace (default: that of ResNet-50 in the shared traces) is repeated with later times until it has so many megabytes (default
# 1000). ROUNDS (default 3) rounds are run, in which all commands take turns; the least time of each counts. Rates are megabytes of
# plain text by elapsed seconds, and by processor seconds, which say more where the machine does other work.
set -eu

trace=$(realpath "${1:-${TRACEKIT_SHARED:-../shared}/traces/json/kineto/resnet50-worker0.pt.trace.json.gz}")
size=${2:-1000} rounds=${ROUNDS:-3}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$(dirname "$0")/.."
python3 readers/jsontrace/testdata/grow.py "$trace" "$tmp/plain.json" "$size"
gzip -kc "$tmp/plain.json" >"$tmp/packed.json.gz"
CGO_ENABLED=0 go build -o "$tmp/tracekit" ./cmd/tracekit
cat >"$tmp/inflate.go" <<'GO'
package main

import (
	"compress/gzip"
	"io"
	"os"
)

func main() {
	z, err := gzip.NewReader(os.Stdin)
	if err == nil {
		_, err = io.Copy(io.Discard, z)
	}
	if err != nil {
		panic(err)
	}
}
GO
go build -o "$tmp/inflate" "$tmp/inflate.go"

# run NAME COMMAND...: elapsed and processor seconds to NAME.
TIMEFORMAT='%R %U %S'
run() {
	name=$1
	shift
	echo "$name" >>"$tmp/names"
	{ time "$@" >/dev/null; } 2>>"$tmp/$name"
}

inflate() { "$tmp/inflate" <"$tmp/packed.json.gz"; }
one() { GOMAXPROCS=1 taskset -c 0 "$tmp/tracekit" "$1" -q --jobs 1 "$2"; }
two() { GOMAXPROCS=2 "$tmp/tracekit" "$1" -q --jobs 2 "$2"; }

for _ in $(seq "$rounds"); do
	run cat cat "$tmp/plain.json"
	run gzip-dc gzip -dc "$tmp/packed.json.gz"
	run go-inflate inflate
	for kind in plain.json packed.json.gz; do
		for command in info analyze; do
			run "$command-$kind-one-core" one "$command" "$tmp/$kind"
			run "$command-$kind-two-cores" two "$command" "$tmp/$kind"
		done
	done
done

bytes=$(stat -c %s "$tmp/plain.json")
printf '%-36s %10s %10s %10s\n' command seconds MB/s MB/cpu-s
awk '!seen[$0]++' "$tmp/names" | while read -r name; do
	awk -v name="$name" -v mb="$((bytes / 1000000))" '
		NR == 1 || $1 < wall { wall = $1 }
		NR == 1 || $2 + $3 < cpu { cpu = $2 + $3 }
		END { printf "%-36s %10.2f %10.0f %10.0f\n", name, wall, mb / (wall ? wall : 0.001), mb / (cpu ? cpu : 0.001) }' "$tmp/$name"
done
