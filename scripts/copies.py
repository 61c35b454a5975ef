#!/usr/bin/env python3
"""Makes an OTF2 archive in which the MPI job of another one runs several times side by side, for tests of archives larger than the disk.

usage: scripts/copies.py ARCHIVE.otf2 NUMBER DIRECTORY

Copies share the files of events (hard links). These name communicators by numbers, which the mapping tables of each copy lead to
its communicators, and peers by ranks in these. Archives of `tracekit generate` will do: little-endian, one chunk of
definitions, no mapping tables, metrics, windows or topologies.
"""
import itertools
import os
import struct
import sys

base, copies, out = os.path.splitext(sys.argv[1])[0], int(sys.argv[2]), sys.argv[3]
new = os.path.join(out, os.path.basename(base))
LOCATION_GROUP, LOCATION, GROUP, COMM = 13, 14, 18, 22  # kinds of definitions
COMM_LOCATIONS, COMM_GROUP = 4, 5  # kinds of groups


def fields(data, kinds):
    """The first fields of a record, and the rest: n is a compressed number, b a byte, * as many n as the number before says."""
    found, at = [], 0
    for kind in kinds:
        for _ in range(found[-1] if kind == "*" else 1):
            size = 0 if kind == "b" else data[at]
            found.append(data[at] if kind == "b" else int.from_bytes(data[at + 1 : at + 1 + size], "little"))
            at += 1 + size
    return found, data[at:]


def coded(*numbers):
    sizes = [(n.bit_length() + 7) // 8 for n in numbers]
    return b"".join(bytes([size]) + n.to_bytes(size, "little") for n, size in zip(numbers, sizes))


def record(kind, data):
    return bytes([kind]) + (bytes([len(data)]) if len(data) < 255 else b"\xff" + struct.pack("<Q", len(data))) + data


def numbered(kind, self, k):
    """The number of what copy k has for what has number self: all numbers are used."""
    return self if k == 0 else step[kind] + (k - 1) * len(owned[kind]) + owned[kind].index(self)


def copied(kind, data, k):
    """The record of copy k; none if all copies have that of the first one."""
    if kind == LOCATION_GROUP:
        (self,), rest = fields(data, "n")
        return coded(self + k * step[kind]) + rest
    if kind == LOCATION:
        (self, name, what, events, group), rest = fields(data, "nnbnn")
        return coded(self + k * step[kind], name) + bytes([what]) + coded(events, group + k * step[LOCATION_GROUP]) + rest
    if kind == GROUP:
        (self, name, old, n, *members), rest = fields(data, "nnbn*")
        if rest[0] == COMM_GROUP:
            self, members = numbered(kind, self, k), [m + k * len(ids[LOCATION]) for m in members]
        elif rest[0] == COMM_LOCATIONS and k == 0:
            members = [m + i * step[LOCATION] for i in range(copies) for m in members]
        elif k > 0:
            return None
        return coded(self, name) + bytes([old]) + coded(len(members), *members) + rest
    if kind == COMM:
        (self, name, group), rest = fields(data, "nnn")
        if self in owned[COMM]:
            return coded(numbered(kind, self, k), name, numbered(GROUP, group, k)) + rest
    return data if k == 0 else None


with open(base + ".def", "rb") as f:
    text = f.read()
records, at, head = [], 18, text[:18]
while text[at] != 2:  # the end of the file
    long = text[at + 1] == 255
    size, begin = struct.unpack_from("<Q", text, at + 2)[0] if long else text[at + 1], at + (10 if long else 2)
    records.append((text[at], text[begin : begin + size]))
    at = begin + size
ids = {want: [fields(data, "n")[0][0] for kind, data in records if kind == want] for want in (LOCATION_GROUP, LOCATION, GROUP, COMM)}
step = {kind: max(numbers) + 1 for kind, numbers in ids.items()}
groups = [fields(data, "nnbn*") for kind, data in records if kind == GROUP]
owned = {GROUP: [numbers[0] for numbers, rest in groups if rest[0] == COMM_GROUP]}
owned[COMM] = [c[0] for c in (fields(data, "nnn")[0] for kind, data in records if kind == COMM) if c[2] in owned[GROUP]]

os.makedirs(new)
made = []
for kind, run in itertools.groupby(records, lambda r: r[0]):
    run = list(run)
    made += [record(kind, new_one) for k in range(copies) for _, data in run if (new_one := copied(kind, data, k)) is not None]
with open(new + ".def", "wb") as f:
    f.write(head + b"".join(made) + b"\x02\x01")
with open(base + ".otf2", "rb") as old, open(new + ".otf2", "wb") as f:
    anchor = bytearray(old.read())
    struct.pack_into("<QQ", anchor, 30, copies * len(ids[LOCATION]), len(made))
    f.write(anchor)
for k in range(copies):
    table = coded(*(n for self in owned[COMM] for n in (self, numbered(COMM, self, k))))
    table = record(5, bytes([6]) + coded(len(owned[COMM])) + b"\x01" + table)  # of communicators, sparse
    for n in ids[LOCATION]:
        path = os.path.join(new, str(n + k * step[LOCATION]))
        os.link(os.path.join(base, f"{n}.evt"), path + ".evt")
        with open(path + ".def", "wb") as f:
            f.write(head + table + b"\x02\x01")
