#!/usr/bin/env bash
# Analyses, compresses and converts a trace that lies in an object store and compares what is made with
# what the plain command makes of the same trace in files. The store is an emulator of S3 on this machine
# (moto, from PyPI), a process of its own; workers are those of Beam's own runner, or of the cluster of
# scripts/flink.sh. It needs Go, Python 3 and curl. What it starts it ends, by process id.
#
#   scripts/objects.sh [TRACE]        (default: samples/archives/halo2d-8)
#   SHARDS=4       shards of the trace
#   FLINK=1        on Flink, too; with KILL=1 or 2 or cluster as in scripts/flink.sh
#   PROGRAMS=DIR   keeps programs there for the next time
#
# The exit code is 75 if modules cannot be fetched, or the emulator does not come up.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
trace=$(realpath "${1:-$root/samples/archives/halo2d-8}")
work=$(mktemp -d "${TMPDIR:-/tmp}/tracekit-objects-XXXXXX")
keep=${PROGRAMS:-$work/programs}
shards=${SHARDS:-4} port=18095
store=http://127.0.0.1:$port
options="region=us-east-1&endpoint=$store&use_path_style=true&response_checksum_validation=when_required"
export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_EC2_METADATA_DISABLED=true
emulator=

finish() {
	code=$?
	if [ -n "$emulator" ]; then kill "$emulator" 2>/dev/null || true; fi
	wait 2>/dev/null || true
	if [ $code -ne 0 ]; then tail -n 20 "$work"/*.log >&2 || true; fi
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

echo "== programs"
mkdir -p "$keep" "$work/tmp" "$work/local"
(cd "$root" && go build -o "$keep/tracekit" ./cmd/tracekit)
(cd "$root/beam" && go build -ldflags='-s -w' -o "$keep/tracekit-beam" .)
if [ ! -x "$keep/moto/bin/moto_server" ]; then
	python3 -m venv "$keep/moto" && "$keep/moto/bin/pip" install -q 'moto[server]==5.2.5' || exit 75
fi

echo "== store"
"$keep/moto/bin/moto_server" -H 127.0.0.1 -p $port >>"$work/store.log" 2>&1 &
emulator=$!
for _ in $(seq 150); do
	curl -fsS -o "$work/answer" "$store/moto-api/" 2>/dev/null && break
	sleep 0.2
done
[ -s "$work/answer" ] || { echo "the emulator did not come up" >&2; exit 75; }
curl() { command curl -fsS --aws-sigv4 aws:amz:us-east-1:s3 --user any:any "$@"; }
curl -o "$work/answer" -X PUT "$store/bucket"
in=$(dirname "$trace")
while read -r file; do
	curl -o "$work/answer" -T "$in/$file" "$store/bucket/$file"
done < <(cd "$in" && find "$(basename "$trace")" -type f)
address=s3://bucket/$(basename "$trace")
keys() { curl "$store/bucket?list-type=2&prefix=$1" | grep -oE '<Key>[^<]*' | cut -c6- | sort; }
keys "" >"$work/before"
# unchanged: nothing is left, in the store but what was asked for, nor here.
unchanged() {
	keys "" | { grep -v '^out/' || true; } | cmp - "$work/before"
	[ -z "$(ls "$work/tmp")" ]
}
echo "$(wc -l <"$work/before") objects, $(du -bsh "$trace" | cut -f1)B, at $address"

# fetched counts what was read from the store since the last time, of a kind of file.
seen=0
fetched() { tail -n "+$((seen + 1))" "$work/store.log" | grep -cE "\"GET /bucket/$(basename "$trace")[^ ?]*$1[ ?]" || true; }

# run COMMAND TRACE… -- FLAGS… runs tracekit-beam.
run() {
	local code=0
	seen=$(wc -l <"$work/store.log")
	began=$(date +%s.%N)
	(cd "$work" && TMPDIR="$work/tmp" "$keep/tracekit-beam" --shards="$shards" --tracekit="$keep/tracekit" "$@" >"$work/beam.json" 2>"$work/driver.log") || code=$?
	took=$(echo "$(date +%s.%N) - $began" | bc)
	return $code
}
# compare FILE… compares the document, and objects with files.
compare() {
	sed "s|$address|$trace|g; s|s3://bucket/out/|$work/local/|g" "$work/beam.json" | cmp - "$work/local.json"
	for file in "$@"; do
		curl "$store/bucket/out/$file" | cmp - "$work/local/$file"
	done
	unchanged
	echo "equal after $took s: a document of $(wc -c <"$work/beam.json") bytes and $# objects;" \
		"fetched: event files $(fetched .evt) times, local definitions $(fetched '[0-9].def') times"
}

echo "== analyze"
"$keep/tracekit" analyze --json -q "$trace" >"$work/local.json"
run analyze "$address?$options" -- --json -q
compare

echo "== compress"
"$keep/tracekit" compress --json -q "$trace" -o "$work/local/x.tkf" >"$work/local.json"
run compress "$address?$options" -- --json -q -o s3://bucket/out/x.tkf
compare x.tkf

echo "== convert"
"$keep/tracekit" convert --json -q "$trace" "$work/local/x.otf2" >"$work/local.json"
run convert "$address?$options" s3://bucket/out/x.otf2 -- --json -q
compare $(cd "$work/local" && find x x.otf2 x.def -type f)
"$keep/tracekit" convert --json -q "$trace" "$work/local/x.parquet" >"$work/local.json"
run convert "$address?$options" s3://bucket/out/x.parquet -- --json -q
compare
"$keep/tracekit" analyze --json -q "$work/local/x.parquet" | sed "s|$work/local/|s3://bucket/out/|g" >"$work/tables.json"
shards=1 run analyze "s3://bucket/out/x.parquet?$options" -- --json -q # for each shard fetches all tables
cmp "$work/tables.json" "$work/beam.json"
echo "the analysis of the tables there is equal, too"

echo "== failures"
# refused WORD COMMAND… expects that a command fails with words that have this one, and leaves nothing.
refused() {
	local word=$1
	shift
	if run "$@"; then exit 1; fi
	grep '^tracekit-beam: ' "$work/driver.log" | tail -n 1 | cut -c1-330
	grep '^tracekit-beam: ' "$work/driver.log" | grep -q "$word"
	[ ! -s "$work/beam.json" ]
	unchanged
}
refused "no trace in this directory" analyze "s3://bucket/nothing?$options"
refused "s3://none/run" analyze "s3://none/run?$options"
refused "exists" convert "$address?$options" s3://bucket/out/x.otf2
refused "endpoint" analyze "s3://elsewhere/run?region=us-east-1&endpoint=http://127.0.0.1:1&use_path_style=true&response_checksum_validation=when_required"

if [ -n "${FLINK:-}" ]; then
	: >"$work/store.log"
	seen=0
	FROM="$address?$options" REQUESTS="$work/store.log" PROGRAMS="$keep" SHARDS="$shards" "$root/scripts/flink.sh" "$trace"
	unchanged
	echo "fetched: event files $(fetched .evt) times, local definitions $(fetched '[0-9].def') times"
fi
