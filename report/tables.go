package report

import "tracekit/report/unit"

// tables are those of which the page has a face, in the order in which its parts show them.
var tables = []*Table{
	callTree, waitStates, delays, criticalPath, profile, collectives, pairs, lines, findings,
	devices, kernels, deviceKernels, devicePath, gaps, idleBefore,
	launches, steps, deviceCollectives, stragglers, hostWaits, streams, parts, threadRows, phases, operations, files, sizes,
	ScalingShares, ScalingOverhead, views,
	trainingWorkers, trainingRanks, trainingLanes, trainingStages, trainingTypes, trainingBubbles, trainingSteps,
}

var views = &Table{Key: "views", Tab: "views", Title: "What each view would say of a call path", Path: "more.views.rows[]",
	Note: "Calls that communicate. Time: of all ranks. On path: on the path of messages that decides the run time. Latency: of the " +
		"messages sent there, all of them and estimated from the sample with its 95 % interval. Rule keeps: share of the time.",
	Columns: []Column{
		{Key: "callpath", Title: "call path", Unit: unit.Label},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Term: "sum over ranks", Bar: true},
		{Key: "path_ns", Title: "on path", Unit: unit.Time, Of: "trace.duration_ns", Term: "critical path", Modelled: true, Bar: true},
		{Key: "latency_ns", Title: "latency", Unit: unit.Time, Term: "latency", Bar: true},
		{Key: "sampled_ns", Title: "sampled", Unit: unit.Time, Bar: true},
		{Key: "low_ns", Title: "at least", Unit: unit.Time},
		{Key: "high_ns", Title: "at most", Unit: unit.Time},
		{Key: "kept", Title: "rule keeps", Unit: unit.Share, Bar: true},
	}}

// ScalingShares is of runs of several sizes, whose document lies in that of the page. A column a size is added where it is shown.
var ScalingShares = &Table{Key: "scaling_shares", Tab: "scaling", Title: "Share of overhead by processes", Modelled: true,
	Path: "scaling.overhead.lines[]", Note: "?: most calls have a threshold that cannot be trusted.", Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "at", Unit: unit.Place},
	}}

// ScalingOverhead is of runs of several sizes, too: a row for each source line and size.
var ScalingOverhead = &Table{Key: "scaling_overhead", Tab: "scaling", Title: "Overhead of MPI calls by source line and processes",
	Modelled: true, Path: "scaling.overhead.lines[].sizes[]", Where: "necessary_ns", Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "at", Unit: unit.Place},
		{Key: "processes", Title: "processes", Unit: unit.Count},
		{Key: "calls", Title: "calls", Unit: unit.Count},
		{Key: "total_ns", Title: "total", Unit: unit.Time, Term: "sum over ranks"},
		{Key: "necessary_ns", Title: "necessary", Unit: unit.Time},
		{Key: "overhead_ns", Title: "overhead", Unit: unit.Time, Bar: true},
		{Key: "share", Title: "share", Unit: unit.Share, Faces: OnPage},
		{Key: "late_partner_ns", Title: "late partner", Unit: unit.Time},
		{Key: "verdict", Title: "verdict", Unit: unit.Remarks},
		{Key: "reason", Title: "undecided", Unit: unit.Remarks, Faces: OnPage},
	}}

var waitStates = &Table{Key: "wait_states", Tab: "waits", Title: "Wait states",
	Path: "wait_states{}", Where: "count", Modelled: true, Columns: []Column{
		{Key: "key", Title: "wait state", Unit: unit.WaitState, Faces: Everywhere},
		{Key: "count", Title: "calls", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Term: "sum over ranks", Bar: true, Faces: Everywhere},
		{Key: "share", Title: "share", Unit: unit.Share, Term: "share of a wait state"},
		{Key: "direct_ns", Title: "direct", Unit: unit.Time, Term: "direct, indirect", Faces: OnPage},
		{Key: "indirect_ns", Title: "indirect", Unit: unit.Time, Term: "direct, indirect", Faces: OnPage},
		{Key: "top.0.operation", Title: "longest in"},
		{Key: "top.0", Title: "called from", Unit: unit.Place},
		{Key: "top.0.rank", Title: "rank", Unit: unit.Rank},
		{Key: "top.0.time_ns", Title: "lasting", Unit: unit.Time},
	}}

