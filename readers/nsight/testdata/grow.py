"""Grows an export of Nsight Systems: its events once more, later, COPIES times in all. For measuring, as in

    python3 grow.py h100_2gpu_1s.sqlite big.sqlite 510      # 1.0 GB
    time taskset -c 0 tracekit info --jobs 1 --memory 256M big.sqlite

usage: python3 grow.py FROM TO COPIES
"""
import os
import shutil
import sqlite3
import sys

SPAN = 1_000_000_000  # ns from one copy to the next
IDS = 2_000_000       # correlation identifiers of a copy


def main(source, target, copies):
    shutil.copyfile(source, target)
    os.chmod(target, 0o644)
    db = sqlite3.connect(target)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    moved = {"start": SPAN, "end": SPAN, "correlationId": IDS}
    for table in ("CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_MEMSET", "CUPTI_ACTIVITY_KIND_MEMCPY",
                  "CUPTI_ACTIVITY_KIND_KERNEL"):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        if not columns:
            continue
        values = ", ".join(f'"{c}" + ?1 * {moved.get(c, 0)}' if c in moved else f'"{c}"' for c in columns)
        db.execute(f"CREATE TEMP TABLE once AS SELECT * FROM {table}")
        for copy in range(1, copies):
            db.execute(f"INSERT INTO {table} SELECT {values} FROM once", (copy,))
        db.execute("DROP TABLE once")
    db.commit()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
