"""Makes samples/dumps: dumps in the form of PyTorch's flight recorder, of a job of four ranks in which rank 1 stands still.

    python3 samples/dumps.py samples/dumps
"""
import pickle
import sys


def entry(record, group, about, seq, name, state):
    frames = [{"name": name, "filename": "/opt/torch/distributed/distributed_c10d.py", "line": 2810},
              {"name": "step", "filename": "/home/me/train.py", "line": 42 + record}]
    return {"record_id": record, "pg_id": int(group), "process_group": (group, about), "collective_seq_id": seq, "p2p_seq_id": 0,
            "op_id": record, "profiling_name": "nccl:" + name, "time_created_ns": 1764000000000000000 + record,
            "input_sizes": [[64]], "output_sizes": [[64]], "input_dtypes": ["Float"], "output_dtypes": ["Float"], "state": state,
            "time_discovered_started_ns": None, "time_discovered_completed_ns": None, "retired": state == "completed",
            "timeout_ms": 600000, "is_p2p": False, "frames": frames}


groups = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}, "1": {"name": "1", "desc": "tp", "ranks": "[0, 1]"}}
for rank in range(4):
    entries = [entry(k, "0", "default_pg", k + 1, "all_reduce", "completed") for k in range(5)]
    if rank == 0:
        entries.append(entry(5, "1", "tp", 1, "all_gather", "scheduled"))
    if rank > 1:
        entries.append(entry(5, "0", "default_pg", 6, "all_reduce", "scheduled"))
    config = {name: g for name, g in groups.items() if rank < 2 or name == "0"}
    with open(f"{sys.argv[1]}/nccl_trace_rank_{rank}", "wb") as out:
        pickle.dump({"version": "2.9", "pg_config": config, "entries": entries}, out, protocol=2)
