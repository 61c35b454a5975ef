#!/usr/bin/env bash
# Says which traces two builds of tracekit analyze differently: what only makes the program faster must change no byte of a document.
#
#     scripts/same.sh OLD NEW DIRECTORY...     # OLD and NEW: programs; each file and folder of the directories is analyzed
set -u
old=$1 new=$2
shift 2
runs=0 bad=0
while read -r trace; do
	a=$("$old" analyze --json -q "$trace" 2>&1; echo "exit $?")
	b=$("$new" analyze --json -q "$trace" 2>&1; echo "exit $?")
	runs=$((runs + 1))
	if [ "$a" != "$b" ]; then
		bad=$((bad + 1))
		echo "differs: $trace"
	fi
done < <(find "$@" -mindepth 1)
echo "$runs runs, $bad differ"
[ "$bad" -eq 0 ]
