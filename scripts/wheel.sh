#!/usr/bin/env bash
# Builds Python wheels that carry the command: of this platform, or of those named, such as linux/arm64.
# They need Go, Python's own library, and Go's modules.
#
#   scripts/wheel.sh DIR [GOOS/GOARCH...]
set -euo pipefail
out=$(mkdir -p "${1:?the directory of the wheels}" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
for platform in "${@:-$(go env GOOS)/$(go env GOARCH)}"; do
	GOOS=${platform%/*} GOARCH=${platform#*/} python3 python/backend.py "$out"
done
