"""Writes one made-up program as several recorders would have recorded it: the profiler of PyTorch, Nsight Systems, rocprofv3 as a
database (rocpd) and as JSON, Perfetto as rocprof-sys uses it, XLA's profiler.

usage: python3 make.py     (in testdata/recorders)

Two ranks with a GPU each, four steps. In each step the main thread launches a kernel and a reduction on stream 1, which last longer on
rank 1, and a copy on stream 2, and waits for the device. Calls have the names of HIP where the recorder is one for AMD, and else those of CUDA.
"""
import json
import os
import sqlite3

EPOCH = 1_700_000_000_000_000_000
KERNELS = ["stencil(double*, int)", "reduce<256>(double*)"]


def program(rank):
    """Ranges, calls (name, begin, end, id) and work (kind, name, stream, begin, end, id, bytes), in ns."""
    ranges, calls, work = [], [], []
    t, number = 1_000_000 + 3_000 * rank, 0
    for step in range(4):
        begin = t
        for kind, name, stream, lasts in (("kernel", KERNELS[0], 1, 700_000 + 150_000 * rank), ("kernel", KERNELS[1], 1, 90_000),
                                          ("copy", "Memcpy HtoD", 2, 200_000)):
            number += 1
            calls.append(("LaunchKernel" if kind == "kernel" else "MemcpyAsync", t, t + 4_000, number))
            start = max([t + 9_000] + [w[4] + 1_000 for w in work if w[2] == stream])
            work.append((kind, name, stream, start, start + lasts, number, 4096 if kind == "copy" else None))
            t += 6_000
        number += 1
        done = max(w[4] for w in work) + 2_000
        calls.append(("DeviceSynchronize", t, done, number))
        t = done + 150_000
        ranges.append((f"ProfilerStep#{step}", begin, t))
        t += 5_000
    return ranges, calls, work


def path(name):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    if os.path.exists(name):
        os.remove(name)
    return name


def pytorch(rank):
    ranges, calls, work = program(rank)
    pid = 100 + rank
    us = lambda ns: ns / 1000
    events = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": "solver"}},
              {"ph": "M", "name": "process_name", "pid": rank, "args": {"name": "solver"}},
              {"ph": "M", "name": "process_labels", "pid": rank, "args": {"labels": f"GPU {rank}"}},
              {"ph": "M", "name": "thread_name", "pid": pid, "tid": pid, "args": {"name": "main"}}]
    for s in (1, 2):
        events.append({"ph": "M", "name": "thread_name", "pid": rank, "tid": s, "args": {"name": f"stream {s}"}})
    for name, b, e in ranges:
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": pid, "tid": pid, "ts": us(b), "dur": us(e - b)})
    for name, b, e, n in calls:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cuda" + name, "pid": pid, "tid": pid, "ts": us(b), "dur": us(e - b),
                       "args": {"correlation": n}})
    for kind, name, s, b, e, n, size in work:
        events.append({"ph": "X", "cat": "kernel" if kind == "kernel" else "gpu_memcpy", "name": name, "pid": rank, "tid": s, "ts": us(b),
                       "dur": us(e - b), "args": {"correlation": n, "stream": s, "device": rank}})
    with open(path(f"pytorch/rank{rank}.json"), "w") as f:
        json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
                   "baseTimeNanoseconds": EPOCH, "traceEvents": events}, f, separators=(",", ":"))
        f.write("\n")


def nsight(rank):
    ranges, calls, work = program(rank)
    pid = 100 + rank
    main, process = 1 << 56 | pid << 24 | pid, 1 << 56 | pid << 24
    db = sqlite3.connect(path(f"nsight/rank{rank}.sqlite"))
    db.execute("PRAGMA page_size = 512")
    db.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    strings = {}

    def s(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (strings[text], text))
        return strings[text]

    def table(name, columns, rows):
        db.execute(f"CREATE TABLE {name} ({columns})")
        for row in rows:
            db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)

    table("META_DATA_EXPORT", "name TEXT, value TEXT", [("EXPORT_SCHEMA_VERSION", "3.20.0")])
    table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs INT", [(EPOCH,)])
    table("PROCESSES", "globalPid INT, pid INT, name TEXT", [(process, pid, "solver")])
    table("ThreadNames", "nameId INT, priority INT, globalTid INT", [(s("main"), 1, main)])
    table("NVTX_EVENTS", "start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT",
          [(b, e, 59, name, main, 0) for name, b, e in ranges])
    table("CUPTI_ACTIVITY_KIND_RUNTIME", "start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT",
          [(b, e, 0, main, n, s(f"cuda{name}_v3020")) for name, b, e, n in calls])
    where = "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT"
    table("CUPTI_ACTIVITY_KIND_KERNEL", where + ", demangledName INT, shortName INT",
          [(b, e, rank, 1, st, n, process, s(name), s(name.split("(")[0])) for kind, name, st, b, e, n, _ in work if kind == "kernel"])
    table("CUPTI_ACTIVITY_KIND_MEMCPY", where + ", copyKind INT, bytes INT",
          [(b, e, rank, 1, st, n, process, 1, size) for kind, name, st, b, e, n, size in work if kind == "copy"])
    db.commit()
    db.execute("VACUUM")


