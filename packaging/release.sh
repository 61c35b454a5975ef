#!/usr/bin/env bash
# release.sh VERSION [ARGUMENT…]: makes all of a release. Arguments go to goreleaser: --snapshot tries everything on this machine and
# publishes nothing; --single-target builds for this machine alone.
# Needs Go, and the tools of packaging/tools.env, which it fetches through the Go proxy if they are not there.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
shift
set -a
. packaging/owner.env
. packaging/tools.env
set +a
export GOBIN=$PWD/build/bin PATH=$PWD/build/bin:$PATH
[ -x build/bin/goreleaser ] || go install "github.com/goreleaser/goreleaser/v2@$GORELEASER"
[ -x build/bin/cyclonedx-gomod ] || go install "github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$CYCLONEDX"
packaging/source.sh "$version"
packaging/recipes.sh "$version"
goreleaser release --clean "$@"
