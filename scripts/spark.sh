#!/usr/bin/env bash
# Analyses or compresses a trace with Spark on this machine and compares what it makes with what the plain
# command makes: Beam's job server with Spark inside it, and workers as processes of their own. It needs
# Java 17, Maven, Go and 2 GB of memory; Spark and Beam come from Maven Central, in pinned versions.
# What it starts it ends, by process id.
#
#   scripts/spark.sh [TRACE]          (default: samples/archives/halo2d-8)
#   THREADS=2      tasks at a time
#   and COMMAND, SHARDS, PROGRAMS: see scripts/beam.sh
. "$(dirname "$0")/beam.sh"
threads=${THREADS:-2}
programs spark

echo "== engine"
start jobserver 1g spark org.apache.beam.runners.spark.SparkJobServerDriver --spark-master-url="local[$threads]" \
	--job-host=127.0.0.1 --job-port=$jobs --artifact-port=$artifacts --expansion-port=0 --artifacts-dir="$work/tmp"
listening() { (: >"/dev/tcp/127.0.0.1/$jobs"); }
until_says "the job server" listening

submit "$threads"
compare
