// Package trace is the model that all else shares: definitions, batches, sources, the
// reconciled trace, findings and syntax errors. It imports only the store of tables, and
// knows no file format.
//
// # Terminology
//
// The words are those of OTF2, MPI and Scalasca.
//
//   - A Location is one stream of events in recorded order: a thread of a process,
//     a stream of an accelerator. A LocationGroup is a process or an accelerator.
//   - A rank is the index of a process in MPI_COMM_WORLD unless it is said to be
//     the rank in a communicator.
//   - An event is identified by its location and its sequence number, which counts
//     the location's events from 0 in recorded order. Times tie and are corrected;
//     sequence numbers are not.
//   - A Region is a piece of source code that is entered and left. A call path is
//     the list of the regions that are entered and not left, outermost first. A call
//     site is the source line of a call.
//   - A visit is one stay in a region, from entering to leaving it. The visits that are not
//     left are the location's CallStack.
//   - A Message is a send and the receive that took it. A Collective is one instance
//     of a collective operation on a communicator.
//   - A channel is what messages go through in order: communicator, sender, receiver, tag.
//   - A time is an integer number of ticks of the trace's clock. The raw time is the
//     recorded one; the corrected time is what clock correction makes of it.
//   - A page is rows of a table that lie beside each other; a frame is room for a page.
//   - A lane is the line of one rank in the space-time diagram. (A pid and tid of a JSON
//     trace is a track.)
//   - A Finding is something about the trace that its user should know: bad data are
//     findings; an error means that the work could not go on.
package trace