var delays = &Table{Key: "delays", Tab: "waits", Title: "What makes other ranks wait",
	Path: "delays[]", Modelled: true, What: "places", Columns: []Column{
		{Key: "operation", Title: "operation", Unit: unit.Operation, Says: "(outside MPI)"},
		{Title: "source line", Unit: unit.Place, Term: "source line"},
		{Key: "total_ns", Title: "waits caused", Unit: unit.Time, Term: "waits caused", Bar: true},
		{Key: "short_ns", Title: "at once", Unit: unit.Time, Term: "waits caused"},
		{Key: "long_ns", Title: "later", Unit: unit.Time, Term: "waits caused"},
		{Key: "share", Title: "share", Unit: unit.Share, Faces: InText},
		{Key: "most_rank", Title: "most on", Unit: unit.Rank},
		{Key: "most_rank_ns", Title: "there", Unit: unit.Time},
	}}

// callTree is of the timeline's rows. The page opens and closes what paths call.
var callTree = &Table{Key: "call_tree", Tab: "calls", Title: "Call tree", Path: "callpaths[]",
	Note: "Times are sums over rows of the timeline.",
	Columns: []Column{
		{Key: "region", Title: "call path", Unit: unit.Label, Faces: Selected},
		{Key: "inclusive_ns", Title: "inclusive", Unit: unit.Time, Term: "inclusive, exclusive", Bar: true, Faces: Selected},
		{Key: "share", Title: "share", Unit: unit.Share, Term: "share of a path", Faces: Selected},
		{Key: "exclusive_ns", Title: "exclusive", Unit: unit.Time, Term: "inclusive, exclusive", Faces: Selected},
	}}

var profile = &Table{Key: "profile", Tab: "profile", Title: "Time by region", Path: "profile[]", What: "regions",
	Note: "Inclusive, exclusive and share are sums over all locations. Least, mean and most are exclusive times of ranks that visit " +
		"the region, with all threads.",
	Columns: []Column{
		{Key: "region", Title: "region", Faces: InText},
		{Title: "region", Unit: unit.Place, Faces: OnPage | Selected},
		{Key: "paradigm", Title: "paradigm", Term: "annotation"},
		{Key: "count", Title: "visits", Unit: unit.Count},
		{Key: "inclusive_ns", Title: "inclusive", Unit: unit.Time, Term: "inclusive, exclusive"},
		{Key: "exclusive_ns", Title: "exclusive", Unit: unit.Time, Term: "inclusive, exclusive", Bar: true, Faces: Everywhere},
		{Key: "waiting_ns", Title: "waiting", Unit: unit.Time, Term: "wait state", Faces: Selected},
		{Key: "share", Title: "share", Unit: unit.Share, Faces: InText},
		{Key: "ranks", Title: "ranks", Unit: unit.Count},
		{Key: "min_ns", Title: "least", Unit: unit.Time, With: "min_rank", Term: "least, mean, most of a region"},
		{Key: "min_rank", Title: "on", Unit: unit.Rank},
		{Key: "mean_ns", Title: "mean per rank", Unit: unit.Time, With: "min_rank", Term: "least, mean, most of a region"},
		{Key: "max_ns", Title: "most", Unit: unit.Time, With: "max_rank", Term: "least, mean, most of a region"},
		{Key: "max_rank", Title: "on", Unit: unit.Rank},
	}}

var collectives = &Table{Key: "collectives", Tab: "communication", Title: "Collectives", Path: "collectives[]",
	Note: "Times are sums over ranks. Skew lasts until the last rank arrives, transfer until the first leaves, completion until the " +
		"rank itself leaves.",
	Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Key: "count", Title: "instances", Unit: unit.Count},
		{Key: "bytes_sent", Title: "sent", Unit: unit.Bytes},
		{Key: "bytes_received", Title: "received", Unit: unit.Bytes},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Term: "sum over ranks", Bar: true},
		{Key: "skew_ns", Title: "skew", Unit: unit.Time, Term: "skew", Modelled: true},
		{Key: "transfer_ns", Title: "transfer", Unit: unit.Time, Term: "transfer", Modelled: true},
		{Key: "completion_ns", Title: "completion", Unit: unit.Time, Term: "completion", Modelled: true},
	}}

