#!/usr/bin/env bash
# Analyses or compresses a trace on a Flink cluster of this machine and compares what it makes with
# what the plain command makes: one job manager, task managers of one slot each, Beam's job server, and
# workers as processes of their own. It needs Java 11 or 17, Maven, Go and 3 GB of memory; Flink
# and Beam come from Maven Central, in pinned versions. What it starts it ends, by process id.
#
#   scripts/flink.sh [TRACE]          (default: samples/archives/halo2d-8)
#   MANAGERS=2     task managers
#   KILL=1 or 2    kills a task manager during the first or the second pass, and starts another
#   KILL=cluster   kills the job manager during the first pass: the command must fail, and print nothing
#   and COMMAND, SHARDS, PROGRAMS: see scripts/beam.sh
. "$(dirname "$0")/beam.sh"
managers=${MANAGERS:-2}
rest=18081 rpc=16123 blob=16130
programs flink
# With each job the job server sends the cluster every jar that it is made of, one after the other, each of which takes
# a tenth of a second. So it is made of one.
if [ ! -f "$keep/jobserver/done" ]; then
	mvn -q -B -f "$root/scripts/flink/pom.xml" package -Djars="$keep/jobserver" || exit 75
	rm "$keep/jobserver/original-jobserver.jar"
	touch "$keep/jobserver/done"
fi

mkdir "$work/conf"
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
taskmanager() { # NAME
	local memory=()
	for m in framework.heap.size=64m framework.off-heap.size=32m task.heap.size=300m task.off-heap.size=64m managed.size=64m \
		network.min=48m network.max=48m jvm-metaspace.size=160m jvm-overhead.min=64m jvm-overhead.max=64m; do
		memory+=(-D "taskmanager.memory.$m")
	done
	start "$1" 428m flink org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir "$work/conf" \
		-D taskmanager.cpu.cores=1.0 "${memory[@]}"
}
overview() { curl -fsS "http://127.0.0.1:$rest/overview"; }
slots() { overview | grep -q "\"slots-total\":$managers,"; }
listening() { grep -q 'Job server now running' "$work/jobserver.log"; }

echo "== cluster"
start jobmanager 400m flink org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint --configDir "$work/conf"
jobmanager=$pid
for ((i = 1; i <= managers; i++)); do taskmanager "taskmanager-$i"; done
victim=$pid
start jobserver 400m jobserver org.apache.beam.runners.flink.FlinkJobServerDriver --flink-master=127.0.0.1:$rest --flink-conf-dir="$work/conf" \
	--job-host=127.0.0.1 --job-port=$jobs --artifact-port=$artifacts --expansion-port=0 --artifacts-dir="$work/tmp"
until_says "the task managers" slots
until_says "the job server" listening
overview && echo

submit "$managers"
# made counts the files of a pass that are there, or that were put into a store by what it notes of requests.
made() {
	if [ -n "${FROM:-}" ]; then
		grep -cE "\"PUT [^ ]*\.$1[ ?]" "$REQUESTS" || true
	else
		find "$work/parts" -name "*.$1" 2>/dev/null | wc -l
	fi
}
kill_after() { # PID EXTENSION WHAT: kills a process once a file of a pass is there
	until [ "$(made "$2")" -gt 0 ]; do
		kill -0 "$job"
		sleep 0.2
	done
	kill -9 "$1"
	echo "$3 $1 was killed after $(made "$2") of $shards files .$2"
}
case ${KILL:-0} in
1 | 2)
	kill_after "$victim" "$([ "$KILL" = 1 ] && echo shard || echo profile)" "task manager"
	taskmanager taskmanager-new
	;;
cluster)
	kill_after "$jobmanager" shard "job manager"
	code=0
	wait "$job" || code=$?
	echo "exit code $code, a document of $(wc -c <"$work/beam.json") bytes; the last words:"
	grep '^tracekit-beam: ' "$work/driver.log" | tail -n 1 | cut -c1-300
	[ $code -ne 0 ] && [ ! -s "$work/beam.json" ]
	exit
	;;
esac
compare
