package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tracekit/document/field"
	"tracekit/report/text"
)

// A term is a word of the reports with what it means.
type term struct {
	word, meaning string
	section       string // of DEFINITIONS; "": none
}

// terms are the words of the reports, in the order in which a reader meets them. The exact
// definitions are in docs/DEFINITIONS.md.
func terms() []term {
	return []term{
		{"run time", "From the first event of any location to the last: wall time.", ""},
		{"sum over ranks", "Time that all ranks spend together: with 8 ranks, 8 s in each second. Tables say which of their columns are such sums and which are wall time.", ""},
		{"selection", "The part of the run that --ranks, --from and --to choose. Waits are found in the whole run, so that a partner outside still explains a wait inside; what is summed is cut to the selection.", ""},
		{"useful time", "Time of a rank's master thread outside MPI, while recording is on.", "2.6"},
		{"parallel efficiency", "Mean useful time over ranks, divided by the run time: load balance times communication efficiency. It is of MPI: a trace in which nobody calls MPI has none.", "2.6"},
		{"load balance", "Mean useful time over ranks, divided by that of the rank with the most.", "2.6"},
		{"communication", "Communication efficiency: the most useful time of a rank, divided by the run time. It is serialization times transfer.", "2.6"},
		{"serialization", "Serialization efficiency: what communication efficiency would be on a network that costs nothing. What it lacks of 100 % is waiting for each other.", "2.6"},
		{"transfer", "In efficiencies: the run time on a network that costs nothing, divided by the run time. In collectives: the time from the arrival of the last rank until the first one leaves.", "2.9"},
		{"offload", "Offload efficiency: of the time of master threads outside MPI, the share in which they do not only wait for a device. With it parallel efficiency becomes that of the hosts.", "2.6"},
		{"useful time of threads", "Time of a thread in the program: not in MPI, not waiting at barriers, for locks or for tasks, not forking and joining, not without work. Where the trace tells when threads run (the states of Paraver), no other time is.", "2.10"},
		{"parallel regions, serial parts", "Efficiencies of threads: 100 % less what is lost in parallel regions (imbalance, barriers, fork and join), and less what is lost outside them, where the master works alone.", "2.10"},
		{"idle threads", "Time in which the master of a process is outside parallel regions, times the other threads of the process.", "2.10"},
		{"threads beside useful time", "MPI; barriers, implicit and explicit ones of a team; waiting for locks, for tasks and for threads to end; forking and joining, and creating threads and tasks; no work: before a thread begins, after it ends, and where it is given nothing to do.", "2.10"},
		{"IPC", "Instructions per cycle, from hardware counters; GHz: cycles per nanosecond. In useful time: from samples with nothing but useful time between them.", ""},
		{"phase", "An iteration of the program: from one call to the next that is made at the same point of what all ranks repeat, found from the sequence of their operations.", "2.15"},
		{"startup", "MPI_Init and MPI_Finalize. Figures without startup are of the time between them.", ""},
		{"device", "An accelerator. It is busy while it computes (kernels), communicates (kernels of NCCL and its like) or copies; what happens at the same time counts once, as computing before communicating before copying.", "2.9"},
		{"host-bound", "A device is idle and nothing has been launched that has not begun: the host does not keep up.", "2.9"},
		{"queued", "Of devices: something is launched and has not begun. The queue is the mean number of such kernels; time in which the device is idle all the same is lost between kernels.", "2.9"},
		{"span of a device", "From the first to the last thing that a device does.", "2.9"},
		{"exposed", "Of a device: communication while it computes nothing, copies while it does nothing else.", "2.9"},
		{"bus bandwidth", "Bytes of a collective per time, times a factor of its kind (2(n-1)/n for an allreduce), so that it can be held against what the links can do.", "2.9"},
		{"wait state", "Time in an MPI call that passes only because a partner is late, after the definitions of Scalasca 2.6.", "2.1 and 2.2"},
		{"late sender", "A receive, or a call that completes one, waits because the message is sent later.", "2.1"},
		{"wrong order", "The part of late sender in which another message, sent earlier, was there and was received later.", "2.1"},
		{"late receiver", "A send waits because the receive is posted later.", "2.1"},
		{"N×N", "A collective in which every rank needs data of every other, such as MPI_Allreduce or MPI_Alltoall. Wait at N×N: from a rank's arrival until the last one arrives.", "2.2"},
		{"completion", "How long a rank stays in an N×N collective or a barrier after the first rank has left it. (N×N completion, barrier completion.)", "2.2"},
		{"late broadcast", "Ranks wait in a broadcast or scatter for the root to arrive.", "2.2"},
		{"early reduce", "The root waits in a reduce or gather for the last rank to arrive.", "2.2"},
		{"skew", "In collectives: the time from a rank's arrival until the last one arrives.", "2.9"},
		{"pattern", "In reduce --repeating: iterations in which every rank makes the same calls with the same partners and sizes. Its period is their mean length.", "1.3"},
		{"hops", "How many steps apart two ranks are in the topology, in all dimensions together; with wrap-around a step may lead over its edge.", "1.3"},
		{"gain", "By how much the run would be shorter if one thing were mended: the recorded run is replayed with that change, all waits made anew. Gains do not add up: where one wait goes, another one may come.", "2.12"},
		{"waits caused", "What makes others wait: a rank takes longer at a place than those that wait for it, since they last met. At once is the waiting when they meet next, later that which follows from it, when those that have waited make others wait in turn; together all waits but the unexplained ones, which mostly clocks that disagree leave.", "2.3"},
		{"critical path", "The chain of activities, from rank to rank along the waits, that determines the run time; its length is the run time. Only what gets faster on it shortens the run.", "2.4"},
		{"own time", "What a call takes after all that it waits for is there. What if replays the run with the own times of calls and the computation between them, and finds the waits anew.", "2.11"},
		{"imbalance", "On the critical path: how much longer the path stays at a place than a rank does there in the mean, waits left out. It is what perfect balance at this place would gain at most.", "2.4"},
		{"source line", "Where a call is made. Where the trace does not record lines of calls, a plus (main+) marks the region that encloses the call and the line where it begins.", ""},
		{"(outside MPI)", "Time in a region that is no MPI function.", ""},
		{field.OutsideRegions, "Time in which no region is entered: the program runs, but nobody knows what.", ""},
		{field.NotRecorded, "Time of the run before the first event of the rank that the critical path begins on.", ""},
		{"(writing the trace), (recording off)", "Time in which the measurement writes its buffer or is switched off, in whatever region that happens.", ""},
		{"key", "What MPI calls must have in common to be compared: the function, their role (root or leaf, sending or receiving), the number of processes, the number of bytes.", "1.1"},
		{"t_min, t_max", "The shortest call of a key, and the time that a call which nothing disturbs exceeds seldom: by default in one of a hundred cases.", "1.1"},
		{"unreliable, undecided", "A t_max that is more than 100 times t_min is unreliable if fewer than 200 calls or no accepted law stand behind it: no verdict rests on it. A verdict is undecided where both sides have nearly as much overhead, or an unreliable one.", "1.1"},
		{"overhead", "What a call takes beyond t_max of its key: late partner (it waits), transfer (its message is larger than others of the key) and unexplained.", "1.1"},
		{"≈", "Before what a model made: the trace was rebuilt from statistics, and times of its single events were not recorded.", ""},
		{"header", "What a message carries in the profile of 'tracekit headers': how the time on the path that led to it was spent, in eight counters and OTHER, which has all that has no counter. A rank that waits for a message takes over its header: that one dominates.", "1.5"},
		{"hosts, path", "Two views of one run: what ranks did, and what those did who were waited for. In the second nobody waits for a message.", "1.5"},
		{"wire, copy", "Time of a message on its way, and of copying it. Both are derived, by lines through the smallest times over bytes: a trace does not tell them. (unexplained) What a message's way takes longer than the fastest like it.", ""},
		{"hop", "Where a header that was waited for dominates: at a message, a collective, or the acknowledgement of a blocking send.", "1.5"},
		{"population, sample", "In 'tracekit sample': all messages, and those that a configuration would have recorded. Each rank decides at its sends: at random, by a counter, or by a timer.", ""},
		{"category", "Messages with the same sender, receiver, call that sends, call that completes the receive, and size; its identifier is a hash of these, the same in every run. Never seen: none of its messages was sampled.", "1.2"},
		{"after a pause", "Sent later after the rank's message before than is usual for the rank in the mean, as the first one after a computation is.", ""},
		{"like random", "Whether the sample has the categories as often as a random one could: no if the χ² test gives p < 0.001.", ""},
		{"Horvitz–Thompson, counted, naive", "How totals are estimated. A random sample stands for one over its probability. A counter knows how many messages its rank has sent: its samples stand for equal parts of them. Timers are taken the same way, without a reason.", ""},
		{"noise", "Of a change between runs: half the width of the interval in which 95 of 100 such changes lie if nothing has changed. The work of a place is cut into 32 parts, those of both runs are paired, and from their differences it is judged what chance does. More than noise: it is no accident, of all that are tested, and large enough to matter.", "2.14"},
		{"weight", "Of a change between runs: its size, and outside MPI that of the change of the waits that the place causes others.", "2.14"},
		{"scalability", "Of the computation: useful time of all ranks in the smallest run, divided by that in this one (in weak scaling times what there are ranks more). It is the product of those of instructions, of instructions per cycle (IPC) and of frequency. Global efficiency is parallel efficiency times that.", "2.13"},
		{"model", "Of growth: how the time of a process grows with the number p of processes; a constant and terms p^(i/j)·log2(p)^k. Its error is that of predicting each size from the others.", "2.13"},
		{"at least, at most of a model", "Where 95 of 100 measurements of that size lie if the form of the model is right.", "2.13"},
		{"certificate", "Every figure of an analysis of a trace, beside that of what 'tracekit reduce' leaves of it. Its error is the mean of the differences, each at most 100 %, without figures that are 0 in both.", ""},
		{"time of a line", "Of a source line: all that its calls take, summed over ranks. It is own time, waits, transfer and unexplained time together.", ""},
		{"own time of a line", "What the calls of a line need themselves: their time without waits, transfer and unexplained time.", "1.1"},
		{"late partner", "Of a line: what its calls wait for the partner of a message, who sends or receives late.", "2.1"},
		{"imbalance of a line", "Of a line: what its calls wait for the others of a collective.", "2.2"},
		{"transfer of a line", "What the calls of a line take longer, beyond what they need, since their messages are larger than others of their class.", "1.1"},
		{"unexplained", "Of overhead: what is neither waiting nor transfer. Such calls take longer than like ones, for no reason that the trace tells.", "1.1"},
		{"law", "A distribution fitted to the durations, without wait states, of all calls of a key, and accepted by a χ² test; p is the chance of a worse fit if the law is true.", "1.1"},
		{"waiting for messages", "Of a pair of ranks: what calls of both wait for messages from the one to the other, the receiver for late senders and the sender for late receivers. It is not part of the messages' latency.", "2.1"},
		{"direct, indirect", "A wait is direct where a delay of the other side causes it, indirect where that waited itself.", "2.3"},
		{"share of a wait state", "Of the sum over ranks of the run time.", ""},
		{"share of a path", "Of the recorded time of all rows of the timeline.", ""},
		{"least, mean, most of a region", "Time in a region without what it calls, by rank, all threads of the rank together, over the ranks that visit it.", ""},
		{"inclusive, exclusive", "Time in a region with and without what it calls.", ""},
		{"latency", "Of a message: from the start of the call that sends it to the end of the call that completes its receive.", ""},
		{"p50, p99", "Quantiles: half of the calls, or 99 of 100, take no longer. They are exact within 1 %.", ""},
	}
}

// newTerms makes the help topic that explains the words of the reports. Its text is made when it is
// asked for: breaking its lines would be a fifth of every command's start.
func newTerms() *cobra.Command {
	c := &cobra.Command{Use: "terms", Short: "What the words of the reports mean"}
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		var b strings.Builder
		b.WriteString("The words of the reports. docs/DEFINITIONS.md has the exact definitions.\n")
		for _, t := range terms() {
			fmt.Fprintf(&b, "\n%s\n    %s\n", t.word, text.Wrap("    "+t.meaning, 80, 4)[4:])
		}
		c.Long = b.String()
		c.Root().HelpFunc()(c, args)
	})
	return c
}