var pairs = &Table{Key: "pairs", Tab: "pairs", Title: "Heaviest pairs", Path: "comm_matrix[]", Columns: []Column{
	{Key: "from", Title: "from rank", Unit: unit.Plain, Faces: Everywhere},
	{Key: "to", Title: "to rank", Unit: unit.Plain, Faces: Everywhere},
	{Key: "count", Title: "messages", Unit: unit.Count, Bar: true, Faces: Everywhere},
	{Key: "bytes", Title: "bytes", Unit: unit.Bytes, Bar: true, Faces: Everywhere},
	{Key: "time_ns", Title: "latency", Unit: unit.Time, Term: "latency", Bar: true, Faces: OnPage | Selected},
	{Key: "wait_ns", Title: "waiting", Unit: unit.Time, Term: "waiting for messages", Bar: true, Faces: OnPage},
}}

var lines = &Table{Key: "lines", Tab: "lines", Title: "What each source line costs", Path: "lines[]", What: "lines",
	Note: "Sums over ranks. Time is own + waiting for a late partner + waiting in collectives (imbalance) + transfer + unexplained. " +
		"Transfer and unexplained are time beyond comparable calls. Causes: waiting on other ranks that the line causes. Of " +
		"path: share of the critical path.",
	Columns: []Column{
		{Key: "operation", Title: "operation", Faces: Everywhere},
		{Title: "source line", Unit: unit.Place, Term: "source line", Faces: Everywhere},
		{Key: "calls", Title: "calls", Unit: unit.Count, Faces: OnPage},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Term: "time of a line", Bar: true, Faces: Everywhere},
		{Key: "own_ns", Title: "own", Unit: unit.Time, Term: "own time of a line", Modelled: true},
		{Key: "late_partner_ns", Title: "late partner", Unit: unit.Time, Term: "late partner", Modelled: true, Faces: Everywhere},
		{Key: "imbalance_ns", Title: "imbalance", Unit: unit.Time, Term: "imbalance of a line", Modelled: true, Faces: Everywhere},
		{Key: "transfer_ns", Title: "transfer", Unit: unit.Time, With: "overhead_ns", Term: "transfer of a line", Modelled: true},
		{Key: "unexplained_ns", Title: "unexplained", Unit: unit.Time, With: "overhead_ns", Term: "unexplained", Modelled: true},
		{Key: "causes_ns", Title: "causes", Unit: unit.Time, Term: "waits caused", Modelled: true, Bar: true},
		{Key: "critical_path_ns", Title: "of path", Unit: unit.Time, Of: "trace.duration_ns", Term: "critical path", Modelled: true},
	}}

var devices = &Table{Key: "devices", Tab: "devices", Title: "Devices", Path: "devices[]", What: "devices",
	Note: "Shares of the span, from the first to the last activity of a device. Busy is compute + comm (communication without " +
		"computing) + copy (copying without either). Idle is host-bound (empty launch queue) + queued (launched, not started) + " +
		"unknown (launches not recorded). Late ranks: part of comm in which ranks wait for the last one.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device, Faces: Everywhere},
		{Key: "span_ns", Title: "span", Unit: unit.Time, Term: "span of a device"},
		{Key: "busy_ns", Title: "busy", Unit: unit.Time, Of: "span_ns", Term: "device", Bar: true, Faces: Everywhere},
		{Key: "compute_ns", Title: "compute", Unit: unit.Time, Of: "span_ns", Faces: Everywhere},
		{Key: "exposed_communication_ns", Title: "comm", Unit: unit.Time, Of: "span_ns", Term: "exposed", Faces: Everywhere},
		{Key: "exposed_memory_ns", Title: "copy", Unit: unit.Time, Of: "span_ns", Term: "exposed", Faces: Everywhere},
		{Key: "idle_ns", Title: "idle", Unit: unit.Time, Of: "span_ns", Bar: true, Faces: Everywhere},
		{Key: "idle_causes.host_bound_ns", Title: "host-bound", Unit: unit.Time, Of: "span_ns", Term: "host-bound"},
		{Key: "idle_causes.kernel_gaps_ns", Title: "queued", Unit: unit.Time, Of: "span_ns", Term: "queued"},
		{Key: "idle_causes.unknown_ns", Title: "unknown", Unit: unit.Time, Of: "span_ns"},
		{Key: "idle_causes.collective_wait_ns", Title: "late ranks", Unit: unit.Time, Of: "span_ns"},
	}}

