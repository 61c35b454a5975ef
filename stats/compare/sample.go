package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/engine"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// blocks is the number of parts that the instances of a place on a rank are cut into, in order:
// enough for a test, and few enough that neighbours, which are alike, mostly lie in one.
const blocks = 32

// A Sample is what a comparison needs of one run. It holds none of the trace's tables.
type Sample struct {
	Trace    document.TraceInfo
	Findings []document.Finding
	Figures  map[string]*float64 // by their names, FigureNames; those that the trace cannot give are missing

	regions []string // visited, those with the most time first
	comms   []commShape
	places  map[field.Site]*series
	causes  map[field.Site]int64 // ns that others wait for a place
}

// A commShape is how many communicators of a size there are.
type commShape struct {
	Members int `json:"members"`
	Count   int `json:"count"`
}

// commsOf counts the communicators of more than one process by size, the largest first.
func commsOf(t *trace.Trace) []commShape {
	count := make(map[int]int)
	for i := range t.Defs.Comms {
		g := t.Defs.Comms[i].Group
		// a team of threads
		if int(g) >= len(t.Defs.Groups) || t.Defs.Groups[g].Paradigm == trace.ParadigmOpenMP ||
			t.Defs.Groups[g].Paradigm == trace.ParadigmPthread {
			continue
		}
		if n := len(t.Defs.Groups[g].Members); n > 1 {
			count[n]++
		}
	}
	var out []commShape
	for members, n := range count {
		out = append(out, commShape{members, n})
	}
	slices.SortFunc(out, func(a, b commShape) int { return b.Members - a.Members })
	return out
}

// A series is what a place takes in one run, waits apart, in ticks: the sums over ranks of the
// instances of each block.
//
//	own and wait sum to all time in the place
type series struct {
	own, wait [blocks]int64
	instances [blocks]int64
	ranks     []rankTime // ascending
}

// rankTime is the time of a place on one rank.
type rankTime struct {
	rank      uint32
	own, wait int64
}

// Take reduces an analyzed trace to a sample, on several goroutines.
func Take(ctx context.Context, t *trace.Trace, a *analysis.Result, jobs int) (*Sample, error) {
	sites, number := sitesOf(t)
	type part struct {
		places []*series // by number
	}
	p, err := engine.Fold(ctx, jobs, len(a.Segments),
		func() *part { return &part{make([]*series, len(sites))} },
		func(p *part, l int) error {
			if s := a.Segments[l]; s != nil && s.Len() == 0 && !empty(s) {
				return takeWindows(ctx, t, trace.LocationID(l), s, number, p.places)
			}
			return takeLocation(ctx, t, a.Segments[l], l, number, p.places)
		},
		func(x, y *part) *part {
			for k := range x.places {
				x.places[k] = x.places[k].plus(y.places[k])
			}
			return x
		})
	if err != nil {
		return nil, fmt.Errorf("sampling places: %w", err)
	}
	s := &Sample{Trace: a.Trace, Findings: a.Findings, Figures: figuresOf(a), comms: commsOf(t), places: make(map[field.Site]*series),
		causes: make(map[field.Site]int64)}
	visited := make(map[string]bool)
	for i := range a.Profile {
		if r := validName(a.Profile[i].Region); !visited[r] {
			s.regions, visited[r] = append(s.regions, r), true
		}
	}
	for i := range a.Delays {
		d := &a.Delays[i]
		s.causes[valid(field.Site{SourceLine: d.SourceLine, Operation: d.Operation})] += d.TotalNs
	}
	for k, one := range p.places {
		if one == nil {
			continue
		}
		one.sortRanks()
		one.inNs(t.Defs.Clock)
		s.places[sites[k]] = one
	}
	return s, nil
}

// valid returns a site with names as documents write them, so that those of a baseline are those of a trace.
func valid(s field.Site) field.Site {
	s.Region, s.File, s.Operation = validName(s.Region), validName(s.File), validName(s.Operation)
	return s
}

func validName[S ~string](name S) S { return S(strings.ToValidUTF8(string(name), "\uFFFD")) }

