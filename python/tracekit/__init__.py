"""Analyzes traces of MPI and multi-GPU programs, by the command that the package carries.

    import tracekit as tk

    tk.open("traces.otf2").analyze().late_ranks.to_pandas()
"""

from ._command import GateError, NotATraceError, TracekitError, UsageError, run
from ._table import Table
from ._trace import Analysis, Document, Page, Picture, Trace, baseline, compare, hang, open, scaling

__all__ = [
    "Analysis",
    "Document",
    "GateError",
    "NotATraceError",
    "Page",
    "Picture",
    "Table",
    "Trace",
    "TracekitError",
    "UsageError",
    "baseline",
    "compare",
    "hang",
    "open",
    "run",
    "scaling",
]
