package report

import "tracekit/document/field"

// A Term is a word of the reports with what it means.
type Term struct {
	Word    string `json:"word"`
	Meaning string `json:"meaning"`
	Section string `json:"section,omitempty"` // of DEFINITIONS; "": none
}

// Terms are the words of the reports, in the order in which a reader meets them. The exact
// definitions are in docs/DEFINITIONS.md.
func Terms() []Term {
	return []Term{
		{"run time", "Wall time from the first event of any location to the last.", ""},
		{"sum over ranks",
			"Time of all ranks together: with 8 ranks, 8 s in each second. Each table says whether a column is such a sum or wall " +
				"time.", ""},
		{"selection",
			"The part of the run that --ranks, --from and --to choose. Waits are found in the whole run, so a partner outside " +
				"still explains a wait inside. Sums count only the selection.", ""},
		{"useful time",
			"Time of a rank's master thread outside MPI, while recording is on. On traces with times of threads it is called " +
				"\"outside MPI\".", "2.6"},
		{"parallel efficiency",
			"Mean useful time over ranks, divided by the run time. It equals load balance times communication efficiency. Traces " +
				"without MPI have none.", "2.6"},
		{"load balance", "Mean useful time over ranks, divided by the useful time of the rank with the most.", "2.6"},
		{"communication",
			"Communication efficiency: the largest useful time of a rank, divided by the run time. It equals serialization times " +
				"transfer.", "2.6"},
		{"serialization",
			"Serialization efficiency: communication efficiency with zero-cost MPI. What is missing to 100 % is lost because ranks " +
				"wait for each other.", "2.6"},
		{"transfer",
			"As an efficiency: run time with zero-cost MPI, divided by run time. Of a collective: time from the last arrival to " +
				"the first departure.", "2.9"},
		{"zero-cost MPI",
			"A replay in which MPI calls take no time of their own and only wait for each other. Serialization and transfer are " +
				"computed from it.", "2.6"},
		{"ideal network",
			"A replay in which messages and collective data take no time, while calls keep their own time. It shows the cost of " +
				"the network without the cost of calls. The run is longer than with zero-cost MPI.", "2.11"},
		{"not explained",
			"Time in MPI calls that neither a recorded wait nor the network explains. The trace does not show why, so it is not a " +
				"cause. If records are missing, the report names them.", "2.12"},
		{"offload",
			"Offload efficiency: share of the time of master threads outside MPI in which they do not just wait for a device. With " +
				"it, parallel efficiency is that of the hosts.", "2.6"},
		{"useful time of threads",
			"Time of a thread in the program. MPI, barriers, locks, waiting for tasks, fork and join, and idle time do not count. " +
				"If the trace records when threads run (Paraver states), only running time counts.", "2.10"},
		{"parallel regions, serial parts",
			"Efficiencies of threads. Parallel regions: 100 % minus the loss to imbalance, barriers, fork and join. Serial parts: " +
				"100 % minus the loss while the master works alone.", "2.10"},
		{"idle threads", "Time in which the master of a process is outside parallel regions, times the number of its other threads.", "2.10"},
		{"time of threads that is not useful",
			"MPI; barriers; waiting for locks, tasks and the end of threads; fork and join; creating threads and tasks; no work. " +
				"No work is the time before a thread begins, after it ends, and while it has nothing to do.", "2.10"},
		{"IPC",
			"Instructions per cycle, from hardware counters. GHz is cycles per nanosecond. In useful time: from samples that have " +
				"only useful time between them.", ""},
		{"phase",
			"An iteration of the program, from one call to the next at the same point of the repeated sequence. It is found from " +
				"the operations of all ranks.", "2.15"},
		{"startup", "MPI_Init and MPI_Finalize. Figures without startup cover the time between them.", ""},
		{"device",
			"An accelerator. It is busy while it computes (kernels), communicates (NCCL kernels) or copies. Simultaneous work " +
				"counts once: computing before communicating before copying.", "2.9"},
		{"host-bound", "A device is idle and its launch queue is empty: the host does not launch fast enough.", "2.9"},
		{"queued",
			"Kernels that are launched and have not begun. The queue is their mean number. A device that is idle with a queue " +
				"loses time between kernels.", "2.9"},
		{"span of a device", "Time from the first to the last activity of a device.", "2.9"},
		{"exposed", "Of a device: communication while it computes nothing, or copies while it does nothing else.", "2.9"},
		{"bus bandwidth",
			"Bytes of a collective per second, times a factor of its kind: 2(n-1)/n for an allreduce. Compare it with the " +
				"bandwidth of the links.", "2.9"},
		{"wait state", "Time in an MPI call that passes only because a partner is late. Definitions follow Scalasca 2.6.", "2.1 and 2.2"},
		{"late sender", "A receive, or the call that completes it, waits because the message is sent later.", "2.1"},
		{"wrong order", "Part of late sender: an earlier message had arrived, but was received later.", "2.1"},
		{"late receiver", "A send waits because the receive is posted later.", "2.1"},
		{"late progress",
			"A message waits for one of its ranks to call MPI again. Large messages often need both ranks in MPI.", "2.1"},
		{"N×N",
			"A collective in which every rank needs data of every other, such as MPI_Allreduce or MPI_Alltoall. A rank waits from " +
				"its arrival until the last rank arrives.", "2.2"},
		{"completion", "Time a rank stays in an N×N collective or a barrier after the first rank has left it.", "2.2"},
		{"late broadcast", "Ranks wait in a broadcast or scatter for the root to arrive.", "2.2"},
		{"early reduce", "The root waits in a reduce or gather for the last rank to arrive.", "2.2"},
		{"skew", "Of a collective: time from a rank's arrival until the last rank arrives.", "2.9"},
		{"pattern",
			"In reduce --repeating: iterations in which every rank makes the same calls with the same partners and sizes. Its " +
				"period is their mean length.", "1.3"},
		{"hops", "Distance of two ranks in the topology: steps along all dimensions, added. A step may cross a wrap-around edge.", "1.3"},
		{"gain",
			"How much shorter the run would be with one change, at most. The recorded run is replayed with the change and all " +
				"waits are computed anew. Gains overlap: where one wait disappears, another may appear.", "2.12"},
		{"waits caused",
			"Waiting that a place causes on other ranks. The cause is that a rank takes longer there than the ranks that wait for " +
				"it. \"At once\" is the wait when they meet next. \"Later\" are waits that follow from it. Both add up to all waits " +
				"except unexplained ones, which mostly come from inconsistent clocks.", "2.3"},
		{"critical path",
			"The chain of activities across ranks that determines the run time. Its length is the run time. Only speeding up work " +
				"on it shortens the run.", "2.4"},
		{"own time",
			"Time of a call after everything it waits for has arrived. What-if replays keep own times and the computation between " +
				"calls, and compute the waits anew.", "2.11"},
		{"imbalance",
			"On the critical path: time of the path at a place, minus the mean time of a rank there without waits. It is the most " +
				"that perfect balance at this place would save.", "2.4"},
		{"source line",
			"Where a call is made. If the trace has no line of the call, a plus (main+) marks the enclosing region and its first " +
				"line.", ""},
		{"(outside MPI)", "Time in a region that is not an MPI function.", ""},
		{field.OutsideRegions, "Time in which no region is entered: what the program does is not recorded.", ""},
		{field.NotRecorded, "Time of the run before the first event of the rank on which the critical path begins.", ""},
		{"(writing the trace), (recording off)",
			"Time in which the measurement writes its buffer or is switched off, in whatever region that happens.", ""},
		{"key",
			"What MPI calls must have in common to be compared: function, role (root or leaf, sending or receiving), number of " +
				"processes, number of bytes.", "1.1"},
		{"t_min, t_max",
			"The shortest call of a key, and the upper limit of an undisturbed call. By default 99 of 100 calls are shorter than " +
				"t_max.", "1.1"},
		{"unreliable, undecided",
			"A t_max is unreliable if it exceeds 100 t_min and rests on under 200 calls or no accepted law. No verdict uses it. A " +
				"verdict is undecided if both sides have nearly equal overhead, or an unreliable one.", "1.1"},
		{"overhead",
			"Time of a call beyond t_max of its key. Its parts are late partner (waiting), transfer (a larger message than others " +
				"of the key) and unexplained.", "1.1"},
		{"≈", "Marks values that a model made: the trace was rebuilt from statistics, so times of single events are not recorded.", ""},
		{"header",
			"What a message carries in the profile of 'tracekit headers': how the time on the path to it was spent. It has eight " +
				"counters and OTHER, which holds everything without a counter. A rank that waits for a message takes over its header.", "1.5"},
		{"hosts, path",
			"Two views of one run: what ranks did, and what the ranks did that others waited for. In the second view nobody waits " +
				"for a message.", "1.5"},
		{"wire, copy",
			"Time of a message on the network, and of copying it. Traces do not record either. Both are estimated from the " +
				"smallest times over bytes.", ""},
		{"late progress, queued, system",
			"What messages take beyond their need: until their partner entered MPI, behind earlier messages, or while nobody was missing. " +
				"On one node that is the system, on two nodes the network or the system.", "1.5"},
		{"margin", "Of a counter in a header: how much earlier the run would end without it, at least. Then another path is longer.", "1.5"},
		{"hop", "Where the header of another rank takes over: at a message, a collective, or the acknowledgement of a blocking send.", "1.5"},
		{"population, sample",
			"In 'tracekit sample': all messages, and those that a configuration would have recorded. Each rank decides at its " +
				"sends: at random, by a counter, or by a timer.", ""},
		{"category",
			"Messages with the same sender, receiver, sending call, completing call and size. Its identifier is a hash of these, " +
				"equal in every run. Never seen: no message of it was sampled.", "1.2"},
		{"after a pause",
			"Sent longer after the rank's previous message than the rank's mean distance, like the first message after a " +
				"computation.", ""},
		{"like random", "Whether categories appear in the sample as often as in a random one: no if the χ² test gives p < 0.001.", ""},
		{"Horvitz–Thompson, counted, naive",
			"Ways to estimate totals. A random sample counts with 1 divided by its probability. A counter knows the number of " +
				"sends of its rank, so its samples stand for equal parts. Naive treats timers like counters, without justification.", ""},
		{"noise",
			"Of a change between runs: half the width of the 95 % interval of changes without a reason. The work of a place is cut " +
				"into 32 parts, paired between runs, and their differences are tested. A change above noise is significant among all " +
				"that are tested, and large enough to matter.", "2.14"},
		{"weight", "Of a change between runs: its size. Outside MPI, plus the change of the waits that the place causes on others.", "2.14"},
		{"scalability",
			"Of the computation: useful time of all ranks in the smallest run, divided by that of this run. With weak scaling it " +
				"is multiplied by the ratio of ranks. It is the product of the scalabilities of instructions, IPC and frequency. " +
				"Global efficiency is parallel efficiency times scalability.", "2.13"},
		{"model",
			"Of growth: time of a process as a function of the number p of processes. It has a constant and terms " +
				"p^(i/j)·log2(p)^k. Its error comes from predicting each size from the others.", "2.13"},
		{"at least, at most of a model", "Range of 95 of 100 measurements of that size, if the form of the model is right.", "2.13"},
		{"certificate",
			"Every figure of the analysis of a trace next to the figure of the reduced trace. Its error is the mean of the " +
				"differences, each at most 100 %. Figures that are 0 in both are left out.", ""},
		{"time of a line",
			"Time of all calls of a source line, summed over ranks. It is own time, waits, transfer and unexplained time together.", ""},
		{"own time of a line", "Time that the calls of a line need themselves, without waits, transfer and unexplained time.", "1.1"},
		{"late partner", "Of a line: time its calls wait for the partner of a message, who sends or receives late.", "2.1"},
		{"imbalance of a line", "Of a line: time its calls wait for other ranks of a collective.", "2.2"},
		{"transfer of a line", "Of a line: extra time of its calls because their messages are larger than others of their class.", "1.1"},
		{"unexplained",
			"Of overhead: neither waiting nor transfer. Such calls take longer than comparable calls, and the trace shows no " +
				"reason.", "1.1"},
		{"law",
			"A distribution fitted to durations of calls of a key, without wait states, that a χ² test accepts. p is the " +
				"probability of a worse fit if the law is true.", "1.1"},
		{"waiting for messages",
			"Of a pair of ranks: waits for messages from one to the other. The receiver waits for late senders, the sender for " +
				"late receivers. It is not part of the latency of messages.", "2.1"},
		{"direct, indirect",
			"A wait is direct if a delay of the other side causes it. It is indirect if the other side waited itself.", "2.3"},
		{"share of a wait state", "Share of the run time summed over ranks.", ""},
		{"share of a path", "Share of the recorded time of all rows of the timeline.", ""},
		{"least, mean, most of a region",
			"Time in a region without its callees, by rank, with all threads of the rank. Only ranks that visit the region count.", ""},
		{"annotation", "A range that the program names, such as a training step. On a device stream it takes no time of its own.", ""},
		{"-", "In a cell: not known. The trace has no record that tells it, or the figure has no meaning in that row.", ""},
		{"inclusive, exclusive", "Time in a region with and without its callees.", ""},
		{"slowdown",
			"Time of a step as recorded, divided by its time with equal workers. Of a worker, stage or type: only it has recorded " +
				"durations.", "2.19"},
		{"pipeline bubble", "Time of a training step in which nothing runs on a stage. The schedule asks for some of it.", "2.19"},
		{"latency", "Of a message: time from the start of the sending call to the end of the call that completes the receive.", ""},
		{"p50, p99", "Percentiles: half of the calls, or 99 of 100, take no longer. They are exact within 1 %.", ""},
	}
}
