"""Grows a trace of PyTorch: its events once more, later, until the file has SIZE megabytes. For measuring; scripts/json-speed.sh calls it.

Correlations and other identifiers get numbers of their own. What has no time, or is metadata, is written once.

usage: python3 grow.py FROM TO SIZE     (FROM may be compressed by gzip)
"""
import gzip
import json
import re
import sys

SHIFTED = re.compile(r'("ts"|"correlation"|"External id"|"external id"|"id")(: ?)(-?\d+)(\.\d+)?(?=[,\s}])')
IDS = 1 << 24  # identifiers of a copy


def events(text):
    """Returns where the list of events begins and ends, and each event's place in it."""
    begin = re.search(r'"traceEvents"\s*:\s*\[', text).end()
    decoder, at, places = json.JSONDecoder(strict=False), begin, []
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return begin, at, places
        event, end = decoder.raw_decode(text, at)
        places.append((at, end, event))
        at = end


def main(source, target, size):
    opened = gzip.open if source.endswith(".gz") else open
    with opened(source, "rt", encoding="utf-8", errors="replace") as f:
        text = f.read()
    begin, end, places = events(text)
    times = [e["ts"] for _, _, e in places if e.get("ph") not in ("M", None) and "ts" in e]
    ends = [e["ts"] + e.get("dur", 0) for _, _, e in places if e.get("ph") == "X" and "ts" in e]
    span = int(max(times + ends) - min(times)) + 1000
    once = "".join(",\n  " + text[a:b] for a, b, e in places if e.get("ph") not in ("M", None) and "ts" in e)
    pieces, at = [], 0  # texts and, between them, numbers with what each copy adds to them
    for m in SHIFTED.finditer(once):
        pieces.append((once[at:m.start(3)], int(m[3]), span if m[1] == '"ts"' else IDS))
        at = m.end(3)
    rest = once[at:]
    with open(target, "w", encoding="utf-8") as out:
        written = out.write(text[:places[-1][1]])
        copy = 1
        while written < size * 1_000_000:
            written += out.write("".join(f"{t}{n + by * copy}" for t, n, by in pieces) + rest)
            copy += 1
        out.write(text[places[-1][1]:])


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
