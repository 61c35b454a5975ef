package analysis

import (
	"tracekit/engine"
	"tracekit/stats/delays"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
)

// Options says what Analyze does. The zero value analyses the whole trace.
type Options struct {
	// Jobs is the number of locations that are decoded at a time; below 1 is one per
	// processor. It does not change the result.
	Jobs int

	// Ranks selects world ranks, in any order; empty means all. Locations outside MPI
	// are left out as soon as ranks are selected.
	Ranks []uint32

	// From and To select a part of the run. The zero value of both is the whole run.
	From, To scope.Instant

	// Steps are those of a training job; nil: the trace is of none.
	Steps *delays.Steps

	// Top bounds the longest waits that are listed for each wait state; 0 means
	// DefaultTop.
	Top int

	// Overhead asks for the overhead of MPI calls and says how it is found; nil leaves it
	// out.
	Overhead *overhead.Options

	// Observers are stages that need the events of all locations too: they hear what the
	// profile decodes.
	Observers []profile.Observer

	// Workers make the profile; nil: this process does. The analysis is the same.
	Workers profile.Workers

	// Progress counts the events that the decoding pass reads; it may be nil.
	Progress *engine.Progress
}

func (o Options) selection() scope.Selection {
	return scope.Selection{Ranks: o.Ranks, From: o.From, To: o.To}
}

// DefaultTop is the number of instances listed for each wait state.
const DefaultTop = 10
