// Package jsontrace reads and writes one of the formats of package readers: Chrome trace event JSON. Its dialects are those of PyTorch
// (Kineto), dftracer, NCCL's profiler, rocprof, TAU and tracekit's own. Files have the object form, the array form or lines of objects,
// compressed by gzip, zstd, bzip2 or xz or not.
//
// The format has no strict specification; what is read here is what its two reference
// viewers, catapult and Perfetto, and its writers agree on. It is read in one pass, in
// memory that does not grow with the file: events wait in a spool that sorts them by track
// and time. What is malformed is passed over up to the next line that begins an event, and
// counted in the findings. Where a file is longer than a window, one goroutine reads and
// uncompresses the text and others parse blocks of it ahead; what they find is used only
// where an event begins, so that nothing depends on their number.
//
// # What becomes what
//
//	pid                      LocationGroup; of kind 2 if it executes kernels, 0 if it holds
//	                         nothing but the bookkeeping of PyTorch's profiler
//	                         An accelerator belongs to the process whose calls of the runtime
//	                         have the correlations of its kernels. Frames of Python under
//	                         pid 0, whose process PyTorch does not know, are of the process
//	                         that launches
//	pid, tid (a track)        Location; one more for each depth of overlap
//	X, B and E               Enter and Leave; name and cat are the Region, cat its Paradigm
//	b and e, S and F         the same, in one track for each cat of a process, since they
//	                         may overlap
//	i, I, R, P, n, T, p      Instant
//	samples[]                Instant
//	C                        Metric event; the series are the members of the metric
//	s, t, f                  messages (below), else Instants with the attribute flow_out,
//	                         flow_step or flow_in; flow_in and flow_out members of slices
//	                         become the same attributes of their Enter
//	M                        names of processes and threads; dftracer's tables and ranks
//	N, O, D, v, V, c, (, ), = counted as unknown_record
//	1, 2, 4                  X, C, M of dftracer since version 2.1.1; 3, sums of events that are
//	                         not there, are counted as unknown_record
//	ts, dur                  ns: the decimal text times 1000, rounded half away from zero; in
//	                         the unit that dftracer's CM record names
//	args                     read where they say something about communication, or about
//	                         the file of a call (dftracer); events with others are counted
//	                         as arguments_left_out
//	correlation in args      the attribute correlation of kernels and calls of the runtime
//	step, seq_id, mb_id,     the attributes step, seq, micro_batch and chunk of operations of training, if the first slice of a name
//	model_chunk in args      has the first and third; the names of its process and thread add dp_rank ("DP rank 1") and stage ("PP rank 3")
//	ret, size in args        the attribute bytes of calls of dftracer that read or write
//	other outer members      Info.Properties, if they are short
//
// A pid or tid that is text with an integer in it is that integer; any other text is a
// named track. An event without a tid has its pid, one without a pid has 0.
//
// # Nesting
//
// Slices of a track are sorted by time, the longest first, then by order in the file; B and E come before X at equal times and keep their
// order. A slice that outlasts the one around it by at most 1 µs ends with it. Of two that overlap by more the later goes to a location of
// its own, "… (overlap 1)". The earlier goes there if the later is at least twice as long, as an annotation is that begins within the call
// that opens it. Operations of NCCL's profiler never nest: of two at the same time the later goes to a location of its own. An E with a
// name leaves what was begun since; one that fits nothing is dropped. A slice without an end stays open; merging closes it at the end of
// its location. All this is counted.
//
// # Ranks, messages, collectives
//
// Files of PyTorch and dftracer are those of ranks. Before version 1.0.5, the first slice tells dftracer: its number, host and depth or
// file. The rank is that of distributedInfo, of dftracer's PR record, or the number behind "rank" or "worker" in the file's name. In other
// files processes are ranks if they communicate: the pid is the rank if all pids are small, else their order. All processes of a file of
// PyTorch or rocprof are one rank. Files of PyTorch of one rank that follow each other in time, as of a profiler that writes one for each
// step, are one recording: the n-th process or accelerator of a file is the n-th of the others, so that a job may be started again.
//
// The processes of a file of NCCL's profiler, which each process writes for itself, are those
// of one host, and so of one clock. Times of several files are those of one clock if all have
// an announced base or count from 1970; if not, that is a finding, and Options.Align can move
// all to a common start.
//
// Kernels of NCCL (RCCL, HCCL), and those of trace.PeerKernel, on the streams of accelerators are collectives, as are the
// host's operators of trace.PeerOperator: a CollectiveBegin follows the Enter and a CollectiveEnd precedes the Leave. Operation,
// sizes (elements times their size) and process group are those of PyTorch's arguments; in
// traces without arguments the kernel's name gives the operation. The group is the only
// one that the file has, or all ranks; of several none, but those of trace.PeerKernel and PeerOperator are of the
// tensor-parallel one, by the names of processes. The host's
// slice nccl:… that encloses its launch gives the sizes. The region gets the MPI
// function that does the same as its canonical name and MPI as its paradigm. Slices of
// NCCL's profiler become collectives and messages in the same way, on the communicator that
// is named first.
//
// What XLA notes on threads with device_ordinal and hlo_op is what a device "CPU N" executes; Rendezvous in it says what it
// communicates, and with which devices. These are ranks, if there is one file. step_num is a step of training.
//
// Some names tell a place in the source code: TAU's "main [{solve.c} {12,1}-{40,1}]" and the Python functions of PyTorch, VizTracer and
// XLA. They give the region its file and line. The address of the object of a built-in method, another one in each process, is left out.
//
// Messages in the convention that any writer may use are flow events inside the slices of
// the calls:
//
//	{"ph":"s","cat":"mpi.msg","name":"msg","id":17,"pid":0,"tid":0,"ts":…,
//	 "args":{"dst":1,"tag":7,"comm":0,"bytes":4096}}
//	{"ph":"f","bp":"e","cat":"mpi.msg",… ,"args":{"src":0,"tag":7,"comm":0,"bytes":4096}}
//
// src and dst are ranks in the communicator, whose number or name is comm (0 or left out:
// all ranks); with "req" the operation is non-blocking, and "posted_ts" of a receive is the
// time of its posting. Slices named as blocking MPI functions (cat mpi or a name MPI_…) may
// have the arguments themselves: dst or src, tag, comm, bytes; collective ones op or comm,
// root, bytes_in, bytes_out. TAU's messages are read too; their receives do not name the
// sender, which is found by the flow's identifier or as the first that fits.
//
// # tracekit's own dialect
//
// What Create writes is read as the same trace: the member "tracekit" before the events
// holds all definitions, pid and tid of each location, and the number of decimals. There
//
//	Enter, Leave      B and E (name only if it is not that of the B), args.ctx and unwind for
//	                  calling contexts, args.r if name and cat do not tell the region
//	MpiSend, Isend    s of cat mpi.msg; MpiRecv, Irecv f; args.req for the non-blocking ones
//	other P2P         i of cat mpi.req, name the record's, args.req
//	collectives       i of cat mpi.coll, name the record's, args.op (OTF2's number), comm,
//	                  root, sent, received, req
//	Metric            C; id is the metric, args its values in order
//	Instant           i
//	all other         i of cat tracekit, args.k the kind, args.a the arguments
//	attributes        args.attr: triples of number, type, value
//
// One event is one line; events of a location stand in recorded order. B and E are used rather than X: they keep that order, need no memory
// for open calls, and hold calls that were never left. The identifier of a flow is a hash of sender, receiver, communicator, tag and
// args.seq. The latter is the number of the message in its channel, which each end counts in the order of its records: both ends know it
// without each other.
package jsontrace
