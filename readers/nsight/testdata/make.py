"""Writes the small exports of testdata/run: two ranks on two hosts, each with a GPU. Their contents are made up.

usage: python3 make.py     (in testdata)

Rank 1 began its session 5,000 ns after rank 0. In the time of rank 0's session:

    10,000  both       MPI_Init, until 20,000
    30,000  rank 0     MPI_Send of 800 bytes, tag 3, until 39,000;  rank 1: MPI_Recv from 22,000 to 38,000
    40,000  rank 1     MPI_Isend of 16 bytes, tag 4, handle 77, MPI_Waitall until 52,000
            rank 0     MPI_Irecv, handle 99 (used twice), MPI_Wait until 60,000
    70,000  both       MPI_Allreduce of 64 bytes, rank 1 from 72,000, until 80,000; on communicator 5 of both ranks
    90,000  both       ncclAllReduce of 4,096 bytes launches kernel 11, which lasts 100,000 to 130,000
   140,000  both       a graph of kernels, a copy and a setting of memory; on another context's stream of the same number
   163,000  both       MPI_Sendrecv of 32 bytes, tag 9, until 165,000: one row, since both directions are alike
   166,000  both       MPI_Sendrecv until 168,000: rank 0 sends 24 bytes, tag 1, and receives 48, tag 2
"""
import os
import sqlite3
import struct

EPOCH = 1_700_000_000_000_000_000