var kernels = &Table{Key: "kernels", Tab: "devices", Title: "What devices execute", Path: "more.kernels[]", What: "kernels",
	Note: "Sums of single executions over all devices and streams, including simultaneous ones.",
	Columns: []Column{
		{Key: "short", Title: "kernel", Faces: InText},
		{Key: "name", Title: "kernel", Faces: OnPage | Selected},
		{Key: "class", Title: "class"},
		{Key: "from", Title: "launched most from"},
		{Key: "count", Title: "count", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true, Faces: Everywhere},
		{Key: "share", Title: "share", Unit: unit.Share},
		{Key: "min_ns", Title: "min", Unit: unit.Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: unit.Time},
		{Key: "max_ns", Title: "max", Unit: unit.Time, Modelled: true},
		{Key: "devices", Title: "devices", Unit: unit.Count, Faces: OnPage},
	}}

var idleBefore = &Table{Key: "idle_before", Tab: "devices", Title: "What devices idle before, by what launches it",
	Path: "devices[].idle_before[]",
	Note: "Host-bound: the launch queue was empty. Queued: work was launched and had not started. The cause of the rest is unknown.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "operator", Title: "operator", Unit: unit.Launcher, Says: "(launch not recorded)"},
		{Key: "call", Title: "call"},
		{Key: "count", Title: "times", Unit: unit.Count},
		{Key: "time_ns", Title: "idle", Unit: unit.Time, Bar: true},
		{Key: "host_bound_ns", Title: "host-bound", Unit: unit.Time, Of: "time_ns", Term: "host-bound"},
		{Key: "kernel_gaps_ns", Title: "queued", Unit: unit.Time, Of: "time_ns", Term: "queued"},
	}}

var launches = &Table{Key: "launches", Tab: "devices", Title: "From launch to begin",
	Path: "devices[].launches", Where: "delay_ns",
	Note: "Delay: from the start of the launching call to the start of the kernel, with its 90th and 99th percentile. Queue: " +
		"kernels that are launched and have not begun.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "count", Title: "kernels", Unit: unit.Count},
		{Key: "no_launch", Title: "without launch", Unit: unit.Count, Faces: InText},
		{Key: "delay_ns.min", Title: "least", Unit: unit.Time},
		{Key: "delay_ns.p50", Title: "median", Unit: unit.Time},
		{Key: "delay_ns.mean", Title: "mean", Unit: unit.Time, Bar: true},
		{Key: "delay_ns.p90", Title: "90 %", Unit: unit.Time},
		{Key: "delay_ns.p99", Title: "99 %", Unit: unit.Time},
		{Key: "delay_ns.max", Title: "most", Unit: unit.Time},
		{Key: "queue_mean", Title: "queue, mean", Unit: unit.Decimal, Term: "queued"},
	}}

var streams = &Table{Key: "streams", Tab: "devices", Title: "Streams", Path: "devices[].streams[]", Columns: []Column{
	{Key: "device", Title: "device", Unit: unit.Device},
	{Key: "stream", Title: "stream"},
	{Key: "count", Title: "executes", Unit: unit.Count},
	{Key: "busy_ns", Title: "busy", Unit: unit.Time, Bar: true},
	{Key: "busy_ns", Title: "of the device's span", Unit: unit.Time, Of: "device_ns", Faces: InText},
	{Key: "compute_ns", Title: "computing", Unit: unit.Time},
	{Key: "communication_ns", Title: "communicating", Unit: unit.Time},
	{Key: "memory_ns", Title: "copying", Unit: unit.Time},
}}

