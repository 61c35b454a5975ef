"""Grows a profile of XLA: the events of its lines once more, later, COPIES times in all. For measuring, as in

    python3 grow.py jax_conv_mi300.xplane.pb big.xplane.pb 5000
    time taskset -c 0 tracekit info --jobs 1 --memory 256M big.xplane.pb

Correlations get numbers of their own.

usage: python3 grow.py FROM TO COPIES
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "internal/protobuf/testdata"))
from wire import fields, holder, varint  # noqa: E402

LINES, STATS = 3, 5          # fields of a plane
TIMESTAMP, EVENTS = 3, 4     # of a line
OFFSET, LENGTH, STAT = 2, 3, 4  # of an event
IDS = 1 << 24                # correlations of a copy


def first(data, field, default=0):
    return next((v for n, _, v, _ in fields(data) if n == field), default)


def correlation(plane):
    """Returns the number of the statistic correlation_id."""
    for n, _, entry, _ in fields(plane):
        if n == STATS and first(first(entry, 2, b""), 2, b"") == b"correlation_id":
            return first(entry, 1)
    return -1


def pieces(event, numbered):
    """Cuts an event where a copy differs: bytes, or (kind, value)."""
    out, offset = [], False
    for n, _, value, raw in fields(event):
        if n == OFFSET:
            out.append(("offset", value))
            offset = True
        elif n == STAT and first(value, 1) == numbered:
            kept = b"".join(r for m, _, _, r in fields(value) if m not in (3, 4))
            m, v = next((m, v) for m, _, v, _ in fields(value) if m in (3, 4))
            out.append(("id", (kept, m, v)))
        elif out and type(out[-1]) is bytes:
            out[-1] += raw
        else:
            out.append(raw)
    return out if offset else out + [("offset", 0)]


def put(parts, copy, span):
    out = bytearray()
    for p in parts:
        if type(p) is bytes:
            out += p
        elif p[0] == "offset":
            out += varint(OFFSET << 3) + varint(p[1] + copy * span)
        else:
            kept, m, v = p[1]
            out += holder(STAT, kept + varint(m << 3) + varint(v + copy * IDS))
    return holder(EVENTS, out)


def main(source, target, copies):
    data = open(source, "rb").read()
    planes = [(n, plane, raw) for n, _, plane, raw in fields(data)]
    ends, begins = [0], []
    for n, plane, _ in planes:
        for m, _, line, _ in fields(plane) if n == 1 else ():
            for k, _, event, _ in fields(line) if m == LINES else ():
                if k == EVENTS:
                    at = first(line, TIMESTAMP) * 1000 + first(event, OFFSET)
                    begins.append(at)
                    ends.append(at + first(event, LENGTH))
    span = (max(ends) - min(begins)) // 1000 * 1000 + 1_000_000
    with open(target, "wb") as out:
        for n, plane, raw in planes:
            if n != 1:
                out.write(raw)
                continue
            numbered, grown = correlation(plane), bytearray()
            for m, _, line, part in fields(plane):
                if m != LINES:
                    grown += part
                    continue
                events = [pieces(e, numbered) for k, _, e, _ in fields(line) if k == EVENTS]
                rest = b"".join(r for k, _, _, r in fields(line) if k != EVENTS)
                more = bytearray(rest)
                for copy in range(copies):
                    for parts in events:
                        more += put(parts, copy, span)
                grown += holder(LINES, more)
            out.write(holder(n, grown))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
