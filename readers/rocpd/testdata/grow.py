"""Grows a database of rocpd: its events once more, later, COPIES times in all. For measuring, as in

    python3 grow.py 4101_results.db big.db 9000
    time taskset -c 0 tracekit info --jobs 1 --memory 256M big.db

usage: python3 grow.py FROM TO COPIES
"""
import os
import shutil
import sqlite3
import sys

EVENTS = ("event", "arg", "pmc_event", "region", "sample", "kernel_dispatch", "memory_copy", "memory_allocate")


def main(source, target, copies):
    shutil.copyfile(source, target)
    os.chmod(target, 0o644)
    db = sqlite3.connect(target)
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    suffix = next(n for n in names if n.startswith("rocpd_kernel_dispatch"))[len("rocpd_kernel_dispatch"):]
    first, last = db.execute(f'SELECT min(start), max("end") FROM rocpd_region{suffix}').fetchone()
    ids = 1000 * (1 + max(db.execute(f"SELECT max(id) FROM rocpd_{t}{suffix}").fetchone()[0] or 0 for t in EVENTS) // 1000)
    moved = {c: ids for c in ("id", "event_id", "stack_id", "parent_stack_id", "correlation_id", "dispatch_id")}
    moved.update({c: last - first + 1000 for c in ("start", "end", "timestamp")})
    for table in [f"rocpd_{t}{suffix}" for t in EVENTS]:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        values = ", ".join(f'CASE "{c}" WHEN 0 THEN 0 ELSE "{c}" + ?1 * {moved[c]} END' if c in moved else f'"{c}"' for c in columns)
        db.execute(f"CREATE TEMP TABLE once AS SELECT * FROM {table}")
        for copy in range(1, copies):
            db.execute(f"INSERT INTO {table} SELECT {values} FROM once", (copy,))
        db.execute("DROP TABLE once")
    db.commit()


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
