// Package phases finds the iterations of a program: what its ranks do again and again, at equal
// distances (DEFINITIONS 2.15).
//
//	phases.go    the phases of all ranks
//	marker.go    what one rank repeats: a call site, or a sequence of operations
//	outliers.go  which of them take unusually long
package phases

import (
	"context"
	"maps"

	"tracekit/engine"
	"tracekit/trace"
)

// Phases are the intervals between the visits of a call path, or of some of them.
//
//	all ranks have equally many Visits
type Phases struct {
	Path   trace.PathID                  // of the call that begins a phase
	Stride int                           // visits of it in a phase, in the mean
	Visits map[trace.LocationID][]uint32 // of each rank that is in the trace until it ends: its rows in Trace.Calls, ascending
	visits int
}

// Count returns the number of phases.
func (p *Phases) Count() int { return p.visits - 1 }

// Find returns the phases of a run, nil if it has none: nothing that all ranks do equally often cuts
// the run into intervals that are alike.
func Find(ctx context.Context, t *trace.Trace, jobs int) (*Phases, error) {
	var masters []trace.LocationID
	missing, early := t.Missing(), t.EndEarly()
	for r, l := range t.World {
		if !missing[r] && !early[r] && int(l) < len(t.Calls) {
			masters = append(masters, l)
		}
	}
	if len(masters) == 0 {
		return nil, nil
	}
	common, err := engine.Sum(ctx, jobs, len(masters), func(_ context.Context, i int) (map[trace.PathID]int, error) {
		return countsOf(t, masters[i]), nil
	}, agreed)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(common, func(_ trace.PathID, n int) bool { return n < leastVisits })
	if len(common) == 0 {
		return nil, nil
	}
	m, err := search(ctx, t, masters[0], common, jobs)
	if err != nil || m == nil {
		return nil, err
	}
	ordinals := m.ordinals(t, masters[0])
	visits, err := engine.Map(ctx, jobs, len(masters), func(_ context.Context, i int) ([]uint32, error) {
		return visitsOf(t, masters[i], m.path, ordinals), nil
	})
	if err != nil {
		return nil, err
	}
	n := len(ordinals)
	p := &Phases{Path: m.path, Stride: (ordinals[n-1] - ordinals[0] + (n-1)/2) / (n - 1), Visits: make(map[trace.LocationID][]uint32),
		visits: n}
	for i, l := range masters {
		p.Visits[l] = visits[i]
	}
	return p, nil
}

// countsOf returns how often a location visits each path.
func countsOf(t *trace.Trace, l trace.LocationID) map[trace.PathID]int {
	byPath := make([]int, len(t.Tree.Nodes))
	for _, rows := range t.Calls[l].Rows {
		for i := range rows {
			if path := rows[i].Path; int(path) < len(byPath) {
				byPath[path]++
			}
		}
	}
	counts := make(map[trace.PathID]int)
	for path, n := range byPath {
		if n > 0 {
			counts[trace.PathID(path)] = n
		}
	}
	return counts
}

// agreed leaves the paths that are visited equally often in both.
func agreed(a, b map[trace.PathID]int) map[trace.PathID]int {
	maps.DeleteFunc(a, func(path trace.PathID, n int) bool { return b[path] != n })
	return a
}

// visitsOf returns the rows of some of the visits that a location pays a path, given by their
// numbers.
func visitsOf(t *trace.Trace, l trace.LocationID, path trace.PathID, ordinals []int) (visits []uint32) {
	n := 0
	for first, rows := range t.Calls[l].Rows {
		for i := range rows {
			if rows[i].Path != path {
				continue
			}
			if len(visits) < len(ordinals) && ordinals[len(visits)] == n {
				visits = append(visits, uint32(first+i))
			}
			n++
		}
	}
	return visits
}
