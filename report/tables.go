package report

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
		{Key: "callpath", Title: "call path", Unit: Label},
		{Key: "time_ns", Title: "time", Unit: Time, Term: "sum over ranks", Bar: true},
		{Key: "path_ns", Title: "on path", Unit: Time, Of: "trace.duration_ns", Term: "critical path", Modelled: true, Bar: true},
		{Key: "latency_ns", Title: "latency", Unit: Time, Term: "latency", Bar: true},
		{Key: "sampled_ns", Title: "sampled", Unit: Time, Bar: true},
		{Key: "low_ns", Title: "at least", Unit: Time},
		{Key: "high_ns", Title: "at most", Unit: Time},
		{Key: "kept", Title: "rule keeps", Unit: Share, Bar: true},
	}}

// ScalingShares is of runs of several sizes, whose document lies in that of the page. A column a size is added where it is shown.
var ScalingShares = &Table{Key: "scaling_shares", Tab: "scaling", Title: "Share of overhead by processes", Modelled: true,
	Path: "scaling.overhead.lines[]", Note: "?: most calls have a threshold that cannot be trusted.", Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "at", Unit: Place},
	}}

// ScalingOverhead is of runs of several sizes, too: a row for each source line and size.
var ScalingOverhead = &Table{Key: "scaling_overhead", Tab: "scaling", Title: "Overhead of MPI calls by source line and processes",
	Modelled: true, Path: "scaling.overhead.lines[].sizes[]", Where: "necessary_ns", Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "at", Unit: Place},
		{Key: "processes", Title: "processes", Unit: Count},
		{Key: "calls", Title: "calls", Unit: Count},
		{Key: "total_ns", Title: "total", Unit: Time, Term: "sum over ranks"},
		{Key: "necessary_ns", Title: "necessary", Unit: Time},
		{Key: "overhead_ns", Title: "overhead", Unit: Time, Bar: true},
		{Key: "share", Title: "share", Unit: Share, Faces: OnPage},
		{Key: "late_partner_ns", Title: "late partner", Unit: Time},
		{Key: "verdict", Title: "verdict", Unit: Remarks},
		{Key: "reason", Title: "undecided", Unit: Remarks, Faces: OnPage},
	}}

var waitStates = &Table{Key: "wait_states", Tab: "waits", Title: "Wait states",
	Path: "wait_states{}", Where: "count", Modelled: true, Columns: []Column{
		{Key: "key", Title: "wait state", Unit: WaitState, Faces: Everywhere},
		{Key: "count", Title: "calls", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Term: "sum over ranks", Bar: true, Faces: Everywhere},
		{Key: "share", Title: "share", Unit: Share, Term: "share of a wait state"},
		{Key: "direct_ns", Title: "direct", Unit: Time, Term: "direct, indirect", Faces: OnPage},
		{Key: "indirect_ns", Title: "indirect", Unit: Time, Term: "direct, indirect", Faces: OnPage},
		{Key: "top.0.operation", Title: "longest in"},
		{Key: "top.0", Title: "called from", Unit: Place},
		{Key: "top.0.rank", Title: "rank", Unit: Rank},
		{Key: "top.0.time_ns", Title: "lasting", Unit: Time},
	}}

var delays = &Table{Key: "delays", Tab: "waits", Title: "What makes other ranks wait",
	Path: "delays[]", Modelled: true, What: "places", Columns: []Column{
		{Key: "operation", Title: "operation", Unit: Operation, Says: "(outside MPI)"},
		{Title: "source line", Unit: Place, Term: "source line"},
		{Key: "total_ns", Title: "waits caused", Unit: Time, Term: "waits caused", Bar: true},
		{Key: "short_ns", Title: "at once", Unit: Time, Term: "waits caused"},
		{Key: "long_ns", Title: "later", Unit: Time, Term: "waits caused"},
		{Key: "share", Title: "share", Unit: Share, Faces: InText},
		{Key: "most_rank", Title: "most on", Unit: Rank},
		{Key: "most_rank_ns", Title: "there", Unit: Time},
	}}

