#!/usr/bin/env bash
# source.sh VERSION: makes build/source/tracekit-VERSION.tar.gz, the source of the last commit with all modules it needs, so that
# `go build` works without a network. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
name=tracekit-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
(cd "$work/$name" && go mod vendor)
mkdir -p build/source
tar --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner -C "$work" -c "$name" |
  gzip -9n >"build/source/$name.tar.gz"
echo "build/source/$name.tar.gz"
