"""Writes small databases with the same contents, made up, in three versions of the schema.

usage: python3 make.py     (in testdata)

    v3/node/7_results.db    schema 3: rows say where and when
    v40/node/rocpd-7.db     schema 4.0: rows refer to tracks, and to times in a table of their own
    v41/7.db                schema 4.1: rows refer to tracks
    json/7_results.json     rocprofv3's JSON

Process 7 is rank 1, by its environment. In its main thread: roctx range "step" from 1,000 to 9,000; in it hipLaunchKernel (stack 5),
hipMemcpyAsync (stack 6) and, in another thread, MPI_Barrier. The kernel runs from 2,500 to 4,500 in stream 1 with 17 waves, the copy of
4,096 bytes from 5,000 to 6,000 in stream 2; another kernel, whose launch is not recorded, from 4,000 to 4,400 in stream 1.
"""
import json
import os
import sqlite3

BOOT = 1_000_000


def make(path, version):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    suffix = "_0abc"
    ids, strings, tracks, categories = {}, {}, {}, {}

    def table(name, columns, /):
        db.execute(f'CREATE TABLE IF NOT EXISTS "rocpd_{name}{suffix}" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, `guid` TEXT, '
                   + ", ".join(f'"{c}"' for c in columns if c != "id") + ")")

    def add(name, /, **row):
        table(name, row)
        if "id" not in row:
            row["id"] = ids[name] = ids.get(name, 0) + 1
        row["guid"] = "0abc"
        db.execute(f'INSERT INTO "rocpd_{name}{suffix}" ({", ".join(row)}) VALUES ({", ".join("?" * len(row))})', list(row.values()))
        return row["id"]

    def s(text):
        if text not in strings:
            strings[text] = add("string", string=text)
        return strings[text]

    def category(text):
        if version == 3:
            return s(text)
        if text not in categories:
            categories[text] = add("info_category", name=text)
        return categories[text]

    def place(**where):
        if version == 3:
            return where
        key = tuple(where.values())
        if key not in tracks:
            full = dict.fromkeys(("nid", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id")) | where
            tracks[key] = add("track", **full)
        return {"track_id": tracks[key]}

    def during(begin, end):
        begin, end = BOOT + begin, BOOT + end
        if version == 4.0:
            return {"start_id": add("timestamp", value=begin), "end_id": add("timestamp", value=end)}
        return {"start": begin, "end": end}

    def event(kind, stack=0, extdata="{}"):
        return add("event", category_id=category(kind), stack_id=stack, parent_stack_id=stack, correlation_id=0, extdata=extdata)

    table("metadata", ("tag", "value"))
    add("metadata", tag="schema_version", value={3: "3", 4.0: "4.0.0", 4.1: "4.1.0"}[version])
    add("info_node", id=3, hostname="node", machine_id="abc")
    add("info_process", id=70, nid=3, pid=7, command="./solver -n 3", environment='{"TOKEN": "open sesame", "PMI_RANK": "1", "RANK": "5"}')
    for number, name in ((1, "main"), (2, "helper")):
        add("info_thread", id=number, nid=3, pid=70, tid=6 + number, name=name)
    add("info_agent", id=1, type="CPU", type_index=0, product_name="EPYC")
    add("info_agent", id=2, type="GPU", type_index=4, product_name="Instinct MI300X")
    for number in range(3):
        add("info_stream", id=number, name="Default Stream" if number == 0 else f"Stream {number}")
        add("info_queue", id=number, name=f"Queue {number}")
    symbols = [add("info_kernel_symbol", kernel_name="_Z3addPf.kd", display_name="add(float*)"),
               add("info_kernel_symbol", kernel_name="_Z3mulPf.kd", display_name=None)]
    waves = add("info_pmc", name="SQ_WAVES", units="waves", agent_id=2)
    power = add("info_pmc", name="power", units="W", agent_id=2)

    def region(kind, name, begin, end, tid=1, stack=0, extdata="{}"):
        add("region", **place(nid=3, pid=70, tid=tid), **during(begin, end), name_id=s(name), event_id=event(kind, stack, extdata))

    region("rocm_marker_api", "roctxThreadRangeA", 1000, 9000, stack=4, extdata='{"message": "step"}')
    region("rocm_hip_api", "hipLaunchKernel", 2000, 2200, stack=5)
    region("rocm_hip_api", "hipMemcpyAsync", 3000, 3200, stack=6)
    region("mpi", "MPI_Barrier", 3000, 8000, tid=2)

    def device(stream):
        return place(nid=3, pid=70, tid=1, agent_id=2, queue_id=1, stream_id=stream)

    e = event("rocm_kernel_dispatch", 5)
    add("kernel_dispatch", **device(1), **during(2500, 4500), kernel_id=symbols[0], event_id=e)
    add("pmc_event", event_id=e, pmc_id=waves, value=17.0)
    add("kernel_dispatch", **device(1), **during(4000, 4400), kernel_id=symbols[1], event_id=event("rocm_kernel_dispatch"))
    add("memory_copy", **device(2), **during(5000, 6000), name_id=s("MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=2, src_agent_id=1, size=4096,
        event_id=event("rocm_memory_copy", 6))
    for kind, begin, size in (("ALLOC", 100, 1 << 20), ("ALLOC", 200, 5), ("FREE", 9500, 0)):
        add("memory_allocate", **device(0), **during(begin, begin + 10), type=kind, level="REAL", address=4096 + size % 2, size=size,
            event_id=event("rocm_memory_allocate"))

    def sample(at, kind, track, extdata="{}"):
        e = event(kind, extdata=extdata)
        when = {"timestamp_id": add("timestamp", value=BOOT + at)} if version == 4.0 else {"timestamp": BOOT + at}
        add("sample", track_id=track, event_id=e, **when)
        return e

    named = dict.fromkeys(("nid", "pid", "tid", "agent_id", "queue_id", "stream_id"))
    e = sample(4200, "amd_smi", add("track", **(named | {"nid": 3, "pid": 70, "name_id": s("GPU Power [4] (S)")})))
    add("pmc_event", event_id=e, pmc_id=power, value=300.5)
    sample(8500, "MARKER_CORE_API", add("track", **(named | {"nid": 3, "pid": 70, "tid": 1, "name_id": s("roctxMarkA")})), '{"message": "done"}')
    add("pmc_event", event_id=9999, pmc_id=power, value=1.0)
    add("arg", event_id=1, position=0, name="stream", value="0")
    for name in ("metadata", "region", "event"):
        db.execute(f'CREATE VIEW "rocpd_{name}" AS SELECT * FROM "rocpd_{name}{suffix}"')
    db.commit()
    db.execute("VACUUM")
    db.close()


make("v3/node/7_results.db", 3)
make("v40/node/rocpd-7.db", 4.0)
make("v41/7.db", 4.1)


def make_json(path):
    """The same contents as rocprofv3's JSON, without what it does not have: MPI, names of threads, power, the unlinked value."""
    kinds = [("NONE", []), ("HIP_RUNTIME_API", ["hipLaunchKernel", "hipMemcpyAsync"]), ("MARKER_CORE_API", ["roctxMarkA", "roctxThreadRangeA"]),
             ("KERNEL_DISPATCH", ["", "COMPLETE"]), ("MEMORY_COPY", ["", "MEMORY_COPY_HOST_TO_DEVICE"]),
             ("MEMORY_ALLOCATION", ["", "MEMORY_ALLOCATION_ALLOCATE", "MEMORY_ALLOCATION_FREE"])]
    h = lambda n: {"handle": n}

    def record(kind, operation, begin, end, stack=0, **more):
        return {"size": 64, "kind": kind, "operation": operation, "thread_id": 7, "correlation_id": {"internal": stack, "external": 0},
                "start_timestamp": BOOT + begin, "end_timestamp": BOOT + end} | more

    info = {"size": 8, "agent_id": h(2), "queue_id": h(1), "kernel_id": 1, "dispatch_id": 1}
    tool = {
        "metadata": {"pid": 7, "init_time": BOOT, "fini_time": BOOT + 10000, "command": ["./solver", "-n", "3"],
                     "environment": {"TOKEN": "open sesame", "PMI_RANK": "1"}, "node": {"hostname": "node", "machine_id": "abc"}},
        "agents": [{"size": 1, "id": h(1), "type": 1, "logical_node_type_id": 0, "product_name": "EPYC"},
                   {"size": 1, "id": h(2), "type": 2, "logical_node_type_id": 4, "product_name": "Instinct MI300X"}],
        "counters": [{"id": h(9), "name": "SQ_WAVES"}],
        "buffer_records": {  # ahead of the strings
            "hip_api": [record(1, 0, 2000, 2200, 5), record(1, 1, 3000, 3200, 6)],
            "marker_api": [record(2, 1, 1000, 9000, 4), record(2, 0, 8500, 8500, 8)],
            "kernel_dispatch": [record(3, 1, 2500, 4500, 5, dispatch_info=info, stream_id=h(1)),
                                record(3, 1, 4000, 4400, 0, dispatch_info=info | {"kernel_id": 2}, stream_id=h(1))],
            "memory_copy": [record(4, 1, 5000, 6000, 6, dst_agent_id=h(2), src_agent_id=h(1), bytes=4096, stream_id=h(2))],
            "memory_allocation": [record(5, 1, 100, 110, 0, agent_id=h(2), address="0x1000", allocation_size=1 << 20),
                                  record(5, 1, 200, 210, 0, agent_id=h(2), address="0x1001", allocation_size=5),
                                  record(5, 2, 9500, 9510, 0, agent_id=h(2), address="0x1000", allocation_size=0)],
            "scratch_memory": [{"kind": 1, "nested": [1, {"a": [2]}]}], "rccl_api": []},
        "callback_records": {"counter_collection": [
            {"dispatch_data": {"dispatch_info": info, "start_timestamp": BOOT + 2500, "end_timestamp": BOOT + 4500, "stream_id": h(1)},
             "records": [{"counter_id": h(9), "value": 8.0}, {"counter_id": h(9), "value": 9.0}]}]},
        "strings": {"callback_records": [], "buffer_records": [{"kind": k, "operations": o} for k, o in kinds],
                    "marker_api": [{"key": 4, "value": "step"}, {"key": 8, "value": "done"}]},
        "kernel_symbols": [{"kernel_id": 1, "kernel_name": "_Z3addPf.kd", "formatted_kernel_name": "add(float*)"},
                           {"kernel_id": 2, "kernel_name": "_Z3mulPf.kd"}]}
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump({"rocprofiler-sdk-tool": [tool]}, f, separators=(",", ":"))
        f.write("\n")


make_json("json/7_results.json")