// callTree is of the timeline's rows. The page opens and closes what paths call.
var callTree = &Table{Key: "call_tree", Tab: "calls", Title: "Call tree", Path: "callpaths[]",
	Note: "Times are sums over rows of the timeline.",
	Columns: []Column{
		{Key: "region", Title: "call path", Unit: Label, Faces: Selected},
		{Key: "inclusive_ns", Title: "inclusive", Unit: Time, Term: "inclusive, exclusive", Bar: true, Faces: Selected},
		{Key: "share", Title: "share", Unit: Share, Term: "share of a path", Faces: Selected},
		{Key: "exclusive_ns", Title: "exclusive", Unit: Time, Term: "inclusive, exclusive", Faces: Selected},
	}}

var profile = &Table{Key: "profile", Tab: "profile", Title: "Time by region", Path: "profile[]", What: "regions",
	Note: "Inclusive, exclusive and share are sums over all locations. Least, mean and most are exclusive times of ranks that visit " +
		"the region, with all threads.",
	Columns: []Column{
		{Key: "region", Title: "region", Faces: InText},
		{Title: "region", Unit: Place, Faces: OnPage | Selected},
		{Key: "paradigm", Title: "paradigm", Term: "annotation"},
		{Key: "count", Title: "visits", Unit: Count},
		{Key: "inclusive_ns", Title: "inclusive", Unit: Time, Term: "inclusive, exclusive"},
		{Key: "exclusive_ns", Title: "exclusive", Unit: Time, Term: "inclusive, exclusive", Bar: true, Faces: Everywhere},
		{Key: "waiting_ns", Title: "waiting", Unit: Time, Term: "wait state", Faces: Selected},
		{Key: "share", Title: "share", Unit: Share, Faces: InText},
		{Key: "ranks", Title: "ranks", Unit: Count},
		{Key: "min_ns", Title: "least", Unit: Time, With: "min_rank", Term: "least, mean, most of a region"},
		{Key: "min_rank", Title: "on", Unit: Rank},
		{Key: "mean_ns", Title: "mean per rank", Unit: Time, With: "min_rank", Term: "least, mean, most of a region"},
		{Key: "max_ns", Title: "most", Unit: Time, With: "max_rank", Term: "least, mean, most of a region"},
		{Key: "max_rank", Title: "on", Unit: Rank},
	}}

var collectives = &Table{Key: "collectives", Tab: "communication", Title: "Collectives", Path: "collectives[]",
	Note: "Times are sums over ranks. Skew lasts until the last rank arrives, transfer until the first leaves, completion until the " +
		"rank itself leaves.",
	Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Key: "count", Title: "instances", Unit: Count},
		{Key: "bytes_sent", Title: "sent", Unit: Bytes},
		{Key: "bytes_received", Title: "received", Unit: Bytes},
		{Key: "time_ns", Title: "time", Unit: Time, Term: "sum over ranks", Bar: true},
		{Key: "skew_ns", Title: "skew", Unit: Time, Term: "skew", Modelled: true},
		{Key: "transfer_ns", Title: "transfer", Unit: Time, Term: "transfer", Modelled: true},
		{Key: "completion_ns", Title: "completion", Unit: Time, Term: "completion", Modelled: true},
	}}

var pairs = &Table{Key: "pairs", Tab: "pairs", Title: "Heaviest pairs", Path: "comm_matrix[]", Columns: []Column{
	{Key: "from", Title: "from rank", Unit: Plain, Faces: Everywhere},
	{Key: "to", Title: "to rank", Unit: Plain, Faces: Everywhere},
	{Key: "count", Title: "messages", Unit: Count, Bar: true, Faces: Everywhere},
	{Key: "bytes", Title: "bytes", Unit: Bytes, Bar: true, Faces: Everywhere},
	{Key: "time_ns", Title: "latency", Unit: Time, Term: "latency", Bar: true, Faces: OnPage | Selected},
	{Key: "wait_ns", Title: "waiting", Unit: Time, Term: "waiting for messages", Bar: true, Faces: OnPage},
}}

