"""Compares figures with those of HTA (HolisticTraceAnalysis from PyPI) on a trace of PyTorch's profiler:

    python against_hta.py resnet50.pt.trace.json.gz

HTA counts setting memory among copies, tracekit does not; so what devices do is compared without telling both apart. HTA leaves out the last
step by default.
"""

import os
import sys

from hta.trace_analysis import TraceAnalysis

import tracekit as tk

path = os.path.abspath(sys.argv[1])
hta = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)
breakdown = hta.get_temporal_breakdown(visualize=False).iloc[0]
kernels = hta.get_gpu_kernel_breakdown(visualize=False, num_kernels=1_000_000)[1]

with tk.open(path).analyze() as analysis:
    device = analysis.devices.to_dicts()[0]
    executed = {r["kernel"]: r["time_ns"] for r in analysis.sql("select kernel, sum(time_ns) as time_ns from kernel_summary group by 1")}

pairs = [
    ("idle", breakdown["idle_time(us)"], device["idle_ns"]),
    ("from first to last work", breakdown["kernel_time(us)"], device["span_ns"]),
    ("computing and copying", breakdown["compute_time(us)"] + breakdown["non_compute_time(us)"], device["busy_ns"]),
]
pairs += [(row["name"], row["sum (us)"], executed.get(row["name"], 0)) for _, row in kernels.iterrows()]
wrong = [(what, us, ns) for what, us, ns in pairs if round(us * 1000) != ns]
for what, us, ns in wrong:
    print(f"{what}: HTA has {us:,.0f} us, tracekit {ns / 1000:,.0f} us")
print(f"{len(pairs) - len(wrong)} of {len(pairs)} figures are equal")
sys.exit(bool(wrong))
