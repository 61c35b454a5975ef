# What scripts/flink.sh and scripts/spark.sh share: programs, processes, the job and the comparison.
# To be sourced, with the trace as the argument.
#
#   COMMAND=analyze, compress or convert (to Parquet, or as OUT=x.otf2 says)
#   SHARDS=16      shards of the trace
#   FROM=ADDRESS   where workers find the trace, in an object store; the argument is the same trace in files
#   REQUESTS=FILE  in which that store notes requests
#   PROGRAMS=DIR   keeps jars and programs there for the next time
#
# The exit code is 75 if jars or modules cannot be fetched, or an engine does not come up.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
trace=$(realpath "${1:-$root/samples/archives/halo2d-8}")
work=$(mktemp -d "${TMPDIR:-/tmp}/tracekit-beam-XXXXXX")
keep=${PROGRAMS:-$work/programs}
command=${COMMAND:-analyze} out=${OUT:-x.parquet} shards=${SHARDS:-16}
jobs=18099 artifacts=18098
pids=()

finish() {
	code=$?
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill "${pids[i]}" 2>/dev/null || true; done
	for pid in "${pids[@]}"; do
		for _ in $(seq 100); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -9 "$pid" 2>/dev/null || true
	done
	wait 2>/dev/null || true
	# Workers outlive who started them. Each leads a group of processes.
	for group in $(cat "$work/workers" 2>/dev/null); do kill -9 -- "-$group" 2>/dev/null || true; done
	# Beam's starter leaves a copy of the program for each worker.
	find /tmp -maxdepth 2 -path '/tmp/bin*/worker' -newer "$work/worker.sh" 2>/dev/null | while read -r copy; do
		if cmp -s "$copy" "$keep/tracekit-beam"; then rm -rf "$(dirname "$copy")"; fi
	done
	if [ $code -ne 0 ]; then
		grep -hE '^Caused by|Exception|panic' "$work"/*.log 2>/dev/null | sort | uniq -c | sort -rn | head -n 10 | cut -c1-250 >&2
	fi
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# programs ENGINE builds the commands and fetches the jars of an engine.
programs() {
	echo "== programs"
	mkdir -p "$keep" "$work/tmp"
	(cd "$root" && go build -o "$keep/tracekit" ./cmd/tracekit)
	# Beam sends the program to each worker: without symbols there is a third less of it.
	(cd "$root/beam" && go build -ldflags='-s -w' -o "$keep/tracekit-beam" . &&
		go build -o "$keep/boot" github.com/apache/beam/sdks/v2/go/container)
	if [ ! -f "$keep/$1/done" ]; then
		mvn -q -B -f "$root/scripts/$1/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
			-DincludeScope=runtime -DoutputDirectory="$keep/$1" || exit 75
		touch "$keep/$1/done"
	fi
	# Workers of one machine must not stage their program into one folder at the same time.
	cat >"$work/worker.sh" <<-C
		#!/bin/sh
		echo \$\$ >>"$work/workers"
		cd "\$(mktemp -d "$work/tmp/worker-XXXXXX")"
		export TMPDIR="\$PWD"
		exec setsid "$keep/boot" "\$@" --semi_persist_dir="\$PWD" >>"$work/worker-\$\$.log" 2>&1
	C
	chmod +x "$work/worker.sh"
}

opens=()
for p in sun.net.util sun.nio.ch sun.security.action; do opens+=("--add-exports=java.base/$p=ALL-UNNAMED"); done
for p in java.lang java.lang.invoke java.lang.reflect java.net java.io java.nio sun.nio.ch sun.nio.cs java.text java.time \
	java.util java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks sun.security.action sun.util.calendar; do
	opens+=("--add-opens=java.base/$p=ALL-UNNAMED")
done
# start NAME HEAP JARS CLASS ARGUMENTS… starts a Java program; pid is that of the process.
start() {
	local name=$1 heap=$2 jars=$3 class=$4
	shift 4
	FLINK_CONF_DIR="$work/conf" java "${opens[@]}" "-Xmx$heap" -cp "$keep/$jars/*" "$class" "$@" >"$work/$name.log" 2>&1 &
	pid=$!
	pids+=("$pid")
}

# until_says WHAT COMMAND… waits until the command succeeds, two minutes at most.
until_says() {
	local what=$1
	shift
	for _ in $(seq 600); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "$what did not come up" >&2
	exit 75
}

# submit PARALLELISM begins the job; job is its process.
submit() {
	echo "== job"
	files=() output=() parts=(--parts="$work/parts")
	if [ -n "${FROM:-}" ]; then parts=(); fi
	case $command in
	compress) output=(-o x.tkf) ;;
	convert)
		files=("$out")
		if [ "$out" = x.parquet ]; then parts=(); fi
		;;
	esac
	mkdir "$work/beam" "$work/local"
	began=$(date +%s.%N)
	cd "$work/beam"
	"$keep/tracekit-beam" --runner=universal --endpoint=127.0.0.1:$jobs --environment_type=PROCESS \
		--environment_config="{\"command\":\"$work/worker.sh\"}" --worker_binary="$keep/tracekit-beam" --parallelism="$1" \
		--shards="$shards" "${parts[@]}" --tracekit="$keep/tracekit" \
		"$command" "${FROM:-$trace}" "${files[@]}" -- --json -q "${output[@]}" >"$work/beam.json" 2>"$work/driver.log" &
	job=$!
	cd "$work/local"
	pids+=("$job")
}

# compare waits for the job and compares what it has made with what the plain command makes.
compare() {
	local code=0
	wait "$job" || code=$?
	if [ $code -ne 0 ]; then
		tail -n 5 "$work/driver.log" >&2
		exit 1
	fi
	grep -hoE 'state: [A-Z]+' "$work/driver.log" | tr '\n' ' ' && echo
	echo "$shards shards, $(ls "$work"/worker-*.log | wc -l) worker processes:" \
		"$(echo "$(date +%s.%N) - $began" | bc) s from submitting to the document"
	echo "== comparison"
	began=$(date +%s.%N)
	"$keep/tracekit" "$command" --json -q "$trace" "${files[@]}" "${output[@]}" >"$work/local.json"
	echo "the plain command takes $(echo "$(date +%s.%N) - $began" | bc) s"
	if [ -n "${FROM:-}" ]; then sed -i "s|${FROM%%\?*}|$trace|g" "$work/beam.json"; fi
	cmp "$work/local.json" "$work/beam.json"
	case $command:$out in
	compress:*) cmp "$work/local/x.tkf" "$work/beam/x.tkf" ;;
	convert:*.otf2) diff -r "$work/local" "$work/beam" ;;
	convert:*) # the events, and what they mean
		for side in local beam; do
			cd "$work/$side"
			"$keep/tracekit" analyze --json -q x.parquet >analysis.json
			"$keep/tracekit" convert -q x.parquet x.json >converted.txt
		done
		cmp "$work/local/analysis.json" "$work/beam/analysis.json"
		cmp "$work/local/x.json" "$work/beam/x.json"
		;;
	esac
	echo "the documents are equal: $(wc -c <"$work/beam.json") bytes, sha256 $(sha256sum <"$work/beam.json" | cut -c1-16)"
}
