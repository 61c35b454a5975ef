package stats

import (
	"context"

	"tracekit/engine"
	"tracekit/partial"
	"tracekit/trace"
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
	From, To Instant

	// Top bounds the longest waits that are listed for each wait state; 0 means
	// DefaultTop.
	Top int

	// Overhead asks for the overhead of MPI calls and says how it is found; nil leaves it
	// out.
	Overhead *OverheadOptions

	// Beside are stages that need the events of all locations too: they hear what the
	// profile decodes.
	Beside []Beside

	// Workers make the profile; nil: this process does. The analysis is the same.
	Workers Workers

	// Progress counts the events that the decoding pass reads; it may be nil.
	Progress *engine.Progress
}

func (o Options) selection() Selection { return Selection{Ranks: o.Ranks, From: o.From, To: o.To} }

// Beside is a stage that hears what an analysis decodes.
type Beside interface {
	// Listen is an engine.Listener of an analysis that has found where calls wait.
	Listen(CallWaits, trace.LocationID) (hear func(*trace.Batch), end func())

	// Finish is called when all is decoded, or read; it returns findings that the analysis is to list.
	// An error means that ctx was cancelled, or that a table could not be kept.
	Finish(context.Context) ([]trace.Finding, error)
}

// Shared is a stage that hears the locations in other processes, if Workers make the profile. For
// stages that are not shared, this process decodes them once more.
type Shared interface {
	Beside

	// Code writes what was heard of a location, all of which was decoded, or reads what another
	// process has heard of it. It is called for several locations at the same time.
	Code(*partial.Coder, trace.LocationID)
}

// Hearing returns what tells a stage where calls wait and what is decoded.
func Hearing(b Beside, waits CallWaits) engine.Listener {
	return func(l trace.LocationID) (func(*trace.Batch), func()) { return b.Listen(waits, l) }
}

// DefaultTop is the number of instances listed for each wait state.
const DefaultTop = 10

// An Instant is a point of the run: Ns nanoseconds after the first event of the trace or,
// if Kind is Fraction, Share of the run time.
type Instant struct {
	Kind  InstantKind
	Ns    int64
	Share float64 // 0 to 1
}

// An InstantKind says how an Instant is given.
type InstantKind uint8

// The kinds of instant.
const (
	Unset    InstantKind = iota // the start for From, the end for To
	AfterNs                     // Ns after the first event
	Fraction                    // Share of the run time
)
