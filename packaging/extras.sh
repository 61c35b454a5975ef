#!/usr/bin/env bash
# extras.sh [VERSION]: makes manual pages, completions and what packages have beside them, in build/extras.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/owner.env
version=${1:-0}
out=build/extras
rm -rf "$out"
mkdir -p "$out/man" "$out/man.gz" "$out/completions"
go build -o build/tracekit ./cmd/tracekit
build/tracekit man "$out/man"
for page in "$out"/man/*; do
  gzip -9n <"$page" >"$out/man.gz/$(basename "$page").gz"
done
for shell in bash zsh fish; do
  build/tracekit completion "$shell" >"$out/completions/tracekit.$shell"
done
build/tracekit completion powershell >"$out/completions/tracekit.ps1"
cat NOTICE >"$out/copyright"
printf '%s\nLICENSE of tracekit\n\n' "$(printf -- '-%.0s' {1..80})" >>"$out/copyright"
cat LICENSE >>"$out/copyright"
gzip -9n <CHANGELOG.md >"$out/CHANGELOG.md.gz"
gzip -9n >"$out/changelog.gz" <<END # Debian wants one of its form
tracekit ($version) stable; urgency=medium

  * CHANGELOG.md.gz lists the changes.

 -- $MAINTAINER  $(git log -1 --format=%cD)
END
