package pattern

import (
	"cmp"
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// A site is a call site with what the intervals are like that begin there. All sites are
// looked at in one pass: a sum over the calls so far tells, as the difference of two
// arrivals, what was called between them.
type site struct {
	region        trace.RegionID
	at            trace.SourceLocationID // that it is called from
	parent        uint64                 // path
	arrivals      uint64
	calls, events uint64            // so far, when it was last arrived at
	seen          map[uint64]uint64 // intervals by pattern
	saved         uint64            // events in intervals that repeat those that are kept
	fewest        uint64            // arrivals over ranks
	ranks         int
}

// What is kept of a location while sites are looked at: more of either counts as irregular.
const (
	mostSites    = 1 << 14
	mostPatterns = 1 << 12 // of a site
	mostSeen     = 1 << 18 // patterns of all sites
)

// A siteScan finds the sites of one location.
type siteScan struct {
	keep          uint64
	sites         map[uint64]*site
	seen          int
	calls, events uint64
}

func (s *siteScan) run(w *walker, batches engine.Batches) error {
	for b, err := range batches {
		if err != nil {
			return err
		}
		for seq, row := range b.Events {
			parent := w.path()
			e := w.event(b, seq, row)
			if e.path != 0 {
				at := trace.SourceLocationID(trace.None)
				if len(b.Flow.Context) > 0 {
					at = w.shared.site(b.Flow.Context[row.First])
				}
				s.arrive(e, parent, at)
			}
			s.calls += e.calls
			s.events++
		}
	}
	return nil
}

func (s *siteScan) arrive(e event, parent uint64, at trace.SourceLocationID) {
	x := s.sites[e.path]
	if x == nil {
		if len(s.sites) == mostSites {
			return
		}
		x = &site{region: e.region, at: at, parent: parent, seen: make(map[uint64]uint64)}
		s.sites[e.path] = x
	} else {
		n, known := x.seen[s.calls-x.calls]
		switch {
		case n >= s.keep:
			x.saved += s.events - x.events
		case known || len(x.seen) < mostPatterns && s.seen < mostSeen:
			if !known {
				s.seen++
			}
			x.seen[s.calls-x.calls] = n + 1
		}
	}
	x.arrivals++
	x.calls, x.events = s.calls, s.events
}

// A candidate is a marker that may be chosen.
type candidate struct {
	path     uint64
	arrivals uint64
	saved    uint64
}

// candidates returns the call sites that all ranks arrive at, those first that let most be
// cut; at equals, those that cut into the most intervals.
func (f *finder) candidates(ctx context.Context) ([]candidate, error) {
	masters := f.masters()
	scans, err := engine.Each(ctx, f.t.Source, f.run(), func(_ context.Context, l trace.LocationID, batches engine.Batches) (*siteScan,
		error) {
		if !masters[l] {
			return nil, nil
		}
		s := &siteScan{keep: uint64(f.opts.Keep), sites: make(map[uint64]*site)}
		w := f.shared.walker(l)
		w.calls = true
		return s, s.run(w, batches)
	})
	if err != nil {
		return nil, err
	}
	f.sites = make(map[uint64]*site)
	ranks := 0
	for _, s := range scans {
		if s == nil || s.events == 0 {
			continue
		}
		ranks++
		for path, x := range s.sites {
			if y := f.sites[path]; y == nil {
				x.ranks, x.fewest, x.seen = 1, x.arrivals, nil
				f.sites[path] = x
			} else {
				y.ranks, y.fewest = y.ranks+1, min(y.fewest, x.arrivals)
				y.saved += x.saved
			}
		}
	}
	var out []candidate
	for path, x := range f.sites {
		if x.ranks == ranks && x.saved > 0 {
			out = append(out, candidate{path, x.fewest, x.saved})
		}
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.saved, a.saved), cmp.Compare(b.arrivals, a.arrivals), cmp.Compare(a.path, b.path))
	})
	return out, nil
}

// siteOf returns the call site of a path for people: what is called, and from where.
func (f *finder) siteOf(path uint64) Site {
	d := f.t.Defs
	x := f.sites[path]
	s := Site{Operation: d.RegionLabel(x.region)}
	tree := trace.NewCallTree()
	if line := tree.SourceLine(d, f.node(tree, path)); line.Region != trace.None || line.File != trace.None {
		s.Region, s.File, s.Line = d.RegionLabel(line.Region), d.String(line.File), line.Line
	}
	if s.Region == s.Operation {
		s.Region = ""
	}
	return s
}

// node adds a path to a call tree.
func (f *finder) node(tree *trace.CallTree, path uint64) trace.PathID {
	var up []*site
	for x := f.sites[path]; x != nil && len(up) < 1<<10; x = f.sites[x.parent] {
		up = append(up, x)
	}
	p := trace.PathID(trace.None)
	for _, x := range slices.Backward(up) {
		p = tree.Add(trace.PathNode{Parent: p, Region: x.region, Site: x.at})
	}
	return p
}
