// Package spans reads one of the formats of package readers: tables of spans, as files of Parquet, of Arrow IPC, or of CSV (plain,
// gzip or zstd), one row for each span. Several files are one trace.
//
// What a column means is told by its name (see synonyms) or by the caller. A row needs a start, an end or a duration, and a name.
//
//	rank                 the process; without it, each pair of dp rank and stage is one; else the file is
//	device               the device of the process; stream its stream
//	thread, or stream without device
//	                     the thread of the process
//	neither              operations of a step, by their names: each kind of message has a thread of its own, collectives have
//	                     one, computations another; all other spans are on one thread
//	step, dp_rank, stage, micro_batch, chunk, model_chunk, seq
//	                     attributes of these names; values below 0 are none
//	group                the attribute group, a text
//	bytes                the attribute bytes
//	peer                 the partner, as a rank, of a span whose name says that it sends or receives: a message
//	category             the description of the region
//	job                  rows of other jobs than that of Options are passed over; without one there must be a single job
//	other columns        are left out; the property TABLE::LEFT_OUT names them
//
// Names of operations of a training step are known in any case and with any separators; those of tables with steps become the usual ones.
//
// # Times
//
// Times are numbers in a unit that the name of the column says (start_ns, "Duration (us)"), or its type, or the caller; else
// numbers with fractions are seconds, others nanoseconds. They are rounded to nanoseconds.
//
// If half of the steps start together with the first, within half the median length, times count from the begin of their step. Then the
// steps are placed one behind the other, in the order of their numbers.
//
// Times of CSV may be dates with a time ("2026-03-01 10:00:00.5"), and durations those of pandas ("0 days 00:00:00.5").
//
// # Damage
//
// A row that lacks what it needs is left out, and counted as bad_value; the finding names file and row, which count from 1. A part
// of a file that cannot be decoded is left out, and counted as corrupt or truncated.
package spans
