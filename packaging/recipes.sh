#!/usr/bin/env bash
# recipes.sh VERSION: fills the recipes of Homebrew, Spack and conda with the version and the checksum of build/source, into
# build/recipes.
set -euo pipefail
cd "$(dirname "$0")/.."
set -a
. packaging/owner.env
VERSION=$1
SHA256=$(sha256sum "build/source/tracekit-$VERSION.tar.gz" | cut -d' ' -f1)
set +a
for recipe in homebrew/tracekit.rb spack/package.py conda/recipe.yaml; do
  mkdir -p "build/recipes/$(dirname "$recipe")"
  sed -e "s|@VERSION@|$VERSION|g; s|@SHA256@|$SHA256|g; s|@SITE@|$SITE|g; s|@DOWNLOADS@|$DOWNLOADS|g" \
    "packaging/$recipe" >"build/recipes/$recipe"
done
