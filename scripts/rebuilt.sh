#!/usr/bin/env bash
# rebuilt.sh [TRACE...]: the table of what is kept in docs/internals/FORMULAE.md. Without arguments: the samples, then the OTF2 and
# Paraver traces of TRACEKIT_SHARED if that is set.
# Needs, to build tracekit, Go; or TRACEKIT=PATH of a built one.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tracekit=${TRACEKIT:-$work/tracekit}
[ -n "${TRACEKIT:-}" ] || (cd "$here" && go build -o "$tracekit" ./cmd/tracekit)
if [ $# = 0 ]; then
  set -- "$here"/samples/archives/*
  [ -z "${TRACEKIT_SHARED:-}" ] || set -- "$@" "$TRACEKIT_SHARED"/traces/otf2/* "$TRACEKIT_SHARED"/traces/paraver/*/*.prv "$TRACEKIT_SHARED"/traces/paraver/*/*.prv.gz
fi

# size KEY prints a size of a compressed trace from its document.
size() { awk -F'[:,] *' -v key="\"$1\"" '$1 ~ key { printf "%d\n", $2; exit }'; }

# late TRACE prints how long its calls wait for late senders, in ns.
late() {
  "$tracekit" analyze --quiet --json --diagnosis=false --overhead=false "$1" | awk -F'[:,] *' '
    /^  "wait_states"/ { inside = 1 } inside && /"late_sender"/ { here = 1 } here && /"time_ns"/ { print $2; here = inside = 0 }'
}

echo "| trace | structure | means | laws | bound | late sender | rebuilt, means | laws |"
echo "|---|--:|--:|--:|--:|--:|--:|--:|"
for trace in "$@"; do
  "$tracekit" compress --quiet --force --json "$trace" -o "$work/x.tkf" > "$work/lossless"
  run=$(late "$trace")
  for durations in mean law; do
    "$tracekit" compress --quiet --force --json --mode stat --durations $durations "$trace" -o "$work/x.tkf" > "$work/$durations"
    late "$work/x.tkf" > "$work/$durations.late"
  done
  name=$(basename "${trace%/traces.otf2}")
  case $name in *.prv*) name="${name%.prv*} (Paraver)" ;; esac
  echo "| $name | $(size structure_bytes < "$work/lossless") | $(size tkf_bytes < "$work/mean") | $(size tkf_bytes < "$work/law")" \
    "| $(size bound_bytes < "$work/law") | $(awk -v run="$run" -v mean="$(cat "$work/mean.late")" -v law="$(cat "$work/law.late")" 'BEGIN {
      if (run == 0) print "- | - | - |"; else printf "%.4g ms | %.1f %% | %.1f %% |\n", run / 1e6, 100 * mean / run, 100 * law / run }')"
done
