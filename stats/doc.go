// Package stats summarizes a trace: profiles, communication, wait states and what causes
// them, the critical path, efficiencies. The folders below hold one idea each; stats/studies
// holds the experiments of papers.
//
// Analyze makes of a reconciled trace.Trace an Analysis, which is at the same time the
// document of `tracekit analyze --json`. Nothing in it is formatted: times are integer
// nanoseconds, ratios are fractions of one, lists are sorted by weight. What could not be
// computed is absent; what is not defined (a ratio over nothing, a line that is not
// recorded) is null.
//
// The definitions are those of DEFINITIONS.md: wait states 2.1 and 2.2, delays
// 2.3, critical path 2.4, efficiencies 2.6, and docs/internals/DECISIONS.md. All sums are exact integers in
// ticks of the trace's clock until the last step, so that they agree with each other:
// wait + transfer + completion is the time in the call, the critical path's regions sum to
// the run time, and the matrix sums to the messages.
//
// For the words that are used here (location, rank, region, call path, call site …) see
// package trace.
package stats
