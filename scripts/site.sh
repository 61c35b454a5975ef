#!/usr/bin/env bash
# site.sh [DIR]: builds the documentation as a site with search into DIR (default: site, in the repository). No server is needed: open
# DIR/index.html.
# A link that leads nowhere is an error. Needs python3 with venv and npm, and their registries the first time: the generator, with the
# versions in scripts/site/requirements.txt, and what lets search run without a server are kept in the user's cache.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/site}"
out=$(cd "${1:-$root/site}" && pwd)
if [ -n "$(ls -A "$out")" ] && ! [ -e "$out/search/search_index.js" ]; then
  echo "site.sh: $out is neither empty nor a site; what is in it would be lost" >&2
  exit 1
fi
cd "$root"
venv=${XDG_CACHE_HOME:-$HOME/.cache}/tracekit/site-$(cksum scripts/site/requirements.txt | cut -d' ' -f1)
if ! [ -e "$venv/complete" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" -q --disable-pip-version-check install -r scripts/site/requirements.txt
  (cd "$venv" && tar -xzf "$(npm pack --silent iframe-worker@1.0.4)" package/shim/index.js)
  touch "$venv/complete"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Pages keep their places, so that their links hold: README.md, docs/, and what these link to.
git ls-files -co --exclude-standard README.md CONTRIBUTING.md LICENSE docs samples/README.md samples/rules web/vendor/preact/LICENSE |
  while read -r file; do
    [ -e "$file" ] || continue
    mkdir -p "$work/docs/$(dirname "$file")"
    cp "$file" "$work/docs/$file"
  done
sed 's/^```sh test$/```sh/' README.md >"$work/docs/README.md" # without the mark that .ci/run reads
mkdir "$work/docs/assets"
cp "$venv/package/shim/index.js" "$work/docs/assets/iframe-worker.js"
cp scripts/site/mkdocs.yml "$work"
cp scripts/site/nav.yml "$work/docs"
if ! NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict -f "$work/mkdocs.yml" -d "$out" >"$work/log" 2>&1; then
  grep -v ^INFO "$work/log" >&2
  exit 1
fi
echo "$out/index.html"