var lines = &Table{Key: "lines", Tab: "lines", Title: "What each source line costs", Path: "lines[]", What: "lines",
	Note: "Sums over ranks. Time is own + waiting for a late partner + waiting in collectives (imbalance) + transfer + unexplained. " +
		"Transfer and unexplained are time beyond comparable calls. Causes: waiting on other ranks that the line causes. Of " +
		"path: share of the critical path.",
	Columns: []Column{
		{Key: "operation", Title: "operation", Faces: Everywhere},
		{Title: "source line", Unit: Place, Term: "source line", Faces: Everywhere},
		{Key: "calls", Title: "calls", Unit: Count, Faces: OnPage},
		{Key: "time_ns", Title: "time", Unit: Time, Term: "time of a line", Bar: true, Faces: Everywhere},
		{Key: "own_ns", Title: "own", Unit: Time, Term: "own time of a line", Modelled: true},
		{Key: "late_partner_ns", Title: "late partner", Unit: Time, Term: "late partner", Modelled: true, Faces: Everywhere},
		{Key: "imbalance_ns", Title: "imbalance", Unit: Time, Term: "imbalance of a line", Modelled: true, Faces: Everywhere},
		{Key: "transfer_ns", Title: "transfer", Unit: Time, With: "overhead_ns", Term: "transfer of a line", Modelled: true},
		{Key: "unexplained_ns", Title: "unexplained", Unit: Time, With: "overhead_ns", Term: "unexplained", Modelled: true},
		{Key: "causes_ns", Title: "causes", Unit: Time, Term: "waits caused", Modelled: true, Bar: true},
		{Key: "critical_path_ns", Title: "of path", Unit: Time, Of: "trace.duration_ns", Term: "critical path", Modelled: true},
	}}

var devices = &Table{Key: "devices", Tab: "devices", Title: "Devices", Path: "devices[]", What: "devices",
	Note: "Shares of the span, from the first to the last activity of a device. Busy is compute + comm (communication without " +
		"computing) + copy (copying without either). Idle is host-bound (empty launch queue) + queued (launched, not started) + " +
		"unknown (launches not recorded). Late ranks: part of comm in which ranks wait for the last one.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device, Faces: Everywhere},
		{Key: "span_ns", Title: "span", Unit: Time, Term: "span of a device"},
		{Key: "busy_ns", Title: "busy", Unit: Time, Of: "span_ns", Term: "device", Bar: true, Faces: Everywhere},
		{Key: "compute_ns", Title: "compute", Unit: Time, Of: "span_ns", Faces: Everywhere},
		{Key: "exposed_communication_ns", Title: "comm", Unit: Time, Of: "span_ns", Term: "exposed", Faces: Everywhere},
		{Key: "exposed_memory_ns", Title: "copy", Unit: Time, Of: "span_ns", Term: "exposed", Faces: Everywhere},
		{Key: "idle_ns", Title: "idle", Unit: Time, Of: "span_ns", Bar: true, Faces: Everywhere},
		{Key: "idle_causes.host_bound_ns", Title: "host-bound", Unit: Time, Of: "span_ns", Term: "host-bound"},
		{Key: "idle_causes.kernel_gaps_ns", Title: "queued", Unit: Time, Of: "span_ns", Term: "queued"},
		{Key: "idle_causes.unknown_ns", Title: "unknown", Unit: Time, Of: "span_ns"},
		{Key: "idle_causes.collective_wait_ns", Title: "late ranks", Unit: Time, Of: "span_ns"},
	}}

var kernels = &Table{Key: "kernels", Tab: "devices", Title: "What devices execute", Path: "more.kernels[]", What: "kernels",
	Note: "Sums of single executions over all devices and streams, including simultaneous ones.",
	Columns: []Column{
		{Key: "short", Title: "kernel", Faces: InText},
		{Key: "name", Title: "kernel", Faces: OnPage | Selected},
		{Key: "class", Title: "class"},
		{Key: "from", Title: "launched most from"},
		{Key: "count", Title: "count", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true, Faces: Everywhere},
		{Key: "share", Title: "share", Unit: Share},
		{Key: "min_ns", Title: "min", Unit: Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: Time},
		{Key: "max_ns", Title: "max", Unit: Time, Modelled: true},
		{Key: "devices", Title: "devices", Unit: Count, Faces: OnPage},
	}}

var idleBefore = &Table{Key: "idle_before", Tab: "devices", Title: "What devices idle before, by what launches it",
	Path: "devices[].idle_before[]",
	Note: "Host-bound: the launch queue was empty. Queued: work was launched and had not started. The cause of the rest is unknown.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "operator", Title: "operator", Unit: Launcher, Says: "(launch not recorded)"},
		{Key: "call", Title: "call"},
		{Key: "count", Title: "times", Unit: Count},
		{Key: "time_ns", Title: "idle", Unit: Time, Bar: true},
		{Key: "host_bound_ns", Title: "host-bound", Unit: Time, Of: "time_ns", Term: "host-bound"},
		{Key: "kernel_gaps_ns", Title: "queued", Unit: Time, Of: "time_ns", Term: "queued"},
	}}

