// Package measurement is the one model of what measuring costs a run (DEFINITIONS 1.6). It has the costs of events, messages, samples,
// headers and buffers, and what these add to the calls of a trace.
//
// A Load is what a replay adds to a run, or removes from it, so that costs pass through all waits.
package measurement
