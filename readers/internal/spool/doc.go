// Package spool sorts the events of a file whose locations are interleaved into
// locations, within a fixed amount of memory: events go in one by one for any location,
// in any order; after Finish they come out as batches, location by location, in order of
// time, as often as wanted and for several locations at once.
//
// # Contract
//
//   - Events of a location come out in order of (time, tie, order of adding), with
//     sequence numbers from 0. Tie is a number of the caller's choice, 0 unless Stream.Tie
//     is set; it decides what comes first at equal times.
//   - A location whose events were added in that order costs no sorting. Otherwise each
//     portion of it that fits into memory is sorted before it is written, and the portions
//     are merged while reading (external merge sort).
//   - Events over the budget lie in one temporary file, which has no name from the moment
//     it is made and so vanishes however the program ends. What fits stays in memory.
//   - The kinds are not interpreted but for their table (trace.Kind.Table), so a reader
//     may store records of its own as kinds that belong to trace.TableOther.
//   - Adding and Finish are for one goroutine; Events may be called by several, after
//     Finish and before Close.
package spool