var launches = &Table{Key: "launches", Tab: "devices", Title: "From launch to begin",
	Path: "devices[].launches", Where: "delay_ns",
	Note: "Delay: from the start of the launching call to the start of the kernel, with its 90th and 99th percentile. Queue: " +
		"kernels that are launched and have not begun.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "count", Title: "kernels", Unit: Count},
		{Key: "no_launch", Title: "without launch", Unit: Count, Faces: InText},
		{Key: "delay_ns.min", Title: "least", Unit: Time},
		{Key: "delay_ns.p50", Title: "median", Unit: Time},
		{Key: "delay_ns.mean", Title: "mean", Unit: Time, Bar: true},
		{Key: "delay_ns.p90", Title: "90 %", Unit: Time},
		{Key: "delay_ns.p99", Title: "99 %", Unit: Time},
		{Key: "delay_ns.max", Title: "most", Unit: Time},
		{Key: "queue_mean", Title: "queue, mean", Unit: Decimal, Term: "queued"},
	}}

var streams = &Table{Key: "streams", Tab: "devices", Title: "Streams", Path: "devices[].streams[]", Columns: []Column{
	{Key: "device", Title: "device", Unit: Device},
	{Key: "stream", Title: "stream"},
	{Key: "count", Title: "executes", Unit: Count},
	{Key: "busy_ns", Title: "busy", Unit: Time, Bar: true},
	{Key: "busy_ns", Title: "of the device's span", Unit: Time, Of: "device_ns", Faces: InText},
	{Key: "compute_ns", Title: "computing", Unit: Time},
	{Key: "communication_ns", Title: "communicating", Unit: Time},
	{Key: "memory_ns", Title: "copying", Unit: Time},
}}

