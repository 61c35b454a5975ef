// Package measurement is the one model of what measuring costs a run (DEFINITIONS 1.6): costs of events, messages, samples, headers and
// buffers, what they add to the calls of a trace, and by how much a run is longer at least.
//
// A Load is what a replay adds to a run, or removes from it, so that costs pass through all waits.
package measurement
