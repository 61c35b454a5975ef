package profile

import (
	"context"
	"fmt"

	"tracekit/codec"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Workers make the profile of a trace in other processes, each of which has some locations.
type Workers interface {
	// Work sends the workers what the pass needs beyond the events (Pass.Code). It returns once
	// every location that is wanted has a result.
	Work(context.Context, *Pass) error

	// Left lets read have what was left for a location (Pass.CodeLeft). It is called for several
	// locations at the same time.
	Left(l trace.LocationID, read func(*codec.Coder)) error
}

// A Pass is the second pass over the events, from which the profile is made, by location. What it has to know beside the events, and what
// it leaves, belongs to one location each. All must know the call tree, the spans of all locations and the selection.
//
//	to know  the clock map; the sequence number of each call's Enter and, if it waits, how long;
//	         the pieces of the critical path on the location
//	left     sums by call path, region and counter; the useful time before each call; the
//	         segments; what the thread does; what stages beside have heard
type Pass struct {
	Trace *trace.Trace // in another process no more of it than the pass needs
	Options
	p     *Profiler
	parts []*Part // by location, after Run
}

// Options say which part of the run a pass goes over, and who goes with it.
type Options struct {
	scope.Selection
	Jobs      int        // locations that are decoded at a time; below 1: one per processor
	Observers []Observer // hear what the pass decodes
	Workers   Workers    // make the profile; nil: this process does
	Progress  *engine.Progress
}

// NewPass returns the pass over the events of a source of which Code is to read all else. Tables
// lie in the store.
func NewPass(src trace.Source, store *spill.Store) *Pass {
	d := src.Defs()
	return &Pass{Trace: &trace.Trace{Source: src, Defs: d, Store: store, World: d.World()}}
}

// Wants reports whether the pass goes over a location: it is selected and has events.
func (x *Pass) Wants(l trace.LocationID) bool {
	return x.p.covers(l)
}

// Window returns the corrected ticks that are selected.
func (x *Pass) Window() (from, to int64) { return x.p.Scope.From, x.p.Scope.To }

// Run makes the pass over some locations, ascending, all of which are wanted.
func (x *Pass) Run(ctx context.Context, locations []trace.LocationID) (err error) {
	o := engine.Options{Jobs: x.Jobs, Progress: x.Progress, Only: locations, Listeners: x.p.listeners(x.Observers)}
	x.parts, err = engine.Each(ctx, x.Trace.Source, o, func(ctx context.Context, l trace.LocationID, b engine.Batches) (*Part, error) {
		return x.p.Map(ctx, x.Trace.Defs, l, b)
	})
	if err != nil {
		return fmt.Errorf("profiling: %w", err)
	}
	return nil
}

// CodeLeft writes what Run has left for a location.
func (x *Pass) CodeLeft(c *codec.Coder, l trace.LocationID) { x.codeLeft(c, l, x.parts[l]) }

// gather has the pass made by the Workers and combines what they leave.
func (x *Pass) gather(ctx context.Context) (*Part, error) {
	if err := x.Workers.Work(ctx, x); err != nil {
		return nil, err
	}
	part, err := engine.Sum(ctx, x.Jobs, len(x.Trace.Span), func(_ context.Context, i int) (*Part, error) {
		part, l := new(Part), trace.LocationID(i)
		if !x.Wants(l) {
			return part, nil
		}
		return part, x.Workers.Left(l, func(c *codec.Coder) { x.codeLeft(c, l, part) })
	}, x.p.Combine)
	if err != nil {
		return nil, err
	}
	return part, x.hear(ctx)
}

// hear decodes the events for the stages beside that must hear them in this process, if there are
// some.
func (x *Pass) hear(ctx context.Context) error {
	o := engine.Options{Jobs: x.Jobs, Progress: x.Progress}
	for _, b := range x.Observers {
		if _, shared := b.(Shared); !shared {
			o.Listeners = append(o.Listeners, Hearing(b, x.p.CallWaits))
		}
	}
	if len(o.Listeners) == 0 {
		return nil
	}
	_, err := engine.Each(ctx, x.Trace.Source, o, func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
		if !x.Wants(l) {
			return struct{}{}, nil
		}
		for _, err := range batches {
			if err != nil {
				return struct{}{}, fmt.Errorf("reading location %d: %w", l, err)
			}
		}
		return struct{}{}, nil
	})
	return err
}

// shared returns the stages beside that other processes may have.
func (x *Pass) shared() (out []Shared) {
	for _, b := range x.Observers {
		if s, ok := b.(Shared); ok {
			out = append(out, s)
		}
	}
	return out
}

// listeners returns those of all observers.
func (p *Profiler) listeners(observers []Observer) []engine.Listener {
	var out []engine.Listener
	for _, b := range observers {
		out = append(out, Hearing(b, p.CallWaits))
	}
	return out
}

// An Observer is a stage that hears what an analysis decodes.
type Observer interface {
	// Listen is an engine.Listener of an analysis that has found where calls wait.
	Listen(waits.ByCall, trace.LocationID) (hear func(*trace.Batch), end func())

	// Finish is called when all is decoded, or read; it returns findings that the analysis is to list.
	// An error means that ctx was cancelled, or that a table could not be kept.
	Finish(context.Context) ([]trace.Finding, error)
}

// Shared is a stage that hears the locations in other processes, if Workers make the profile. For
// stages that are not shared, this process decodes them once more.
type Shared interface {
	Observer

	// Code writes what was heard of a location, all of which was decoded, or reads what another
	// process has heard of it. It is called for several locations at the same time.
	Code(*codec.Coder, trace.LocationID)
}

// Hearing returns what tells a stage where calls wait and what is decoded.
func Hearing(o Observer, waits waits.ByCall) engine.Listener {
	return func(l trace.LocationID) (func(*trace.Batch), func()) { return o.Listen(waits, l) }
}
