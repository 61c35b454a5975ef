"""Grows a trace of Perfetto: the events of its packets once more, later, COPIES times in all. For measuring, as in

    python3 grow.py rocprof-like.pftrace big.pftrace 36000      # 200 MB
    time taskset -c 0 tracekit info --jobs 1 --memory 256M big.pftrace

What says names, clocks and tracks is written once; flows get numbers of their own.

usage: python3 grow.py FROM TO COPIES
"""
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).parents[2] / "internal/protobuf/testdata"))
from wire import fields, holder, varint  # noqa: E402

TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, CLEARED = 8, 10, 11, 12, 13
KIND, TRACK = 9, 11       # of an event
BEGIN, END = 1, 2
FLOWS = (36, 47, 42, 48)  # their fields in an event, varint and fixed
IDS = 1 << 20             # numbers of flows of a copy


def moved(event, by):
    out = bytearray()
    for n, kind, value, raw in fields(event):
        if n in FLOWS and kind == 1:
            raw = varint(n << 3 | 1) + (int.from_bytes(value, "little") + by * IDS).to_bytes(8, "little")
        elif n in FLOWS and kind == 0:
            raw = varint(n << 3) + varint(value + by * IDS)
        out += raw
    return bytes(out)


def main(source, target, copies):
    data = open(source, "rb").read()
    packets, times, open_ = [], [], {}
    for n, kind, packet, raw in fields(data):
        parts = [f for f in fields(packet) if f[0] not in (INTERNED, CLEARED)] if n == 1 else []
        if any(f[0] == TRACK_EVENT for f in parts) and any(f[0] == TIMESTAMP for f in parts):
            rest = b"".join(f[3] for f in parts if f[0] not in (TIMESTAMP, TRACK_EVENT))
            time, event = (next(f[2] for f in parts if f[0] == n) for n in (TIMESTAMP, TRACK_EVENT))
            at = (next((f[2] for f in parts if f[0] == SEQUENCE), 0), next((f[2] for f in fields(event) if f[0] == TRACK), 0))
            kind = next((f[2] for f in fields(event) if f[0] == KIND), 0)
            if kind == BEGIN:
                open_.setdefault(at, []).append(len(packets))
            elif kind == END and open_.get(at):
                open_[at].pop()
            flows = any(f[0] in FLOWS for f in fields(event))
            packets.append((time, event if flows else None, rest if flows else rest + holder(TRACK_EVENT, event)))
            times.append(time)
    for never_ended in open_.values():
        for i in never_ended:
            packets[i] = None
    packets = [p for p in packets if p]
    span = max(times) - min(times) + 1000
    with open(target, "wb") as out:
        out.write(data)
        for copy in range(1, copies):
            out.write(b"".join(
                holder(1, varint(TIMESTAMP << 3) + varint(time + copy * span) + rest + (holder(TRACK_EVENT, moved(event, copy)) if event else b""))
                for time, event, rest in packets))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