var devicePath = &Table{Key: "device_path", Tab: "devices", Title: "Critical path through hosts and devices",
	Path: "device_path.rows[]", Modelled: true, What: "rows",
	Columns: []Column{
		{Key: "kind", Title: "kind"},
		{Key: "name", Title: "kernel or function"},
		{Key: "count", Title: "count", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
		{Key: "share", Title: "share", Unit: Share},
		{Key: "max_rank", Title: "most on", Unit: Rank},
	}}

var threadRows = &Table{Key: "threads", Tab: "threads", Title: "Threads", Path: "threads.rows[]", What: "threads",
	Note: "Wall time. A row sums to the run time. Thread 0 calls MPI for its rank. No work: before a thread begins, after it ends, " +
		"and outside its work.",
	Columns: []Column{
		{Key: "rank", Title: "rank", Unit: Plain, Faces: InText},
		{Key: "thread", Title: "thread", Unit: Plain, Faces: InText},
		{Key: "name", Title: "name", Faces: InText},
		{Title: "thread", Unit: Thread, Faces: OnPage | Selected},
		{Key: "program_ns", Title: "in the program", Unit: Time, Bar: true, Faces: Selected},
		{Key: "useful_ns", Title: "useful", Unit: Time, Term: "useful time of threads", Bar: true},
		{Key: "useful_ns", Title: "share", Unit: Time, Of: "run_ns", Faces: InText},
		{Key: "communication_ns", Title: "MPI", Unit: Time, Faces: Everywhere},
		{Key: "barrier_ns", Title: "barriers", Unit: Time, Term: "time of threads that is not useful", Bar: true, Faces: Everywhere},
		{Key: "waiting_ns", Title: "waiting", Unit: Time, Term: "time of threads that is not useful", Faces: Everywhere},
		{Key: "scheduling_ns", Title: "fork, join", Unit: Time, Term: "time of threads that is not useful", Faces: Everywhere},
		{Key: "idle_ns", Title: "no work", Unit: Time, Term: "time of threads that is not useful", Bar: true},
		{Key: "outside_ns", Title: "outside all regions", Unit: Time, Bar: true, Faces: Selected},
		{Key: "measurement_ns", Title: "measurement", Unit: Time},
	}}

var phases = &Table{Key: "phases", Tab: "phases", Title: "Phases", Path: "phases.rows[]", What: "phases", Columns: []Column{
	{Key: "phase", Title: "phase", Unit: Plain},
	{Key: "from_ns", Title: "begins after", Unit: Instant},
	{Key: "duration_ns", Title: "lasts", Unit: Time, Bar: true},
	{Key: "parallel_efficiency", Title: "parallel efficiency", Unit: Share, Term: "parallel efficiency"},
	{Key: "load_balance", Title: "load balance", Unit: Share, Term: "load balance"},
	{Key: "communication_efficiency", Title: "communication", Unit: Share, Term: "communication"},
	{Key: "outlier", Title: "remarks", Unit: Flag, Says: "outlier"},
}}

var operations = &Table{Key: "operations", Tab: "files", Title: "What is done to files",
	Path: "file_io.operations[]", What: "operations",
	Note: "Time is a sum over all locations, including nested calls. Bandwidth covers calls with recorded bytes.",
	Columns: []Column{
		{Key: "operation", Title: "operation", Faces: Everywhere},
		{Key: "kind", Title: "kind"},
		{Key: "calls", Title: "calls", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true, Faces: Everywhere},
		{Key: "min_ns", Title: "min", Unit: Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: Time},
		{Key: "max_ns", Title: "max", Unit: Time, Modelled: true},
		{Key: "bytes", Title: "bytes", Unit: Bytes},
		{Key: "bytes_per_s", Title: "bandwidth", Unit: Bandwidth},
	}}

var files = &Table{Key: "files", Tab: "files", Title: "Files", Path: "file_io.files[]", What: "files", Columns: []Column{
	{Key: "file", Title: "file"},
	{Key: "ranks", Title: "ranks", Unit: Count},
	{Key: "calls", Title: "calls", Unit: Count},
	{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
	{Key: "reads", Title: "reads", Unit: Count},
	{Key: "read_bytes", Title: "read", Unit: Bytes},
	{Key: "writes", Title: "writes", Unit: Count},
	{Key: "write_bytes", Title: "written", Unit: Bytes},
	{Key: "bytes_per_s", Title: "bandwidth", Unit: Bandwidth},
}}

var sizes = &Table{Key: "sizes", Tab: "files", Title: "Sizes of accesses", Path: "file_io.sizes[]", Columns: []Column{
	{Key: "kind", Title: "kind"},
	{Key: "from", Title: "from", Unit: Bytes},
	{Key: "to", Title: "to", Unit: Bytes},
	{Key: "calls", Title: "calls", Unit: Count},
	{Key: "bytes", Title: "bytes", Unit: Bytes},
	{Key: "time_ns", Title: "time", Unit: Time},
	{Key: "mean_ns", Title: "mean", Unit: Time, Faces: InText},
}}

var criticalPath = &Table{Key: "critical_path", Tab: "waits", Title: "Critical path",
	Path: "critical_path.regions[]", Modelled: true, What: "places",
	Columns: []Column{
		{Key: "operation", Title: "operation", Unit: Operation, Says: "(outside MPI)"},
		{Title: "source line", Unit: Place, Term: "source line"},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
		{Key: "share", Title: "share", Unit: Share},
		{Key: "imbalance_ns", Title: "imbalance", Unit: Time, Term: "imbalance"},
	}}

// lastLocation is the path of a run in which nobody waits for another.
var lastLocation = &Table{Title: "The location that ends last",
	Path: criticalPath.Path, Modelled: true, What: "places", Columns: []Column{
		{Title: "source line", Unit: Place},
		{Key: "time_ns", Title: "time", Unit: Time},
		{Key: "share", Title: "share", Unit: Share},
	}}

var callSites = &Table{Path: "call_sites[]",
	What: "sites", Note: "Time is a sum over ranks. Min to max are times of single calls; the last column is the rank of max.",
	Columns: []Column{
		{Key: "operation", Title: "operation"},
		{Title: "source line", Unit: Place},
		{Key: "calls", Title: "calls", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time},
		{Key: "min_ns", Title: "min", Unit: Time, Modelled: true},
		{Key: "p50_ns", Title: "p50", Unit: Time, Modelled: true},
		{Key: "mean_ns", Title: "mean", Unit: Time},
		{Key: "p99_ns", Title: "p99", Unit: Time, Modelled: true},
		{Key: "max_ns", Title: "max", Unit: Time, Modelled: true},
		{Key: "max_rank", Title: "on", Unit: Rank},
		{Key: "bytes", Title: "bytes", Unit: Bytes},
	}}

var senders = &Table{Title: "Senders and receivers",
	Path: "overhead.pairs[]", Note: "Times are sums over ranks.", Modelled: true, What: "pairs",
	Columns: []Column{
		{Key: "send.operation", Title: "sent by"},
		{Key: "send", Title: "at", Unit: Place},
		{Key: "receive.operation", Title: "received by"},
		{Key: "receive", Title: "at", Unit: Place},
		{Key: "verdict", Title: "verdict"},
		{Key: "by_wait_states", Title: "by wait states"},
		{Key: "send_overhead_ns", Title: "overhead of sends", Unit: Time},
		{Key: "receive_overhead_ns", Title: "of receives", Unit: Time},
		{Key: "messages", Title: "messages", Unit: Count},
	}}

var keyTable = &Table{Columns: []Column{
	{Key: "operation", Title: "operation"},
	{Key: "role", Title: "role"},
	{Key: "processes", Title: "processes", Unit: Count},
	{Key: "bytes", Title: "bytes", Unit: Bytes},
	{Key: "calls", Title: "calls", Unit: Count},
	{Key: "t_min_ns", Title: "t_min", Unit: Time},
	{Key: "t_max_ns", Title: "t_max", Unit: Time},
	{Key: "over", Title: "slow", Unit: Count},
	{Key: "model", Title: "model"},
	{Key: "chi2", Title: "χ²", Unit: Decimal},
	{Key: "dof", Title: "ν", Unit: Plain},
	{Key: "p_value", Title: "p", Unit: Decimal},
	{Key: "remarks", Title: "remarks", Unit: Remarks},
}}

var counterSums = &Table{Title: "Counters by region", Path: "profile[].counters[]", What: "rows",
	Note: "Growth of counters in the exclusive time of the region, summed over all locations. IPC is instructions per cycle, GHz " +
		"cycles per ns, both in the region's first row.",
	Columns: []Column{
		{Key: "region", Title: "region"},
		{Key: "name", Title: "counter"},
		{Key: "samples", Title: "samples", Unit: Count},
		{Key: "sum", Title: "sum", Unit: Number},
		{Key: "ipc", Title: "IPC", Unit: Ratio},
		{Key: "frequency_ghz", Title: "GHz", Unit: Ratio},
		{Key: "mean", Title: "mean", Unit: Number},
		{Key: "min", Title: "minimum", Unit: Number},
		{Key: "max", Title: "maximum", Unit: Number},
		{Key: "unit", Title: "unit"},
	}}

var usefulCounters = &Table{Title: "Counters in useful time",
	Path: "counters.ranks[]", Note: "Sums over the threads of a rank, for useful time between samples.",
	Columns: []Column{
		{Key: "key", Unit: Label},
		{Key: "useful_ns", Title: "useful time", Unit: Time},
		{Key: "instructions", Title: "instructions", Unit: Number},
		{Key: "cycles", Title: "cycles", Unit: Number},
		{Key: "ipc", Title: "IPC", Unit: Ratio},
		{Key: "frequency_ghz", Title: "GHz", Unit: Ratio},
	}}

var counterSeries = &Table{Title: "Counters over time",
	Note: "Means are weighted by time. For accumulating counters, least, mean and most are growth per second. If several places " +
		"record a counter: mean of their means, sum of their growth.",
	Columns: []Column{
		{Key: "name", Title: "counter"},
		{Key: "unit", Title: "unit"},
		{Key: "places", Title: "places", Unit: Count},
		{Key: "samples", Title: "samples", Unit: Count},
		{Key: "min", Title: "least", Unit: Number},
		{Key: "mean", Title: "mean", Unit: Number},
		{Key: "max", Title: "most", Unit: Number},
		{Key: "growth", Title: "growth", Unit: Number},
	}}

var messageSizes = &Table{Title: "Message sizes", Path: "messages.sizes[]", Columns: []Column{
	{Key: "from", Title: "from", Unit: Bytes},
	{Key: "to", Title: "to", Unit: Bytes},
	{Key: "count", Title: "messages", Unit: Count},
	{Key: "bytes", Title: "bytes", Unit: Bytes},
}}

var gaps = &Table{Key: "gaps", Tab: "devices", Title: "The longest times in which a device idles",
	Path: "devices[].gaps[]", Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "start_ns", Title: "begins after", Unit: Instant},
		{Key: "time_ns", Title: "lasts", Unit: Time, Bar: true},
		{Key: "host_bound_ns", Title: "host-bound", Unit: Time, Of: "time_ns", Term: "host-bound"},
		{Key: "before", Title: "then begins"},
		{Key: "launched_from", Title: "launched from"},
	}}

