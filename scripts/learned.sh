#!/usr/bin/env bash
# learned.sh [ARCHIVE...]: what formulae learn, in all archives together: the tables of docs/internals/TKF.md,
# for all kinds of formulae and for the paper's alone. Without arguments: the samples.
# Needs, to build tracekit, Go; or TRACEKIT=PATH of a built one.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tracekit=${TRACEKIT:-$work/tracekit}
[ -n "${TRACEKIT:-}" ] || (cd "$here" && go build -o "$tracekit" ./cmd/tracekit)
[ $# -gt 0 ] || set -- "$here"/samples/archives/*

# flat prints each number of an indented JSON document after its path.
flat() {
  awk '{ depth = (match($0, /[^ ]/) - 1) / 2; line = $0; sub(/^ +/, "", line); sub(/,$/, "", line)
    if (line ~ /^[\]}]/) next
    key = count[depth]++; value = line
    if (line ~ /^"[^"]*": /) { key = substr(line, 2, index(line, "\": ") - 2); value = substr(line, length(key) + 5) }
    path[depth] = key; count[depth + 1] = 0
    if (value ~ /^[-0-9]/) { p = path[1]; for (d = 2; d <= depth; d++) p = p "." path[d]; print p, value } }'
}

for kinds in all paper; do
  rm -f "$work/flat"
  for archive in "$@"; do
    "$tracekit" compress --quiet --force --json --by-memory --formulae $kinds "$archive" -o "$work/x.tkf" | flat \
      | sed "s|^|$(basename "${archive%/traces.otf2}") |" >> "$work/flat"
  done
  for share in by_kind values_by_kind; do
    case $share in by_kind) what=static ;; *) what=dynamic ;; esac
    printf '\n%s formulae, %s\n\n| terms | 6 | 12 | 18 | 24 | 32 | 64 |\n|---|--:|--:|--:|--:|--:|--:|\n' $kinds $what
    awk -v share=$share '
      BEGIN { n = split("send_receivers recv_senders send_tags recv_tags branches iterations paper sizes roots fields", names, " ") }
      split($2, p, ".") == 5 && p[1] == "learned_by_memory" && p[4] == share {
        all[p[3], p[2]] += $3; if (p[5] == "failed") failed[p[3], p[2]] += $3 }
      END { for (i = 1; i <= n; i++) { row = "| " names[i]
        for (t = 0; t < 6; t++) row = row sprintf(" | %.1f %%", 100 - 100 * failed[names[i], t] / (all[names[i], t] ? all[names[i], t] : 1))
        print row " |" } }' "$work/flat"
  done
  awk -v kinds=$kinds '
    $2 ~ /^learned\.(send_receivers|recv_senders|send_tags|recv_tags)\.by_kind\.failed$/ { partners[$1] += $3 }
    $2 ~ /^learned\.sizes\.by_kind\.failed$/ { sizes[$1] += $3 }
    $2 == "learned.paper.constructs" { constructs += $3 }
    $2 == "learned.paper.learned" { learned += $3; here[$1] = $3 }
    $2 == "learned.paper.constructs" { of[$1] = $3 }
    $2 == "learned.messages.sent" { sent += $3 }
    $2 == "learned.messages.learned" { known += $3 }
    $2 ~ /^learned\.(iterations|branches|sizes|roots|fields|send_receivers|recv_senders|send_tags|recv_tags)\.by_kind\.failed$/ && $3 > 0 {
      split($2, part, "."); why[$1] = why[$1] " " part[2] " " $3 }
    END {
      for (a in of) { n++; if (!partners[a]) known_partners++; if (!partners[a] && !sizes[a]) s++; if (here[a] == of[a]) c++ }
      printf "\n%s formulae, 18 terms: %d of %d constructs (%.1f %%), all of %d archives of %d; partners and tags of %d, with sizes %d; %d of %d messages (%.1f %%)\n",
        kinds, learned, constructs, 100 * learned / constructs, c, n, known_partners, s, known, sent, 100 * known / (sent ? sent : 1)
      for (a in why) printf "  %s: %d of %d constructs; not learned:%s\n", a, here[a], of[a], why[a] | "sort" }' "$work/flat"
done
