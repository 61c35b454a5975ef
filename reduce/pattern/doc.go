// Package pattern finds the intervals of a run that repeat others, so that they can be left out of the trace. It also makes them again
// (docs/DEFINITIONS.md 1.3, repeating patterns).
//
// Find goes through these steps:
//
//  1. candidates: one pass finds, for every call site at once, how many events lie in
//     intervals between two arrivals that are like earlier ones;
//  2. divide: the best site cuts each rank into intervals. The k-th intervals of all ranks are
//     one instance; patterns are those of all ranks together;
//  3. boundaries: from the messages and collectives of the reconciled trace, between which
//     instances the run may be cut such that no message loses an end;
//  4. cut: the instances that repeat those that are kept, as far as 3 allows. If that is much
//     less than the site promised, the next site is tried.
//
// What is cut is described by Repeats, which travels with the reduced trace as text in a
// property. Regenerate makes the cut intervals again.
//
// A record is compared by all that it says but its time: kind, region, communicator, partner,
// tag, size, and which of the interval's requests it is about. Hashes of 64 bits stand for
// what is compared: of two intervals of a run, one in 2^64 pairs is taken for alike wrongly.
package pattern