var devicePath = &Table{Key: "device_path", Tab: "devices", Title: "Critical path through hosts and devices",
	Path: "device_path.rows[]", Modelled: true, What: "rows",
	Columns: []Column{
		{Key: "kind", Title: "kind"},
		{Key: "name", Title: "kernel or function"},
		{Key: "count", Title: "count", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "share", Title: "share", Unit: unit.Share},
		{Key: "max_rank", Title: "most on", Unit: unit.Rank},
	}}

var threadRows = &Table{Key: "threads", Tab: "threads", Title: "Threads", Path: "threads.rows[]", What: "threads",
	Note: "Wall time. A row sums to the run time. Thread 0 calls MPI for its rank. No work: before a thread begins, after it ends, " +
		"and outside its work.",
	Columns: []Column{
		{Key: "rank", Title: "rank", Unit: unit.Plain, Faces: InText},
		{Key: "thread", Title: "thread", Unit: unit.Plain, Faces: InText},
		{Key: "name", Title: "name", Faces: InText},
		{Title: "thread", Unit: unit.Thread, Faces: OnPage | Selected},
		{Key: "program_ns", Title: "in the program", Unit: unit.Time, Bar: true, Faces: Selected},
		{Key: "useful_ns", Title: "useful", Unit: unit.Time, Term: "useful time of threads", Bar: true},
		{Key: "useful_ns", Title: "share", Unit: unit.Time, Of: "run_ns", Faces: InText},
		{Key: "communication_ns", Title: "MPI", Unit: unit.Time, Faces: Everywhere},
		{Key: "barrier_ns", Title: "barriers", Unit: unit.Time, Term: "time of threads that is not useful", Bar: true, Faces: Everywhere},
		{Key: "waiting_ns", Title: "waiting", Unit: unit.Time, Term: "time of threads that is not useful", Faces: Everywhere},
		{Key: "scheduling_ns", Title: "fork, join", Unit: unit.Time, Term: "time of threads that is not useful", Faces: Everywhere},
		{Key: "idle_ns", Title: "no work", Unit: unit.Time, Term: "time of threads that is not useful", Bar: true},
		{Key: "outside_ns", Title: "outside all regions", Unit: unit.Time, Bar: true, Faces: Selected},
		{Key: "measurement_ns", Title: "measurement", Unit: unit.Time},
	}}

var phases = &Table{Key: "phases", Tab: "phases", Title: "Phases", Path: "phases.rows[]", What: "phases", Columns: []Column{
	{Key: "phase", Title: "phase", Unit: unit.Plain},
	{Key: "from_ns", Title: "begins after", Unit: unit.Instant},
	{Key: "duration_ns", Title: "lasts", Unit: unit.Time, Bar: true},
	{Key: "parallel_efficiency", Title: "parallel efficiency", Unit: unit.Share, Term: "parallel efficiency"},
	{Key: "load_balance", Title: "load balance", Unit: unit.Share, Term: "load balance"},
	{Key: "communication_efficiency", Title: "communication", Unit: unit.Share, Term: "communication"},
	{Key: "outlier", Title: "remarks", Unit: unit.Flag, Says: "outlier"},
}}

