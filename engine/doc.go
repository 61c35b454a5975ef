// Package engine runs a stage over all locations: in this process, or on a distributed
// engine.
//
// A stage maps each location's stream of events to a partial result and combines partial
// results. Which goroutine maps which location when is the engine's business: results
// are combined in order of locations, so that the same trace gives the same result for
// any number of workers. All goroutines of the analyses are here.
package engine
