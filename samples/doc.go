// Package samples holds small real traces, and generators of traces whose analysis is
// known, of any size.
//
// Generate runs a program model on a small discrete simulator: every rank performs operations that cost integer numbers of ticks. Messages
// and collectives take the time of a simple network. Recorded are the events that a measurement of such a program would record. A tick is a
// nanosecond. While it runs, the simulator knows which message went where and who waited for whom, so it returns the Truth: exact totals
// that an analysis of the trace must find.
//
// Random makes small random programs of all kinds of calls, for comparing an analysis
// with the oracle of package oracle.
package samples