def make(rank):
    path = f"run/report{rank}.sqlite"
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    strings = {}

    def s(text):
        if text not in strings:
            strings[text] = len(strings) + 1
            db.execute("INSERT INTO StringIds VALUES (?, ?)", (strings[text], text))
        return strings[text]

    def table(name, columns, rows):
        names = columns.split()
        db.execute(f"CREATE TABLE {name} ({', '.join(n + ' INTEGER' for n in names)} -- as recorded\n)")
        for row in rows:
            db.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(names))})", row)

    def t(at):  # a time of rank 0's session in one's own
        return at - 5000 * rank

    db.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    hardware = (0x81 + rank) << 56  # the sign of 64 bits
    pid, tid, helper = 500 + rank, 500 + rank, 600
    globl = lambda n: (hardware | pid << 24 | n) - (1 << 64)
    main, side, process = globl(tid), globl(helper), globl(0)

    db.execute("CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT)")
    db.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)",
                   [("EXPORT_PRODUCT_VERSION", "2025.1.1.1"), ("EXPORT_SCHEMA_VERSION", "3.20.0")])
    db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)")
    db.executemany("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (?, ?)",
                   [("Hostname", f"node{rank}"), ("DeviceEnvironment", "SECRET_TOKEN=open sesame\0RANK=9\0")])
    table("TARGET_INFO_SESSION_START_TIME", "utcEpochNs", [(EPOCH + 5000 * rank,)])
    db.execute("CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)")
    db.execute("INSERT INTO PROCESSES VALUES (?, ?, ?)", (process, pid, "/home/me/solver"))
    table("ThreadNames", "nameId priority globalTid", [(s("thread"), 10, main), (s("main"), 20, main), (s("loader"), 5, side)])
    table("MPI_RANKS", "globalTid rank", [(main, rank)])
    table("TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", [(0, 0, pid)])
    db.execute("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT)")
    db.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100')")

    comm = 5000 + rank  # a handle, other in each process
    db.execute("CREATE TABLE MPI_COMMUNICATORS (rank INT, timestamp INT, commHandle INT, localRank INT, size INT, members TEXT, commUid INT)")
    db.execute("INSERT INTO MPI_COMMUNICATORS VALUES (?, ?, ?, ?, 2, NULL, 5)", (rank, t(21000), comm, 1 - rank))
    p2p = "start end globalTid textId commHandle commUid tag remoteRank size requestHandle"
    wait = "start end globalTid textId requestHandle"
    sent, received = [(1, 24), (2, 48)][rank], [(1, 24), (2, 48)][1 - rank]
    both = [(t(163000), t(165000), main, s("MPI_Sendrecv"), 1, None, 9, 1 - rank, 32, None)] + [
        (t(166000), t(168000), main, s("MPI_Sendrecv"), 1, None, tag, 1 - rank, size, None) for tag, size in (sent, received)]
    if rank == 0:
        table("MPI_P2P_EVENTS", p2p, [
            (t(30000), t(39000), main, s("MPI_Send"), 1, None, 3, 1, 800, None),
            (t(41000), t(42000), main, s("MPI_Irecv"), 1, None, 4, 1, 16, 99),
            (t(43000), t(44000), main, s("MPI_Irecv"), 1, None, 4, -1, 16, 99)] + both)
        table("MPI_START_WAIT_EVENTS", wait, [
            (t(45000), t(45500), main, s("MPI_Test"), 99), (t(50000), t(60000), main, s("MPI_Wait"), 99)])
    else:
        table("MPI_P2P_EVENTS", p2p, [
            (t(22000), t(38000), main, s("MPI_Recv"), 1, None, 3, 0, 800, None),
            (t(40000), t(41000), main, s("MPI_Isend"), 1, None, 4, 0, 16, 77)] + both)
        table("MPI_START_WAIT_EVENTS", wait, [
            (t(45000), t(52000), main, s("MPI_Waitall"), 77), (t(45000), t(52000), main, s("MPI_Waitall"), 78)])
    table("MPI_COLLECTIVES_EVENTS", "start end globalTid textId commHandle commUid rootRank size recvSize requestHandle", [
        (t(70000 + 2000 * rank), t(80000), main, s("MPI_Allreduce"), comm, 5, -1, 64, 64, None)])
    table("MPI_OTHER_EVENTS", "start end globalTid textId", [(t(10000), t(20000), main, s("MPI_Init"))])

    db.execute("""CREATE TABLE NVTX_EVENTS (start INT NOT NULL, end INT, eventType INT NOT NULL, text TEXT, globalTid INT, textId INT,
        domainId INT, jsonText TEXT CHECK (jsonText IS NULL OR length(jsonText) > 1), binaryData BLOB)""")
    db.execute("""CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INT NOT NULL, schemaId INT NOT NULL, idx INT NOT NULL, type INT,
        name TEXT, offset INT)""")
    entries = [(3, 16777220, 0, 18, "NCCL communicator ID", None), (3, 16777220, 1, 22, "Message size [bytes]", 8),
               (3, 16777225, 2, 5, "Peer rank", 16)]
    db.executemany("INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (?, ?, ?, ?, ?, ?)", entries + entries)  # once for each process
    payload = '{"NCCL communicator ID": 12345678901234567890, "No. of ranks": 2, "Rank": %d, "CUDA device": 0}' % rank
    sizes = '{"NCCL communicator ID": 12345678901234567890, "Message size [bytes]": 4096}'
    # Rank 1's sizes are exported as bytes.
    binary = struct.pack("<IIIIQQQQ", 3, 0, 16777220, 0, 16, 48, 12345678901234567890, 4096)
    sizes, binary = [(sizes, None), (None, binary)][rank]
    db.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [
        (t(5000), None, 75, "NCCL", main, None, 3, None, None), (t(5000), None, 75, "Solver", main, None, 4, None, None),
        (t(21000), t(69000), 59, "step, seq = 7, op_id = 9", main, None, 0, None, None),
        (t(21500), t(100000), 60, "halo", main, None, 4, None, None), (t(22000), t(110000), 60, "interior", main, None, 4, None, None),
        (t(61000), None, 34, None, main, s("checkpoint"), 0, None, None),
        (t(85000), t(86000), 59, "ncclCommInitRank", main, None, 3, payload, None),
        (t(90000), t(96000), 59, "ncclAllReduce", main, None, 3, sizes, binary),
        (t(150000), None, 59, "tail", side, None, 0, None, None)])
    table("CUPTI_ACTIVITY_KIND_RUNTIME", "start end eventClass globalTid correlationId nameId", [
        (t(91000), t(95000), 0, main, 11, s("cudaLaunchKernelExC_v11060")),
        (t(91000), t(95500), 67, main, 11, s("cudaLaunchKernelExC_v11060")),
        (t(92000), t(94000), 1, main, 12, s("cuLaunchKernelEx")),
        (t(141000), t(142000), 0, main, 13, s("cudaGraphLaunch_v10000")),
        (t(143000), t(144000), 0, main, 14, s("cudaMemcpyAsync_v3020")),
        (t(145000), t(146000), 0, main, 15, s("cudaMemsetAsync_v3020"))])
    work = "start end deviceId contextId streamId correlationId globalPid"
    table("CUPTI_ACTIVITY_KIND_KERNEL", work + " demangledName shortName", [
        (t(100000), t(130000), 0, 1, 7, 11, process, s("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"), s("ncclDevKernel_AllReduce")),
        (t(132000), t(133000), 0, 1, 7, 99, process, s("void add<float>(float*)"), s("add"))])
    table("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", work + " graphId", [(t(142000), t(149000), 0, 2, 7, 13, process, 4)])
    table("CUPTI_ACTIVITY_KIND_MEMCPY", work + " bytes copyKind srcKind dstKind", [(t(150000), t(151000), 0, 1, 7, 14, process, 1000, 1, 1, 2)])
    table("CUPTI_ACTIVITY_KIND_MEMSET", work + " bytes memKind", [(t(151000), t(152000), 0, 1, 7, 15, process, 64, 2)])
    table("OSRT_API", "start end nameId globalTid nestingLevel", [
        (t(151000), t(160000), s("poll"), side, 0), (t(161000), t(162000), s("pthread_cond_wait"), side, 0)])
    table("PROFILER_OVERHEAD", "start end globalTid nameId", [(t(146500), t(147000), main, s("CUPTI buffer flush"))])
    db.execute("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INT, metricId INT, metricName TEXT)")
    db.execute("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (?, 3, 'SMs Active [Throughput %]')", (7 << 8,))
    table("GPU_METRICS", "timestamp typeId metricId value", [(t(100000 + 10000 * i), 7 << 8, 3, 10 * i) for i in range(4)])
    table("CUDA_GPU_MEMORY_USAGE_EVENTS", "start globalPid deviceId bytes memoryOperationType", [
        (t(80000), process, 0, 500, 0), (t(81000), process, 0, 700, 0), (t(160000), process, 0, 500, 1)])
    db.execute("CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT)")
    db.execute("INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'Not all events might have been collected.'), (1, 'Profiling has started.')")
    table("SCHED_EVENTS", "start cpu isSchedIn globalTid", [(t(1000), 3, 1, main)])
    db.commit()
    db.execute("VACUUM")
    db.close()


for rank in range(2):
    make(rank)