var operations = &Table{Key: "operations", Tab: "files", Title: "What is done to files",
	Path: "file_io.operations[]", What: "operations",
	Note: "Time is a sum over all locations, including nested calls. Bandwidth covers calls with recorded bytes.",
	Columns: []Column{
		{Key: "operation", Title: "operation", Faces: Everywhere},
		{Key: "kind", Title: "kind"},
		{Key: "calls", Title: "calls", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true, Faces: Everywhere},
		{Key: "min_ns", Title: "min", Unit: unit.Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: unit.Time},
		{Key: "max_ns", Title: "max", Unit: unit.Time, Modelled: true},
		{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
		{Key: "bytes_per_s", Title: "bandwidth", Unit: unit.Bandwidth},
	}}

var files = &Table{Key: "files", Tab: "files", Title: "Files", Path: "file_io.files[]", What: "files", Columns: []Column{
	{Key: "file", Title: "file"},
	{Key: "ranks", Title: "ranks", Unit: unit.Count},
	{Key: "calls", Title: "calls", Unit: unit.Count},
	{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
	{Key: "reads", Title: "reads", Unit: unit.Count},
	{Key: "read_bytes", Title: "read", Unit: unit.Bytes},
	{Key: "writes", Title: "writes", Unit: unit.Count},
	{Key: "write_bytes", Title: "written", Unit: unit.Bytes},
	{Key: "bytes_per_s", Title: "bandwidth", Unit: unit.Bandwidth},
}}

var sizes = &Table{Key: "sizes", Tab: "files", Title: "Sizes of accesses", Path: "file_io.sizes[]", Columns: []Column{
	{Key: "kind", Title: "kind"},
	{Key: "from", Title: "from", Unit: unit.Bytes},
	{Key: "to", Title: "to", Unit: unit.Bytes},
	{Key: "calls", Title: "calls", Unit: unit.Count},
	{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
	{Key: "time_ns", Title: "time", Unit: unit.Time},
	{Key: "mean_ns", Title: "mean", Unit: unit.Time, Faces: InText},
}}

var criticalPath = &Table{Key: "critical_path", Tab: "waits", Title: "Critical path",
	Path: "critical_path.regions[]", Modelled: true, What: "places",
	Columns: []Column{
		{Key: "operation", Title: "operation", Unit: unit.Operation, Says: "(outside MPI)"},
		{Title: "source line", Unit: unit.Place, Term: "source line"},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "share", Title: "share", Unit: unit.Share},
		{Key: "imbalance_ns", Title: "imbalance", Unit: unit.Time, Term: "imbalance"},
	}}

// lastLocation is the path of a run in which nobody waits for another.
var lastLocation = &Table{Title: "The location that ends last",
	Path: criticalPath.Path, Modelled: true, What: "places", Columns: []Column{
		{Title: "source line", Unit: unit.Place},
		{Key: "time_ns", Title: "time", Unit: unit.Time},
		{Key: "share", Title: "share", Unit: unit.Share},
	}}

var callSites = &Table{Path: "call_sites[]",
	What: "sites", Note: "Time is a sum over ranks. Min to max are times of single calls; the last column is the rank of max.",
	Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "source line", Unit: unit.Place},
		{Key: "calls", Title: "calls", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time},
		{Key: "min_ns", Title: "min", Unit: unit.Time, Modelled: true},
		{Key: "p50_ns", Title: "p50", Unit: unit.Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: unit.Time},
		{Key: "p99_ns", Title: "p99", Unit: unit.Time, Modelled: true},
		{Key: "max_ns", Title: "max", Unit: unit.Time, Modelled: true},
		{Key: "max_rank", Title: "on", Unit: unit.Rank},
		{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
	}}

var senders = &Table{Title: "Senders and receivers",
	Path: "overhead.pairs[]", Note: "Times are sums over ranks.", Modelled: true, What: "pairs",
	Columns: []Column{
		{Key: "send.operation", Title: "sent by"},
		{Key: "send", Title: "at", Unit: unit.Place},
		{Key: "receive.operation", Title: "received by"},
		{Key: "receive", Title: "at", Unit: unit.Place},
		{Key: "verdict", Title: "verdict"},
		{Key: "by_wait_states", Title: "by wait states"},
		{Key: "send_overhead_ns", Title: "overhead of sends", Unit: unit.Time},
		{Key: "receive_overhead_ns", Title: "of receives", Unit: unit.Time},
		{Key: "messages", Title: "messages", Unit: unit.Count},
	}}

var keyTable = &Table{Columns: []Column{
	{Key: "operation", Title: "operation"},
	{Key: "role", Title: "role"},
	{Key: "processes", Title: "processes", Unit: unit.Count},
	{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
	{Key: "calls", Title: "calls", Unit: unit.Count},
	{Key: "t_min_ns", Title: "t_min", Unit: unit.Time},
	{Key: "t_max_ns", Title: "t_max", Unit: unit.Time},
	{Key: "over", Title: "slow", Unit: unit.Count},
	{Key: "model", Title: "model"},
	{Key: "chi2", Title: "χ²", Unit: unit.Decimal},
	{Key: "dof", Title: "ν", Unit: unit.Plain},
	{Key: "p_value", Title: "p", Unit: unit.Decimal},
	{Key: "remarks", Title: "remarks", Unit: unit.Remarks},
}}

var counterSums = &Table{Title: "Counters by region", Path: "profile[].counters[]", What: "rows",
	Note: "Growth of counters in the exclusive time of the region, summed over all locations. IPC is instructions per cycle, GHz " +
		"cycles per ns, both in the region's first row.",
	Columns: []Column{
		{Key: "region", Title: "region"},
		{Key: "name", Title: "counter"},
		{Key: "samples", Title: "samples", Unit: unit.Count},
		{Key: "sum", Title: "sum", Unit: unit.Number},
		{Key: "ipc", Title: "IPC", Unit: unit.Ratio},
		{Key: "frequency_ghz", Title: "GHz", Unit: unit.Ratio},
		{Key: "mean", Title: "mean", Unit: unit.Number},
		{Key: "min", Title: "minimum", Unit: unit.Number},
		{Key: "max", Title: "maximum", Unit: unit.Number},
		{Key: "unit", Title: "unit"},
	}}

var usefulCounters = &Table{Title: "Counters in useful time",
	Path: "counters.ranks[]", Note: "Sums over the threads of a rank, for useful time between samples.",
	Columns: []Column{
		{Key: "key", Unit: unit.Label},
		{Key: "useful_ns", Title: "useful time", Unit: unit.Time},
		{Key: "instructions", Title: "instructions", Unit: unit.Number},
		{Key: "cycles", Title: "cycles", Unit: unit.Number},
		{Key: "ipc", Title: "IPC", Unit: unit.Ratio},
		{Key: "frequency_ghz", Title: "GHz", Unit: unit.Ratio},
	}}

var counterSeries = &Table{Title: "Counters over time",
	Note: "Means are weighted by time. For accumulating counters, least, mean and most are growth per second. If several places " +
		"record a counter: mean of their means, sum of their growth.",
	Columns: []Column{
		{Key: "name", Title: "counter"},
		{Key: "unit", Title: "unit"},
		{Key: "places", Title: "places", Unit: unit.Count},
		{Key: "samples", Title: "samples", Unit: unit.Count},
		{Key: "min", Title: "least", Unit: unit.Number},
		{Key: "mean", Title: "mean", Unit: unit.Number},
		{Key: "max", Title: "most", Unit: unit.Number},
		{Key: "growth", Title: "growth", Unit: unit.Number},
	}}

var messageSizes = &Table{Title: "Message sizes", Path: "messages.sizes[]", Columns: []Column{
	{Key: "from", Title: "from", Unit: unit.Bytes},
	{Key: "to", Title: "to", Unit: unit.Bytes},
	{Key: "count", Title: "messages", Unit: unit.Count},
	{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
}}

var gaps = &Table{Key: "gaps", Tab: "devices", Title: "The longest times in which a device idles",
	Path: "devices[].gaps[]", Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "start_ns", Title: "begins after", Unit: unit.Instant},
		{Key: "time_ns", Title: "lasts", Unit: unit.Time, Bar: true},
		{Key: "host_bound_ns", Title: "host-bound", Unit: unit.Time, Of: "time_ns", Term: "host-bound"},
		{Key: "before", Title: "then begins"},
		{Key: "launched_from", Title: "launched from"},
	}}

var steps = &Table{Key: "steps", Tab: "devices", Title: "Training steps", Path: "devices[].steps.rows[]", What: "rows",
	Note: "Time of the step on the host, and shares of it for what the device does meanwhile.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "step", Title: "step"},
		{Key: "span_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "compute_ns", Title: "computing", Unit: unit.Time, Of: "span_ns"},
		{Key: "exposed_communication_ns", Title: "communicating", Unit: unit.Time, Of: "span_ns", Term: "exposed"},
		{Key: "exposed_memory_ns", Title: "copying", Unit: unit.Time, Of: "span_ns", Term: "exposed"},
		{Key: "idle_ns", Title: "idle", Unit: unit.Time, Of: "span_ns"},
		{Key: "cut", Unit: unit.Flag, Says: "cut off"},
	}}

var deviceCollectives = &Table{Key: "device_collectives", Tab: "devices", Title: "Bandwidth of collectives",
	Path: "devices[].collectives[]", What: "rows",
	Note: "Time is a sum, counted from the last arrival, or of whole kernels if ranks are missing. Bus bandwidth is defined as in " +
		"NCCL's tests; compare it with the links.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "operation", Title: "operation"},
		{Key: "members", Title: "members", Unit: unit.Count},
		{Key: "bytes", Title: "size", Unit: unit.Bytes},
		{Key: "count", Title: "count", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "bus_bytes_per_s", Title: "bus bandwidth", Unit: unit.Bandwidth, Term: "bus bandwidth"},
		{Key: "with_waiting", Unit: unit.Flag, Says: "waiting included"},
	}}

