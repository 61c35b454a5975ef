// Package profile makes the pass over all events: it charges time to call paths, ranks, threads and counters, and notes what
// each location does between its calls.
package profile
