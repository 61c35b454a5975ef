#!/bin/sh
# The study of a wavefront program's communication overhead: benchmark, profile, runs of
# samples/programs/sweep.c at several process counts, and the tables by source line and MPI
# function, in Markdown on standard output.
#
# usage: scripts/overhead-study.sh DIR [PROCESSES...]      (default 2 4 6 8 12 16)
#
# Traces are made by samples/make.sh (which says what it needs) below DIR; those that are
# there already are used again. BENCH_P processes (default 2) run the benchmark, with
# REPEAT calls (default 200) of each kind and size up to MAXBYTES (default 100000). Use no
# more than there are cores. DIR/profile.json is the profile, DIR/plots its pictures.
set -eu

if [ $# -lt 1 ]; then
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
	exit 2
fi
mkdir -p "$1"
dir=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 2 4 6 8 12 16
cd "$(dirname "$0")/.."
bench=${BENCH_P:-2}

[ -d "$dir/mpibench-$bench" ] || samples/make.sh bench "$dir" "$bench" "${REPEAT:-200}" "${MAXBYTES:-100000}" >&2
missing=""
for p; do [ -d "$dir/sweep-$p" ] || missing="$missing $p"; done
# shellcheck disable=SC2086 # a list of words
[ -z "$missing" ] || samples/make.sh study "$dir" $missing >&2

go build -o "$dir/tracekit" ./cmd/tracekit
"$dir/tracekit" fit --quiet --force --top 20 --stability --plots "$dir/plots" -o "$dir/profile.json" "$dir"/mpibench-* >"$dir/fit.txt"

# rows DOCUMENT PROCESSES prints "processes|operation|line|calls|total|overhead|late|unreliable calls" of each line, times in ns.
rows() {
	awk -v p="$2" '
		/^  "overhead": \{/ { block = 1 }
		/^  \}/ { block = 0 }
		block && /^    "lines": \[/ { lines = 1 }
		block && /^    \]/ { lines = 0 }
		!lines { next }
		{ key = $1; gsub(/[":]/, "", key); value = $0; sub(/^[^:]*: /, "", value); sub(/,$/, "", value); gsub(/"/, "", value); field[key] = value }
		/^      \}/ { printf "%d|%s|%s:%s|%s|%s|%s|%s|%s\n", p, field["operation"], field["file"], field["line"], field["calls"],
			field["total_ns"], field["overhead_ns"], field["late_partner_ns"], field["unreliable_calls"] }
	' "$1"
}

# tables WAY prints the tables of the rows on standard input.
tables() {
	awk -F'|' -v way="$1" '
		function percent(part, whole) { return whole == 0 ? 0 : 100 * part / whole }
		{ n++; p[n] = $1; op[n] = $2; at[n] = $3; calls[n] = $4; total[n] = $5; over[n] = $6; late[n] = $7; bad[n] = $8
		  if (!($1 in seen)) { seen[$1] = 1; order[++ps] = $1 }
		  key = $3 " " $2; if (!(key in known)) { known[key] = ++ks; name[ks] = key }
		  share[$1, key] = sprintf("%.1f %%%s", percent($6, $5), 2 * $8 > $4 ? " ?" : ""); sumt[$1] += $5; sumo[$1] += $6 }
		END {
			printf "### By source line and MPI function, %s\n", way
			for (i = 1; i <= ps; i++) {
				printf "\n%d processes:\n\n| Source line | MPI function | Calls | Total time [ms] | Overhead [ms] | of which late partner [ms] | Share | Unreliable calls |\n|---|---|--:|--:|--:|--:|--:|--:|\n", order[i]
				for (k = 1; k <= n; k++) if (p[k] == order[i])
					printf "| %s | %s | %d | %.2f | %.2f | %.2f | %.1f %% | %d |\n", at[k], op[k], calls[k], total[k] / 1e6, over[k] / 1e6, late[k] / 1e6, percent(over[k], total[k]), bad[k]
				printf "| all | | | %.2f | %.2f | | %.1f %% | |\n", sumt[order[i]] / 1e6, sumo[order[i]] / 1e6, percent(sumo[order[i]], sumt[order[i]])
			}
			printf "\n### Share of overhead by number of processes, %s\n\n| Source line, MPI function |", way
			for (i = 1; i <= ps; i++) printf " %d |", order[i]
			printf "\n|---|"; for (i = 1; i <= ps; i++) printf "--:|"
			printf "\n"
			for (k = 1; k <= ks; k++) {
				printf "| %s |", name[k]
				for (i = 1; i <= ps; i++) if ((order[i], name[k]) in share) printf " %s |", share[order[i], name[k]]; else printf " |"
				printf "\n"
			}
			printf "| all |"; for (i = 1; i <= ps; i++) printf " %.1f %% |", percent(sumo[order[i]], sumt[order[i]])
			printf "\n\n"
		}'
}

for way in "benchmark's profile" "calibrated with the trace itself"; do
	option=""
	[ "$way" = "calibrated with the trace itself" ] || option="--profile $dir/profile.json"
	for p; do
		# shellcheck disable=SC2086 # an option and its value
		"$dir/tracekit" analyze --quiet --json $option "$dir/sweep-$p" >"$dir/analysis.json" 2>>"$dir/warnings.txt"
		rows "$dir/analysis.json" "$p"
	done | tables "$way"
done
rm -f "$dir/analysis.json"