var steps = &Table{Key: "steps", Tab: "devices", Title: "Training steps", Path: "devices[].steps.rows[]", What: "rows",
	Note: "Time of the step on the host, and shares of it for what the device does meanwhile.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "step", Title: "step"},
		{Key: "span_ns", Title: "time", Unit: Time, Bar: true},
		{Key: "compute_ns", Title: "computing", Unit: Time, Of: "span_ns"},
		{Key: "exposed_communication_ns", Title: "communicating", Unit: Time, Of: "span_ns", Term: "exposed"},
		{Key: "exposed_memory_ns", Title: "copying", Unit: Time, Of: "span_ns", Term: "exposed"},
		{Key: "idle_ns", Title: "idle", Unit: Time, Of: "span_ns"},
		{Key: "cut", Unit: Flag, Says: "cut off"},
	}}

var deviceCollectives = &Table{Key: "device_collectives", Tab: "devices", Title: "Bandwidth of collectives",
	Path: "devices[].collectives[]", What: "rows",
	Note: "Time is a sum, counted from the last arrival, or of whole kernels if ranks are missing. Bus bandwidth is defined as in " +
		"NCCL's tests; compare it with the links.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "operation", Title: "operation"},
		{Key: "members", Title: "members", Unit: Count},
		{Key: "bytes", Title: "size", Unit: Bytes},
		{Key: "count", Title: "count", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
		{Key: "bus_bytes_per_s", Title: "bus bandwidth", Unit: Bandwidth, Term: "bus bandwidth"},
		{Key: "with_waiting", Unit: Flag, Says: "waiting included"},
	}}