def rocpd(rank):
    ranges, calls, work = program(rank)
    pid = 100 + rank
    db = sqlite3.connect(path(f"rocpd/node/{pid}_results.db"))
    db.execute("PRAGMA page_size = 512")
    tables, ids, strings = set(), {}, {}

    def add(name, /, **row):
        if name not in tables:
            tables.add(name)
            db.execute(f"CREATE TABLE rocpd_{name}_0 (id INTEGER PRIMARY KEY, {', '.join(c for c in row if c != 'id')})".replace(
                " end", ' "end"'))
        if "id" not in row:
            row["id"] = ids[name] = ids.get(name, 0) + 1
        columns = ", ".join(f'"{c}"' for c in row)
        db.execute(f"INSERT INTO rocpd_{name}_0 ({columns}) VALUES ({', '.join('?' * len(row))})", list(row.values()))
        return row["id"]

    def s(text):
        if text not in strings:
            strings[text] = add("string", string=text)
        return strings[text]

    add("metadata", tag="schema_version", value="3")
    add("info_node", hostname="", machine_id="x")
    add("info_process", id=pid, pid=pid, command="solver", environment=json.dumps({"PMI_RANK": str(rank)}))
    add("info_thread", id=pid, pid=pid, tid=pid, name="main")
    add("info_agent", id=5, type="GPU", type_index=rank, product_name="x")
    for n in (1, 2):
        add("info_stream", id=n, name=f"Stream {n}")
    for n, name in enumerate(KERNELS):
        add("info_kernel_symbol", id=n, kernel_name=name, display_name=name)

    def event(category, stack, extdata="{}"):
        return add("event", category_id=s(category), stack_id=stack, extdata=extdata)

    for n, (name, b, e) in enumerate(ranges):
        add("region", pid=pid, tid=pid, start=b, end=e, name_id=s("roctxThreadRangeA"),
            event_id=event("MARKER_CORE_RANGE_API", 1000 + n, json.dumps({"message": name})))
    for name, b, e, n in calls:
        add("region", pid=pid, tid=pid, start=b, end=e, name_id=s("hip" + name), event_id=event("HIP_RUNTIME_API_EXT", n))
    for kind, name, st, b, e, n, size in work:
        row = {"pid": pid, "tid": pid, "agent_id": 5, "queue_id": 0, "stream_id": st, "start": b, "end": e}
        if kind == "kernel":
            add("kernel_dispatch", **row, kernel_id=KERNELS.index(name), event_id=event("KERNEL_DISPATCH", n))
        else:
            add("memory_copy", **row, name_id=s("MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=5, src_agent_id=1, size=size,
                event_id=event("MEMORY_COPY", n))
    db.commit()
    db.execute("VACUUM")


def rocprofv3(rank):
    ranges, calls, work = program(rank)
    pid = 100 + rank
    h = lambda n: {"handle": n}
    names = sorted({name for name, *_ in calls})

    def record(kind, operation, b, e, n, **more):
        return {"kind": kind, "operation": operation, "thread_id": pid, "correlation_id": {"internal": n}, "start_timestamp": b,
                "end_timestamp": e} | more

    tool = {
        "metadata": {"pid": pid, "command": "solver", "environment": {"PMI_RANK": str(rank)}, "node": {"hostname": "", "machine_id": "x"}},
        "agents": [{"id": h(5), "type": 2, "logical_node_type_id": rank}],
        "kernel_symbols": [{"kernel_id": n, "kernel_name": name, "formatted_kernel_name": name} for n, name in enumerate(KERNELS)],
        "strings": {"buffer_records": [{"kind": "HIP_RUNTIME_API", "operations": ["hip" + n for n in names]},
                                       {"kind": "MARKER_CORE_API", "operations": ["roctxThreadRangeA"]},
                                       {"kind": "KERNEL_DISPATCH", "operations": [""]},
                                       {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_HOST_TO_DEVICE"]}],
                    "marker_api": [{"key": 1000 + n, "value": name} for n, (name, b, e) in enumerate(ranges)]},
        "buffer_records": {
            "hip_api": [record(0, names.index(name), b, e, n) for name, b, e, n in calls],
            "marker_api": [record(1, 0, b, e, 1000 + n) for n, (name, b, e) in enumerate(ranges)],
            "kernel_dispatch": [record(2, 0, b, e, n, stream_id=h(st), dispatch_info={"agent_id": h(5), "kernel_id": KERNELS.index(name)})
                                for kind, name, st, b, e, n, _ in work if kind == "kernel"],
            "memory_copy": [record(3, 0, b, e, n, stream_id=h(st), dst_agent_id=h(5), bytes=size)
                            for kind, name, st, b, e, n, size in work if kind == "copy"]}}
    with open(path(f"rocprofv3/rank{rank}.json"), "w") as f:
        json.dump({"rocprofiler-sdk-tool": tool}, f, separators=(",", ":"))
        f.write("\n")


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(*fields):
    """A protocol buffer of pairs of number and value."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def perfetto(rank):
    ranges, calls, work = program(rank)
    pid, boot = 100 + rank, 5_000_000_000
    packets = [[(6, message((1, message((1, 6), (2, boot))), (1, message((1, 1), (2, EPOCH)))))],
               [(60, message((1, 1), (3, message((1, pid), (6, "solver")))))],
               [(60, message((1, 2), (5, 1), (4, message((1, pid), (2, pid), (5, "main")))))]]
    packets += [[(60, message((1, 10 + n), (5, 1), (2, f"HIP Activity Device {rank}, Stream {n}")))] for n in (1, 2)]

    def slice(track, category, name, b, e, *arguments):
        more = [(4, message((10, key), (3, value))) for key, value in arguments if value is not None]
        packets.append([(8, boot + b), (11, message((9, 1), (11, track), (22, category), (23, name), *more))])
        packets.append([(8, boot + e), (11, message((9, 2), (11, track)))])

    inner = {b: (name, b, e) for name, b, e in ranges}
    for name, b, e, n in calls:  # the ends of a thread's slices stand behind what lies in them
        if b in inner:
            if packets[-1][0][0] == 8 and b != ranges[0][1]:
                packets.append([(8, boot + last), (11, message((9, 2), (11, 2)))])
            step, begin, last = inner[b]
            packets.append([(8, boot + begin), (11, message((9, 1), (11, 2), (22, "rocm_marker_api"), (23, step)))])
        slice(2, "rocm_hip_api", "hip" + name, b, e, ("corr_id", n))
    packets.append([(8, boot + last), (11, message((9, 2), (11, 2)))])
    for kind, name, st, b, e, n, size in work:
        slice(10 + st, "rocm_kernel_dispatch" if kind == "kernel" else "rocm_memory_copy",
              name if kind == "kernel" else "MEMORY_COPY_HOST_TO_DEVICE", b, e, ("corr_id", n), ("size", size))
    with open(path(f"perfetto/rank{rank}.pftrace"), "wb") as f:
        f.write(b"".join(message((1, message(*p, (10, 1)))) for p in packets))


def xplane(rank):
    ranges, calls, work = program(rank)
    stats = {name: n + 1 for n, name in enumerate(("correlation_id", "step_num", "memcpy_details", "profile_start_time"))}

    def plane(title, lines, *own):
        names = {}

        def event(name, b, e, *values):
            key = names.setdefault(name, len(names) + 1)
            told = [(4, message((1, stats[stat]), (5 if isinstance(v, str) else 4, v))) for stat, v in values]
            return (4, message((1, key), (2, b * 1000), (3, (e - b) * 1000), *told))

        lines = [(3, message((2, name), *[event(*x) for x in events])) for name, events in lines]
        tables = [(table, message((1, n), (2, message((1, n), (2, name))))) for table, of in ((4, names), (5, stats)) for name, n in of.items()]
        return (1, message((2, title), *lines, *tables, *own))

    streams = {}
    for kind, name, st, b, e, n, size in work:
        line, values = f"Stream #{st}({'Kernel' if kind == 'kernel' else 'MemcpyH2D'})", [("correlation_id", n)]
        if size:
            values.append(("memcpy_details", f"kind_src:host kind_dst:device size:{size} dest:0 async:1"))
        streams.setdefault(line, []).append((name if kind == "kernel" else "MemcpyH2D", b, e, *values))
    host = [("train", b, e, ("step_num", n)) for n, (name, b, e) in enumerate(ranges)]
    host += [("cuda" + name, b, e, ("correlation_id", n)) for name, b, e, n in calls]
    with open(path(f"xplane/rank{rank}.xplane.pb"), "wb") as f:
        f.write(message(plane(f"/device:GPU:{rank}", streams.items()), plane("/host:CPU", [("main", host)]),
                        plane("Task Environment", [], (6, message((1, stats["profile_start_time"]), (3, EPOCH))))))


for rank in range(2):
    for write in (pytorch, nsight, rocpd, rocprofv3, perfetto, xplane):
        write(rank)
