#!/usr/bin/env bash
# Analyses or compresses a trace on a Flink cluster of this machine and compares what it makes with
# what the plain command makes: one job manager, task managers of one slot each, Beam's job server, and
# workers as processes of their own. It needs Java 11 or 17, Maven, Go and 3 GB of memory; Flink
# and Beam come from Maven Central, in pinned versions. What it starts it ends, by process id.
#
#   scripts/flink.sh [TRACE]          (default: samples/archives/halo2d-8)
#   COMMAND=analyze or compress
#   MANAGERS=2     task managers
#   SHARDS=16      shards of the trace
#   KILL=1 or 2    kills a task manager during the first or the second pass, and starts another
#   KILL=cluster   kills the job manager during the first pass: the command must fail, and print nothing
#   FLINK=DIR      keeps jars and programs there for the next time
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
trace=$(realpath "${1:-$root/samples/archives/halo2d-8}")
work=$(mktemp -d "${TMPDIR:-/tmp}/tracekit-flink-XXXXXX")
keep=${FLINK:-$work/programs}
command=${COMMAND:-analyze} managers=${MANAGERS:-2}
rest=18081 rpc=16123 blob=16130 jobs=18099 artifacts=18098
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
	# Workers outlive their task manager. Each leads a group of processes.
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

mkdir -p "$keep" "$work/conf" "$work/tmp"
echo "== programs"
(cd "$root" && go build -o "$keep/tracekit" ./cmd/tracekit)
# Beam sends the program to each worker: without symbols there is a third less of it.
(cd "$root/beam" && go build -ldflags='-s -w' -o "$keep/tracekit-beam" . && go build -o "$keep/boot" github.com/apache/beam/sdks/v2/go/container)
if [ ! -f "$keep/jars/done" ]; then
	mvn -q -B -f "$root/scripts/flink/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory="$keep/jars"
	touch "$keep/jars/done"
fi

cat >"$work/conf/config.yaml" <<C
jobmanager.rpc.address: 127.0.0.1
jobmanager.rpc.port: $rpc
jobmanager.bind-host: 127.0.0.1
rest.address: 127.0.0.1
rest.bind-address: 127.0.0.1
rest.port: $rest
blob.server.port: $blob
taskmanager.host: 127.0.0.1
taskmanager.bind-host: 127.0.0.1
taskmanager.numberOfTaskSlots: 1
io.tmp.dirs: $work/tmp
heartbeat.interval: 1000
heartbeat.timeout: 15000
restart-strategy.type: fixed-delay
restart-strategy.fixed-delay.attempts: 5
restart-strategy.fixed-delay.delay: 2 s
C
# Workers of one machine must not stage their program into one folder at the same time.
cat >"$work/worker.sh" <<C
#!/bin/sh
echo \$\$ >>"$work/workers"
cd "\$(mktemp -d "$work/tmp/worker-XXXXXX")"
exec setsid "$keep/boot" "\$@" --semi_persist_dir="\$PWD" >>"$work/worker-\$\$.log" 2>&1
C
chmod +x "$work/worker.sh"

opens=(--add-exports=java.base/sun.net.util=ALL-UNNAMED)
for p in java.lang java.lang.reflect java.net java.io java.nio sun.nio.ch java.text java.time java.util \
	java.util.concurrent java.util.concurrent.atomic java.util.concurrent.locks; do
	opens+=("--add-opens=java.base/$p=ALL-UNNAMED")
