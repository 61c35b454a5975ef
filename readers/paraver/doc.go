// Package paraver reads and writes traces of Paraver: a .prv file (plain or gzip) with
// the .pcf (labels) and the .row (names) beside it.
//
// # The format
//
// A .prv file is text. The first line is the header: date, end of the trace and unit of
// time, CPUs by node, and the applications with their tasks (processes) and threads; see
// parseHeader. The lines c: and i: name communicators. Then there is a line for each record,
// whose fields are decimal numbers between colons, and whose objects count from 1:
//
//	1:cpu:appl:task:thread:begin:end:state                      what a thread did for a while
//	2:cpu:appl:task:thread:time:type:value[:type:value]…        what happened at a moment
//	3:cpuS:applS:taskS:threadS:logS:phyS:cpuR:applR:taskR:threadR:logR:phyR:size:tag
//	                                                            a message, sender and receiver
//	4:cpu:appl:task:thread:time:comm:sent:received:op:flag      a collective, before 2005
//	#…                                                          metadata, passed over
//
// All meaning is in the events' types and values, which are numbers that the .pcf file names.
// There are no enters and leaves: a value of a type begins something, and the value 0 ends it.
// There are no requests and no message events either, only the finished pairs of lines 3.
//
// State and event lines come in order of time in most traces. Communication lines do not: they
// stand where the send ended and tell when it began.
//
// # The way of a line
//
//	text.go       cutter: the text, in blocks of whole lines
//	ahead.go      workers decode blocks before their turn, into sheets of the block
//	decoder.go    a line's numbers (scan.go, lines.go) and what they mean (events.go)
//	reading.go    takes the blocks in order, and decodes what no worker could
//	thread.go     what the lines say about one thread: three streams of the spool
//	assemble.go   the streams of a thread become its events (messages.go, requests.go)
//
// The reading alone adds definitions (define.go), so their order is that of the lines. A worker
// stops at the first line of a block that would define something; after the begin of a trace
// that is rare. What a line means can also depend on lines before the block, in two ways that
// thread.fits checks; then the reading decodes the block again.
//
// # Reading
//
// The file is read once, into a spool that sorts and bounds memory; events are assembled
// from the spool's records location by location. What becomes what:
//
//   - Every thread appl.task.thread is a location, every task a location group. The world
//     rank is the number of the task, counted over all applications. The communicators
//     are those of the c: and i: lines, and MPI_COMM_WORLD of each application; labels of
//     the values of 50100004, if there are any, are their names.
//   - The header's unit is the clock's: _ns, _us, _ms; microseconds without one.
//   - Events 50000001…50000005 are Enter and Leave of MPI functions. Event types of user
//     functions and of OpenMP and pthread constructs likewise; types of accelerators if
//     the .pcf has labels for their values. Caller lines (70000001…, 80000001…) make the
//     enter a CallingContextEnter, whose site is the innermost level that is resolved.
//   - 50100001…50100004 on the line of a collective's enter make CollectiveBegin and
//     CollectiveEnd. The root is a flag on one task; all members are given its rank, found
//     by the ordinal of the collective among those with a root on the communicator.
//   - A communication line is two endpoints, and each goes into a call of its thread. The
//     send belongs to the call entered at logS, the receive is posted in the call entered
//     (Extrae: left) at logR and completed by that call if it blocks, else by the first
//     MPI_Wait… or MPI_Test… that ends at phyR or later. Times in the tables are logS, and phyR but
//     not before the completing call. Endpoints whose call is not in the trace stand alone.
//     Messages have no communicator here: they get that of the application's world, or
//     one of all tasks if the applications differ.
//   - The completion of a non-blocking send or collective is not in the format. A Wait or
//     Test that completes no receive completes the oldest request, MPI_Waitall,
//     MPI_Waitsome, MPI_Testall, MPI_Testsome and MPI_Finalize all of them.
//   - Other types whose value 0 is named End or Outside… in the .pcf tell intervals of the user's
//     (tasks, phases): Enter and Leave too. Types that cross others have locations of their
//     own beside the threads; see layers.go.
//   - 42…, 44… and 46000000 and up (hardware counters) are metrics, increments up to the
//     event. Of other types, values with a label in the .pcf are instants, all others
//     metrics that hold at their moment. Flushing (40000003) is BufferFlush, tracing
//     (40000012) MeasurementOnOff, the application (40000001) ProgramBegin and ProgramEnd.
//   - States are the regions of threads that have no calls, so that traces of states
//     alone have a profile and a picture. For other threads they are redundant; but where a
//     task has several threads, a counter tells of each when it runs (trace.RunningCounter):
//     in the state Running or, if there is a type of the user's called Task, in tasks.
//   - Lines of type 4 (collectives in traces from before 2005) give a collective's
//     communicator and sizes if its events do not.
//
// Every line that makes no event is counted in a finding: those that cannot be read, those that
// tell more about a call that is not there, states that repeat what calls say. An unterminated
// last line is not believed.
//
// # Writing
//
// A Writer makes traces as Extrae does, for Paraver and its tools. Event types of its own, which the .pcf file announces, hold what these
// have no place for. Reading such a trace gives the events that were written; so archives of other formats survive the way through this one
// but for what Writer.Lost counts. See Create.
//
//	writer.go        the three files, and their order on the way out
//	threadwriter.go  the events of a location become lines (sink.go)
//	pairing.go       sends and receives become communication lines
//	values.go        numbers of what events refer to; labels.go writes their names
//	write.go         the text
package paraver