// sitesOf returns the sites of a trace, and by call path the number of its site. The last two
// are those of time in no call path.
func sitesOf(t *trace.Trace) (sites []field.Site, number func(trace.PathID) int) {
	index := make(map[field.Site]int)
	numberOf := func(s field.Site) int {
		k, ok := index[s]
		if !ok {
			k = len(sites)
			index[s] = k
			sites = append(sites, s)
		}
		return k
	}
	byPath := make([]int, len(t.Tree.Nodes))
	for path, s := range profile.Sites(t) {
		byPath[path] = numberOf(valid(s))
	}
	outside := numberOf(field.Site{SourceLine: field.SourceLine{Region: field.OutsideRegions}})
	unrecorded := numberOf(field.Site{SourceLine: field.SourceLine{Region: field.NotRecorded}})
	return sites, func(p trace.PathID) int {
		switch {
		case int(p) < len(byPath):
			return byPath[p]
		case p == profile.PathNotRecorded:
			return unrecorded
		}
		return outside
	}
}

// empty reports whether a location was not analyzed: it is no part of the run.
func empty(s *profile.Segments) bool {
	for range s.All() {
		return false
	}
	return true
}

// takeLocation adds what one location does. Its segments are read twice: how many there are of a
// place says which of them make a block.
func takeLocation(ctx context.Context, t *trace.Trace, segments *profile.Segments, l int, number func(trace.PathID) int,
	places []*series) error {
	if segments == nil {
		return nil
	}
	count, met := make(map[int]int64), make(map[int]int64)
	for _, s := range segments.All() {
		if s.Path != profile.PathWait {
			count[number(s.Path)]++
		}
	}
	idle := nowhere
	if t.Defs.Locations[l].Kind == trace.LocationGPU {
		idle = number(trace.None)
	}
	rank, k, block := t.Rank[l], 0, 0
	n := 0
	for _, s := range segments.All() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.Path == profile.PathWait { // of the call before it
			places[k].wait[block] += s.Time
			places[k].rank(rank).wait += s.Time
			continue
		}
		if k = number(s.Path); k == idle {
			continue
		}
		if places[k] == nil {
			places[k] = new(series)
		}
		block = int(met[k] * blocks / count[k])
		met[k]++
		places[k].own[block] += s.Time
		places[k].instances[block]++
		places[k].rank(rank).own += s.Time
	}
	return nil
}

// rank returns the row of a rank, the last one's if it is that.
func (s *series) rank(rank uint32) *rankTime {
	if n := len(s.ranks); n == 0 || s.ranks[n-1].rank != rank {
		s.ranks = append(s.ranks, rankTime{rank: rank})
	}
	return &s.ranks[len(s.ranks)-1]
}

// sortRanks brings the ranks in order and joins the rows of each.
func (s *series) sortRanks() {
	slices.SortFunc(s.ranks, func(a, b rankTime) int { return int(int64(a.rank) - int64(b.rank)) })
	joined := s.ranks[:0]
	for _, r := range s.ranks {
		if n := len(joined); n > 0 && joined[n-1].rank == r.rank {
			joined[n-1].own, joined[n-1].wait = joined[n-1].own+r.own, joined[n-1].wait+r.wait
			continue
		}
		joined = append(joined, r)
	}
	s.ranks = joined
}

func (s *series) plus(o *series) *series {
	if s == nil {
		return o
	}
	if o == nil {
		return s
	}
	for b := range blocks {
		s.own[b], s.wait[b], s.instances[b] = s.own[b]+o.own[b], s.wait[b]+o.wait[b], s.instances[b]+o.instances[b]
	}
	s.ranks = append(s.ranks, o.ranks...)
	return s
}

// inNs makes ns of ticks.
func (s *series) inNs(clock trace.ClockProperties) {
	ns := func(t *int64) { *t = clock.Nanoseconds(*t) }
	for b := range blocks {
		ns(&s.own[b])
		ns(&s.wait[b])
	}
	for i := range s.ranks {
		ns(&s.ranks[i].own)
		ns(&s.ranks[i].wait)
	}
}
