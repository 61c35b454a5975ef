package devices

import (
	"cmp"
	"context"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/document/counter"
	"tracekit/engine"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Options says what a Finder does.
type Options struct {
	Jobs     int      // ranks analyzed at the same time; below 1: one per processor
	Ranks    []uint32 // selected; empty: all
	From, To int64    // corrected ticks; what a device executes is clipped to them
}

// A Result is what a Finder finds.
type Result struct {
	Devices  []accelerator.Device // by rank, then in order of their location groups
	Path     *accelerator.Path    // nil: there are no devices
	Counters []counter.Series     // by location, then in order of their definitions
	Findings []trace.Finding
}

// A Finder finds what devices do from the events that others decode. It is a stats.Shared.
type Finder struct {
	Result
	c        *collector
	readings []*reading // by location; nil: not heard of
	parts    []*part    // by location: of those that were coded
}

// NewFinder returns a finder of what devices do in a trace. It hears nothing of one that has
// neither accelerators nor counters that are sampled beside the program.
func NewFinder(t *trace.Trace, opts Options) *Finder {
	f, kinds := &Finder{}, kindsOf(t)
	if slices.Contains(kinds, stream) || slices.Contains(kinds, sampler) {
		f.c, f.readings = newCollector(t, kinds, opts), make([]*reading, len(kinds))
		f.parts = make([]*part, len(kinds))
	}
	return f
}

// Listen implements profile.Observer.
func (f *Finder) Listen(_ waits.ByCall, l trace.LocationID) (hear func(*trace.Batch), end func()) {
	if f.c == nil || !f.c.wants(l) {
		return nil, nil
	}
	f.readings[l] = newReading(f.c, &part{location: l})
	return f.readings[l].batch, nil
}

// Finish implements profile.Observer: it finds the Result. Tables lie in the trace's Store and are
// given back.
func (f *Finder) Finish(ctx context.Context) ([]trace.Finding, error) {
	if f.c == nil {
		return nil, nil
	}
	c, t, opts := f.c, f.c.t, f.c.opts
	parts, err := engine.Map(ctx, opts.Jobs, len(f.readings), func(_ context.Context, l int) (*part, error) {
		if f.parts[l] != nil {
			return f.parts[l], nil
		}
		return f.readings[l].end(trace.LocationID(l)), nil
	})
	if err != nil {
		return nil, err
	}
	f.readings, f.parts = nil, nil
	var ledger trace.Ledger
	for _, p := range parts {
		ledger.Merge(p.ledger.Findings())
		f.Counters = append(f.Counters, p.counters...)
	}
	hosts := hostsOf(t, c.kinds, parts)
	last, err := lastArrivals(ctx, t, c.kinds, opts.Jobs)
	if err != nil {
		return nil, err
	}
	defer last.release()
	found, err := engine.Map(ctx, opts.Jobs, len(hosts), func(_ context.Context, i int) (hostResult, error) {
		return hosts[i].analyze(c, last), nil
	})
	if err != nil {
		return nil, err
	}
	for _, h := range found {
		f.Devices = append(f.Devices, h.devices...)
		ledger.Merge(h.findings)
	}
	if len(f.Devices) > 0 {
		f.Path = newPath(c, hosts, last).walk(ctx)
		some, one := turns(c, hosts)
		f.Path.SomeWorkNs, f.Path.OneWorksNs = c.ns(some), c.ns(one)
	}
	for _, p := range parts {
		p.release()
	}
	f.Findings = ledger.Findings()
	return f.Findings, t.Store.Err()
}

// A kind says what a location is here.
type kind uint8

const (
	aside   kind = iota // of no interest
	thread              // of a host, which may launch
	stream              // of an accelerator
	sampler             // takes counters beside the program
)

// kindsOf returns the kinds of all locations. Where nothing is ever entered, all there may be is
// counters.
func kindsOf(t *trace.Trace) []kind {
	out, aside := make([]kind, len(t.Defs.Locations)), scope.Aside(t)
	for l, loc := range t.Defs.Locations {
		switch {
		case l >= len(t.Span) || t.Span[l].Events == 0 || aside[l]:
		case loc.Kind == trace.LocationGPU:
			out[l] = stream
		case loc.Kind == trace.LocationMetric || len(t.Tree.Nodes) == 0:
			out[l] = sampler
		default:
			out[l] = thread
		}
	}
	return out
}

// A host is the locations of one rank, or, outside MPI and where devices are ranks, of one process.
type host struct {
	rank    uint32
	process trace.LocationGroupID
	threads []*part
	devices []*device

	launchers map[trace.RegionID]bool // calls that launch something
}

// A device is the streams of one location group.
type device struct {
	group   trace.LocationGroupID
	streams []*part
}

// hostsOf puts locations together: hosts by rank, those without one behind the others; devices
// in order of their location groups. Only hosts with devices are returned.
func hostsOf(t *trace.Trace, kinds []kind, parts []*part) []*host {
	type key struct {
		rank  uint32
		group trace.LocationGroupID
	}
	byKey, byGroup := make(map[key]*host), make(map[trace.LocationGroupID]*device)
	ranks := make(map[trace.LocationGroupID]uint32) // of processes: ranks may be threads of theirs, or streams
	// Devices of a process may be ranks.
	streams, several := make(map[trace.LocationGroupID]uint32), make(map[trace.LocationGroupID]bool)
	for l, r := range t.Rank {
		g := t.Defs.Process(trace.LocationID(l))
		if _, ok := ranks[g]; !ok && r != trace.None {
			ranks[g] = r
		}
		if kinds[l] == stream && r != trace.None {
			if first, ok := streams[g]; ok && first != r {
				several[g] = true
			}
			streams[g] = r
		}
	}
	for l, p := range parts {
		if p.kernels == nil && p.launches == nil {
			continue
		}
		k := key{rank: t.Rank[l], group: trace.None}
		if process := t.Defs.Process(trace.LocationID(l)); several[process] && (kinds[l] == stream || k.rank == trace.None) {
			k = key{trace.None, process}
		} else if k.rank == trace.None {
			if r, ok := ranks[process]; ok {
				k.rank = r
			} else {
				k.group = process
			}
		}
		h := byKey[k]
		if h == nil {
			h = &host{rank: k.rank, process: k.group, launchers: make(map[trace.RegionID]bool)}
			byKey[k] = h
		}
		if kinds[l] == thread {
			h.threads = append(h.threads, p)
			continue
		}
		group := t.Defs.Locations[l].Group
		d := byGroup[group]
		if d == nil {
			d = &device{group: group}
			byGroup[group] = d
			h.devices = append(h.devices, d)
		}
		d.streams = append(d.streams, p)
	}
	var out []*host
	for _, h := range byKey {
		if len(h.devices) > 0 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b *host) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.process, b.process))
	})
	for _, h := range out {
		slices.SortFunc(h.devices, func(a, b *device) int { return cmp.Compare(a.group, b.group) })
	}
	return out
}