done
start() { # NAME HEAP CLASS ARGUMENTS…: pid is that of the process
	local name=$1 heap=$2 class=$3
	shift 3
	FLINK_CONF_DIR="$work/conf" java "${opens[@]}" "-Xmx$heap" -cp "$keep/jars/*" "$class" "$@" >"$work/$name.log" 2>&1 &
	pid=$!
	pids+=("$pid")
}
taskmanager() { # NAME
	local memory=()
	for m in framework.heap.size=64m framework.off-heap.size=32m task.heap.size=300m task.off-heap.size=64m managed.size=64m \
		network.min=48m network.max=48m jvm-metaspace.size=160m jvm-overhead.min=64m jvm-overhead.max=64m; do
		memory+=(-D "taskmanager.memory.$m")
	done
	start "$1" 428m org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" -D taskmanager.cpu.cores=1.0 "${memory[@]}"
}
until_says() { # WHAT COMMAND…: waits until the command succeeds, two minutes at most
	local what=$1
	shift
	for _ in $(seq 600); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.2
	done
	echo "$what did not come up" >&2
	exit 1
}
overview() { curl -fsS "http://127.0.0.1:$rest/overview"; }
slots() { overview | grep -q "\"slots-total\":$managers,"; }
running() { overview | grep -q '"jobs-running":1,'; }
listening() { grep -q 'Job server now running' "$work/jobserver.log"; }

echo "== cluster"
start jobmanager 400m org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$work/conf"
jobmanager=$pid
for ((i = 1; i <= managers; i++)); do taskmanager "taskmanager-$i"; done
victim=$pid
start jobserver 400m org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master=127.0.0.1:$rest --flink-conf-dir="$work/conf" \
	--job-host=127.0.0.1 --job-port=$jobs --artifact-port=$artifacts --expansion-port=0 --artifacts-dir="$work/tmp"
until_says "the task managers" slots
until_says "the job server" listening
overview && echo

echo "== job"
output=()
if [ "$command" = compress ]; then output=(-o "$work/flink.tkf"); fi
began=$(date +%s.%N)
"$keep/tracekit-beam" --runner=universal --endpoint=127.0.0.1:$jobs --environment_type=PROCESS \
	--environment_config="{\"command\":\"$work/worker.sh\"}" --worker_binary="$keep/tracekit-beam" --parallelism="$managers" \
	--shards="${SHARDS:-16}" --parts="$work/parts" --tracekit="$keep/tracekit" \
	"$command" "$trace" -- --json -q "${output[@]}" >"$work/flink.json" 2>"$work/driver.log" &
job=$!
pids+=("$job")
kill_after() { # PID EXTENSION WHAT: kills a process once a file of a pass is there
	until ls "$work"/parts/*."$2" >/dev/null 2>&1; do
		kill -0 "$job"
		sleep 0.2
	done
	kill -9 "$1"
	echo "$3 $1 was killed after $(ls "$work"/parts/*."$2" | wc -l) of ${SHARDS:-16} files .$2"
}
case ${KILL:-0} in
1 | 2)
	kill_after "$victim" "$([ "$KILL" = 1 ] && echo shard || echo profile)" "task manager"
	taskmanager taskmanager-new
	;;
cluster) kill_after "$jobmanager" shard "job manager" ;;
esac
code=0
wait "$job" || code=$?
if [ "${KILL:-0}" = cluster ]; then
	echo "exit code $code, a document of $(wc -c <"$work/flink.json") bytes; the last words:"
	grep '^tracekit-beam: ' "$work/driver.log" | tail -n 1 | cut -c1-300
	[ $code -ne 0 ] && [ ! -s "$work/flink.json" ]
	exit
fi
if [ $code -ne 0 ]; then
	tail -n 5 "$work/driver.log" >&2
	exit 1
fi
grep -hoE 'state: [A-Z]+' "$work/driver.log" | tr '\n' ' ' && echo
echo "$(ls "$work"/parts/*.shard | wc -l) shards, $managers task managers, $(ls "$work"/worker-*.log | wc -l) worker processes:" \
	"$(echo "$(date +%s.%N) - $began" | bc) s from submitting to the document"

echo "== comparison"
began=$(date +%s.%N)
if [ "$command" = compress ]; then output=(-o "$work/local.tkf"); fi
"$keep/tracekit" "$command" --json -q "$trace" "${output[@]}" >"$work/local.json"
echo "the plain command takes $(echo "$(date +%s.%N) - $began" | bc) s"
cmp "$work/local.json" "$work/flink.json"
if [ "$command" = compress ]; then cmp "$work/local.tkf" "$work/flink.tkf"; fi
echo "the documents are equal: $(wc -c <"$work/flink.json") bytes, sha256 $(sha256sum <"$work/flink.json" | cut -c1-16)"
