#!/usr/bin/env bash
# quality.sh prints the rows of the quality factors in docs/internals/FORMULAE.md: each program is run
# twice, the first run is compressed in stat mode with means and with laws, and the rebuilt
# events and the second run are compared with the first. Generated programs are always in
# the table; pairs of archives may be named in addition. A second table has wait states:
#
#   scripts/quality.sh [RUN1/traces.otf2 RUN2/traces.otf2]...
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/tracekit" ./cmd/tracekit

for program in halo sweep masterworker; do
  for seed in 1 2; do
    "$work/tracekit" generate "$program" --ranks 16 --iterations 200 --seed $seed -o "$work/$program-$seed" > /dev/null
  done
  set -- "$@" "$work/$program-1/traces.otf2" "$work/$program-2/traces.otf2"
done

# number KEY prints the number that follows a key on a line of the JSON document read.
number() { sed -n 's/.*"'"$1"'": *\([-0-9.e+]*\).*/\1/p' | head -1; }
factor() { printf '%.2f' "$(number "$1")"; }
milliseconds() { awk -v ns="$(number "$1")" 'BEGIN { printf "%.5g ms", ns / 1e6 }'; }

# results KEY prints both values of a result of the comparison read, in ms; "- -" if it has none.
results() {
  grep -A2 "\"$1\"" | awk '/"[ab]":/ { gsub(/[^-0-9.e+]/, "", $2); v = $2 / 1e6; printf v < 1000 ? "%.4g ms " : "%.0f ms ", v; n++ } END { if (!n) printf "- - - -" }'
}

echo "| trace | durations | .tkf | length | rebuilt | records paired | missing | bytes sent, rebuilt / run | position factor | block factor |"
echo "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"
states="late_sender late_receiver wait_at_nxn wait_at_barrier"
while [ $# -gt 1 ]; do
  name=$(basename "$(dirname "$1")")
  "$work/tracekit" compare --quiet --records --json "$1" "$2" > "$work/again.json"
  for durations in mean law; do
    "$work/tracekit" compress --quiet --force --mode stat --durations $durations "$1" -o "$work/x.tkf" > /dev/null
    "$work/tracekit" compare --quiet --json "$1" "$work/x.tkf" --repeat "$2" > "$work/doc.json"
    durations_of=$(grep -A3 '"trace.duration_ns"' "$work/doc.json")
    bytes_of=$(grep -A3 '"messages.bytes"' "$work/doc.json")
    echo "| $name | $durations | $(stat -c %s "$work/x.tkf") | $(milliseconds a <<< "$durations_of") | $(milliseconds b <<< "$durations_of")" \
      "| $(number paired < "$work/doc.json") | $(number only_a < "$work/doc.json")" \
      "| $(awk -v a="$(number a <<< "$bytes_of")" -v b="$(number b <<< "$bytes_of")" 'BEGIN { printf "%.4f", b / a }')" \
      "| $(factor position_factor < "$work/doc.json") | $(factor block_factor < "$work/doc.json") |"
    row="| $name | $durations"
    for state in $states; do
      read -r run _ again _ <<< "$(results wait_states.$state.time_ns < "$work/again.json")"
      read -r _ _ rebuilt _ <<< "$(results wait_states.$state.time_ns < "$work/doc.json")"
      row="$row | $run | $again | $rebuilt"
    done
    echo "$row |" >> "$work/waits"
  done
  shift 2
done

echo
echo "Wait states in ms, of the run, of the repeated run, and rebuilt:"
echo
printf '| trace | durations'
for state in $states; do printf ' | %s | again | rebuilt' "$state"; done
printf ' |\n|---|---'
for state in $states; do printf '|--:|--:|--:'; done
printf '|\n'
cat "$work/waits"
