package devices

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/stats"
	"tracekit/trace"
)

// Options says what Find does.
type Options struct {
	Jobs     int              // locations decoded, and ranks analysed, at the same time; below 1: one per processor
	Progress *engine.Progress // counts decoded events; may be nil
	Ranks    []uint32         // selected; empty: all
	From, To int64            // corrected ticks; what a device executes is clipped to them
}

// A Result is what Find finds.
type Result struct {
	Devices  []stats.Device        // by rank, then in order of their location groups
	Path     *stats.DevicePath     // nil: there are no devices
	Counters []stats.CounterSeries // by location, then in order of their definitions
	Findings []trace.Finding
}

// Find decodes a trace that has accelerators or counters that are sampled beside the program;
// of others the result is empty. Its tables lie in the trace's Store and are given back. An
// error means that the trace could not be read again or that ctx was cancelled.
func Find(ctx context.Context, t *trace.Trace, opts Options) (*Result, error) {
	kinds := kindsOf(t)
	out := &Result{}
	if !slices.Contains(kinds, stream) && !slices.Contains(kinds, sampler) {
		return out, nil
	}
	c := newCollector(t, kinds, opts)
	parts, err := engine.Each(ctx, t.Source, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress}, c.collect)
	if err != nil {
		return nil, fmt.Errorf("reading what devices do: %w", err)
	}
	var ledger trace.Ledger
	for _, p := range parts {
		ledger.Merge(p.ledger.Findings())
		out.Counters = append(out.Counters, p.counters...)
	}
	hosts := hostsOf(t, kinds, parts)
	last, err := lastArrivals(ctx, t, kinds, opts.Jobs)
	if err != nil {
		return nil, err
	}
	defer last.release()
	found, err := engine.Map(ctx, opts.Jobs, len(hosts), func(_ context.Context, i int) (hostResult, error) {
		return hosts[i].analyse(c, last), nil
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		out.Devices = append(out.Devices, f.devices...)
		ledger.Merge(f.findings)
	}
	if len(out.Devices) > 0 {
		out.Path = newPath(c, hosts, last).walk(ctx)
	}
	for _, p := range parts {
		p.release()
	}
	out.Findings = ledger.Findings()
	return out, t.Store.Err()
}

// A kind says what a location is here.
type kind uint8

const (
	aside   kind = iota // of no interest
	thread              // of a host, which may launch
	stream              // of an accelerator
	sampler             // takes counters beside the program
)

// kindsOf returns the kinds of all locations.
func kindsOf(t *trace.Trace) []kind {
	out, aside := make([]kind, len(t.Defs.Locations)), stats.Aside(t)
	for l, loc := range t.Defs.Locations {
		switch {
		case l >= len(t.Span) || t.Span[l].Events == 0 || aside[l]:
		case loc.Kind == trace.LocationGPU:
			out[l] = stream
		case loc.Kind == trace.LocationMetric:
			out[l] = sampler
		default:
			out[l] = thread
		}
	}
	return out
}

// A host is the locations of one rank, or, outside MPI, of one process.
type host struct {
	rank    uint32
	process trace.LocationGroupID
	threads []*part
	devices []*device
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
	for l, r := range t.Rank {
		g := t.Defs.Process(trace.LocationID(l))
		if _, ok := ranks[g]; !ok && r != trace.None {
			ranks[g] = r
		}
	}
	for l, p := range parts {
		if p.kernels == nil && p.launches == nil {
			continue
		}
		k := key{rank: t.Rank[l], group: trace.None}
		if process := t.Defs.Process(trace.LocationID(l)); k.rank == trace.None {
			if r, ok := ranks[process]; ok {
				k.rank = r
			} else {
				k.group = process
			}
		}
		h := byKey[k]
		if h == nil {
			h = &host{rank: k.rank, process: k.group}
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
