#!/usr/bin/env bash
# extras.sh: makes manual pages, completions and what packages have beside them, in build/extras.
set -euo pipefail
cd "$(dirname "$0")/.."
out=build/extras
rm -rf "$out"
mkdir -p "$out/man" "$out/man.gz" "$out/completions"
go build -o build/tracekit ./cmd/tracekit
build/tracekit man "$out/man"
for page in "$out"/man/*; do
  gzip -9n <"$page" >"$out/man.gz/$(basename "$page").gz"
done
for shell in bash zsh fish powershell; do
  build/tracekit completion "$shell" >"$out/completions/tracekit.$shell"
done
cat NOTICE >"$out/copyright"
printf '%s\nLICENSE of tracekit\n\n' "$(printf -- '-%.0s' {1..80})" >>"$out/copyright"
cat LICENSE >>"$out/copyright"
gzip -9n <CHANGELOG.md >"$out/changelog.gz"
