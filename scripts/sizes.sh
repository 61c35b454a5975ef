#!/bin/sh
# sizes.sh [ARCHIVE...]: sizes of OTF2 archives as .tkf files (lossless, exact times) beside
# those that xz -9e and zstd -19 --long reach, in bytes. For each archive the better of tar
# and of all files one after the other counts. Without arguments: the samples.
# Needs GNU tar, xz, zstd and, to build tracekit, Go; or TRACEKIT=PATH of a built one.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
tracekit=${TRACEKIT:-$tmp/tracekit}
[ -n "${TRACEKIT:-}" ] || (cd "$here" && go build -o "$tracekit" ./cmd/tracekit)
[ $# -gt 0 ] || set -- "$here"/samples/archives/*

smaller() { if [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }

printf '%-24s %10s %10s %10s %10s %8s %8s\n' archive raw xz zstd tkf xz/tkf zstd/tkf
for archive in "$@"; do
	dir=$archive
	[ -d "$dir" ] || dir=$(dirname "$dir")
	(cd "$dir" && tar --sort=name -cf "$tmp/a.tar" *.otf2 *.def traces && cat *.otf2 *.def traces/* >"$tmp/a.cat")
	raw=$(wc -c <"$tmp/a.cat")
	xz=$(smaller "$(xz -9e -c "$tmp/a.tar" | wc -c)" "$(xz -9e -c "$tmp/a.cat" | wc -c)")
	zstd=$(smaller "$(zstd -q -19 --long -c "$tmp/a.tar" | wc -c)" "$(zstd -q -19 --long -c "$tmp/a.cat" | wc -c)")
	"$tracekit" compress --quiet --force "$dir" -o "$tmp/a.tkf" >/dev/null
	tkf=$(wc -c <"$tmp/a.tkf")
	awk -v n="$(basename "$dir")" -v r="$raw" -v x="$xz" -v z="$zstd" -v t="$tkf" \
		'BEGIN { printf "%-24s %10d %10d %10d %10d %8.2f %8.2f\n", n, r, x, z, t, x/t, z/t }'
done