var stragglers = &Table{Key: "stragglers", Tab: "devices", Title: "Who comes late to collectives",
	Path: "devices[].straggler", What: "devices",
	Note: "Sums over collectives. Waits caused: time all others wait for the last one to arrive.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "count", Title: "collectives", Unit: unit.Count},
		{Key: "comes_last", Title: "comes last", Unit: unit.Count},
		{Key: "caused_ns", Title: "waits caused", Unit: unit.Time, Bar: true},
		{Key: "wait_ns", Title: "waits itself", Unit: unit.Time},
		{Key: "late_mean_ns", Title: "after the first, mean", Unit: unit.Time},
		{Key: "compute_ns", Title: "computing", Unit: unit.Time},
	}}

var hostWaits = &Table{Key: "host_waits", Tab: "devices", Title: "Where hosts only wait for devices",
	Path: "more.host_waits[]", What: "calls", Note: "Sums over all threads.",
	Columns: []Column{
		{Key: "call", Title: "call"},
		{Key: "count", Title: "count", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
	}}

var parts = &Table{Key: "parts", Tab: "devices", Title: "Parts of what devices execute", Path: "devices[].parts[]",
	Note: "Launched: work with a launch in the trace. Recompute: launched to compute activations again; first_pass: the rest. Times " +
		"of each part ignore the other parts.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "part", Title: "part"},
		{Key: "count", Title: "executes", Unit: unit.Count},
		{Key: "span_ns", Title: "span", Unit: unit.Time},
		{Key: "compute_ns", Title: "computing", Unit: unit.Time, Bar: true},
		{Key: "exposed_communication_ns", Title: "communicating", Unit: unit.Time, Term: "exposed"},
		{Key: "exposed_memory_ns", Title: "copying", Unit: unit.Time, Term: "exposed"},
		{Key: "idle_ns", Title: "idle", Unit: unit.Time},
	}}

// deviceKernels is what each device does of a kernel.
var deviceKernels = &Table{Key: "device_kernels", Tab: "kernels", Title: "On each device",
	Path: "devices[].kernels[]", Columns: []Column{
		{Key: "device", Title: "device", Unit: unit.Device},
		{Key: "count", Title: "count", Unit: unit.Count},
		{Key: "time_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "mean_ns", Title: "mean", Unit: unit.Time},
		{Key: "max_ns", Title: "max", Unit: unit.Time, Modelled: true},
	}}

var findings = &Table{Key: "findings", Tab: "findings", Title: "What is wrong with the trace",
	Path: "findings[]", Columns: []Column{
		{Key: "severity", Title: "severity"},
		{Key: "text", Title: "finding", Unit: unit.Label},
		{Key: "count", Title: "number", Unit: unit.Count},
		{Key: "code", Title: "code"},
	}}
