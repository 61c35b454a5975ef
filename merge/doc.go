// Package merge reconciles per-location streams into one consistent trace: clocks,
// messages, collectives, the ledger of what did not fit.
//
// Merge goes through these steps:
//
//  1. scan: one decoding pass over each location follows the call stack and writes down
//     calls, sends, receives and parts in collectives; other processes may do it (Scans);
//  2. settle: the locations' call trees become one;
//  3. match: sends and receives of a channel (communicator, sender, receiver, tag) are
//     paired in the order in which MPI matches them, that of posting;
//  4. collect: the ranks' parts in collectives are joined by their ordinal on the
//     communicator;
//  5. clock: violations are counted for raw and for offset-corrected times, the better
//     is chosen, and the controlled logical clock repairs what is left;
//  6. apply: all rows get the times of the clock maps, the very same that a later
//     decoding pass applies to events.
//
// Terms are those of package trace.
package merge