var stragglers = &Table{Key: "stragglers", Tab: "devices", Title: "Who comes late to collectives",
	Path: "devices[].straggler", What: "devices",
	Note: "Sums over collectives. Waits caused: time all others wait for the last one to arrive.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "count", Title: "collectives", Unit: Count},
		{Key: "comes_last", Title: "comes last", Unit: Count},
		{Key: "caused_ns", Title: "waits caused", Unit: Time, Bar: true},
		{Key: "wait_ns", Title: "waits itself", Unit: Time},
		{Key: "late_mean_ns", Title: "after the first, mean", Unit: Time},
		{Key: "compute_ns", Title: "computing", Unit: Time},
	}}

var hostWaits = &Table{Key: "host_waits", Tab: "devices", Title: "Where hosts only wait for devices",
	Path: "more.host_waits[]", What: "calls", Note: "Sums over all threads.",
	Columns: []Column{
		{Key: "call", Title: "call"},
		{Key: "count", Title: "count", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
	}}

var parts = &Table{Key: "parts", Tab: "devices", Title: "Parts of what devices execute", Path: "devices[].parts[]",
	Note: "Launched: work with a launch in the trace. Recompute: launched to compute activations again; first_pass: the rest. Times " +
		"of each part ignore the other parts.",
	Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "part", Title: "part"},
		{Key: "count", Title: "executes", Unit: Count},
		{Key: "span_ns", Title: "span", Unit: Time},
		{Key: "compute_ns", Title: "computing", Unit: Time, Bar: true},
		{Key: "exposed_communication_ns", Title: "communicating", Unit: Time, Term: "exposed"},
		{Key: "exposed_memory_ns", Title: "copying", Unit: Time, Term: "exposed"},
		{Key: "idle_ns", Title: "idle", Unit: Time},
	}}

// deviceKernels is what each device does of a kernel.
var deviceKernels = &Table{Key: "device_kernels", Tab: "kernels", Title: "On each device",
	Path: "devices[].kernels[]", Columns: []Column{
		{Key: "device", Title: "device", Unit: Device},
		{Key: "count", Title: "count", Unit: Count},
		{Key: "time_ns", Title: "time", Unit: Time, Bar: true},
		{Key: "mean_ns", Title: "mean", Unit: Time},
		{Key: "max_ns", Title: "max", Unit: Time, Modelled: true},
	}}

var findings = &Table{Key: "findings", Tab: "findings", Title: "What is wrong with the trace",
	Path: "findings[]", Columns: []Column{
		{Key: "severity", Title: "severity"},
		{Key: "text", Title: "finding", Unit: Label},
		{Key: "count", Title: "number", Unit: Count},
		{Key: "code", Title: "code"},
	}}
