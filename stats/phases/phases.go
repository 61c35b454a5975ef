// Package phases finds the iterations of a program: what its ranks do again and again, at equal
// distances (DEFINITIONS 2.15).
//
//	phases.go    the phases of all ranks
//	marker.go    what one rank repeats: a call site, or a sequence of operations
//	outliers.go  which of them take unusually long
package phases

import (
	"context"
	"iter"
	"maps"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Phases are the intervals between the visits of a call path, or of some of them: as many on all ranks.
type Phases struct {
	Path     trace.PathID       // of the call that begins a phase
	Stride   int                // visits of it in a phase, in the mean
	Ranks    []trace.LocationID // that are in the trace until it ends
	ordinals []int              // numbers of these visits
}

// Count returns the number of phases.
func (p *Phases) Count() int { return len(p.ordinals) - 1 }

// Begins iterates over the calls of a rank that begin a phase, with their rows. The last of them ends one.
func (p *Phases) Begins(calls *spill.Table[trace.Call]) iter.Seq2[int, *trace.Call] {
	return func(yield func(int, *trace.Call) bool) {
		n, left := 0, p.ordinals
		for first, rows := range calls.Rows {
			for i := range rows {
				if rows[i].Path != p.Path {
					continue
				}
				if left[0] == n {
					if left = left[1:]; !yield(first+i, &rows[i]) || len(left) == 0 {
						return
					}
				}
				n++
			}
		}
	}
}

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
	n := len(ordinals)
	return &Phases{Path: m.path, Stride: (ordinals[n-1] - ordinals[0] + (n-1)/2) / (n - 1), Ranks: masters, ordinals: ordinals}, nil
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
