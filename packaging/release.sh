#!/usr/bin/env bash
# release.sh VERSION [ARGUMENT…]: makes what goreleaser makes of a release, the source and the recipes. Arguments go to goreleaser:
# --snapshot tries everything on this machine and publishes nothing. Without it, the tag vVERSION must be that of the commit.
# Needs Go, and the tools of packaging/tools.env, which it fetches through the Go proxy if they are not there.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
shift
set -a
. packaging/owner.env
. packaging/tools.env
set +a
export GORELEASER_CURRENT_TAG=v$version # goreleaser's version is that of the source
export GOBIN=$PWD/build/bin PATH=$PWD/build/bin:$PATH
[ -x build/bin/goreleaser ] || go install "github.com/goreleaser/goreleaser/v2@$GORELEASER"
[ -x build/bin/cyclonedx-gomod ] || go install "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$CYCLONEDX"
packaging/source.sh "$version"
packaging/recipes.sh "$version"
goreleaser release --clean "$@"
