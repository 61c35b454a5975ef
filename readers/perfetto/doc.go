// Package perfetto reads one of the formats of package readers: Perfetto's traces in their own
// form, a protocol buffer, as rocprof-sys and rocprofv3, Perfetto's SDK and Chrome write them; plain,
// with packets that are compressed, or as a compressed file.
//
// A trace is a sequence of packets, read in one pass in memory that does not grow with the file.
// Numbers of fields and rules are those of Perfetto's public definitions (protos/perfetto/trace) and
// of the documents beside them. Read is what programs mark:
//
//	TrackDescriptor of a process, a thread
//	                    process, thread; so do descriptors that are packets of their own, as they were before
//	… of another name   location of what may overlap ("requests"), one for all siblings of a name;
//	                    a stream of an accelerator, if it is called as rocprof calls them, or executes kernels
//	… of a counter      counter, at the thread that it belongs to, else beside those of its process
//	begin, end          Enter and Leave. An end ends what was begun last on its track, by time
//	complete (Chrome)   slice
//	asynchronous ones   the same, in one location for each category of a process
//	instant             Instant
//	counter             Metric event; incremental ones are summed up
//	flow                attributes flow_out (the first in time), flow_step, flow_in
//	flow, or corr_id    the attribute correlation of calls of a runtime and of what they launch
//	argument bytes, size of a copy
//	                    the attribute bytes
//	other arguments     left out, and counted as arguments_left_out
//	packets of the system, such as ftrace
//	                    left out, and counted as unknown_record
//
// # State
//
// Names are interned for each sequence of packets, until the sequence clears its state. Names are lost if packets before were dropped or
// the file begins behind them. Packets that need such names are left out and counted as unused_record.
//
// # Clocks
//
// Times are nanoseconds of the clock of the trace: BOOTTIME, or, if no snapshot has it, another one. Times of other
// clocks are converted by the nearest snapshot before them that has both, in the order of the file;
// those that none converts are left out. The snapshot that has REALTIME puts several files on one axis.
//
// # Damage
//
// A packet that cannot be decoded is passed over, up to the next place from which packets can.
package perfetto
