#!/usr/bin/env bash
# Builds the wheel and tests it: in a fresh virtual environment without anything else, then with pandas, Polars and a notebook that runs
# headless, and with mypy --strict.
#
#   HTA=TRACE      compares figures with those of HTA, from PyPI, on a trace of PyTorch's profiler
#
# The exit code is 75 if there is no Python or its packages cannot be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v python3 >/dev/null || exit 75
work=$(mktemp -d "${TMPDIR:-/tmp}/tracekit-python-XXXXXX")
trap 'rm -rf "$work"' EXIT

echo "== wheel"
scripts/wheel.sh "$work"
python3 -m venv "$work/venv" || exit 75
pip=("$work/venv/bin/python" -m pip install -q --disable-pip-version-check)
"${pip[@]}" --no-index "$work"/tracekit-*.whl

echo "== alone"
"$work/venv/bin/python" -m unittest discover -s python/tests

echo "== with pandas, Polars and a notebook"
"${pip[@]}" pandas polars pyarrow nbclient ipykernel mypy pandas-stubs || exit 75
"${pip[@]}" otf2 || echo "OTF2's library is not to be had: a test is skipped"
"$work/venv/bin/python" -m unittest discover -s python/tests
"$work/venv/bin/python" -m mypy --cache-dir "$work/mypy" --config-file python/pyproject.toml python/tracekit python/backend.py

if [ -n "${HTA:-}" ]; then
	echo "== against HTA"
	"${pip[@]}" HolisticTraceAnalysis || exit 75
	"$work/venv/bin/python" python/tests/against_hta.py "$HTA"
fi
