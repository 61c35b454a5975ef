package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/trace"
)

// A Comparison is what changed from the runs A to the runs B. Times are ns, of several runs a
// side their means.
type Comparison struct {
	Comparable   Comparable   `json:"comparable"`
	RunsA        int          `json:"runs_a"`
	RunsB        int          `json:"runs_b"`
	Significant  int          `json:"significant"` // changes of places, of those: more than noise
	Slower       int          `json:"slower"`      // of those: what takes longer in B
	Startup      bool         `json:"efficiencies_with_startup"`
	Efficiencies []Efficiency `json:"efficiencies"`
	Run          *Change      `json:"run"`     // the time of all ranks: run time times ranks
	Changes      []Change     `json:"changes"` // significant ones first, of those own time before waits; then by weight
}

// Comparable says whether two sides are runs of one shape, and if not in what they differ. What
// follows then compares sums over different ranks or of different programs.
type Comparable struct {
	Alike   bool     `json:"alike"`
	Reasons []string `json:"reasons"`
}

// An Efficiency is one of the ratios of DEFINITIONS 2.6, without startup if Startup is false. Or it is that of threads (2.10), always of
// the whole run. It is null on a side where it is not defined. Change is B - A.
type Efficiency struct {
	Name   string   `json:"name"`
	A      *float64 `json:"a"`
	B      *float64 `json:"b"`
	Change *float64 `json:"change"`
	Noise  *float64 `json:"noise"` // half the width of the interval of 95 % around Change, from several runs; else null
}

// A Kind says what changed.
type Kind string

// The kinds.
const (
	KindTime Kind = "time" // what a place takes itself, waits apart: metric own_ns
	KindWait Kind = "wait" // waiting in a call for a partner that is late: metric wait_ns
	KindRun  Kind = "run"  // everything: metric time_ns
)

// A Change is the change of one place, sums over ranks. Its weight is the size of the change, |B - A|. For own time it is also by how much
// the waits that the place causes have changed: so a cause outweighs each of the waits that follow from it. A rank that takes longer may
// only fill what it waited before; the two sizes are added, not netted.
type Change struct {
	Kind Kind `json:"kind"`
	field.SourceLine
	LineA     field.Line `json:"line_a,omitempty"` // the line in A, if it is another one; Line is that in B
	Operation field.Name `json:"operation"`        // null: outside MPI
	Metric    string     `json:"metric"`
	A         float64    `json:"a"`
	B         float64    `json:"b"`
	Change    *float64   `json:"change"` // (B - A) / A; null if A is 0
	// what chance makes of Change: half the width of its interval of 95 %; null if A is 0 or too little is there to judge by
	Noise       *float64 `json:"noise"`
	PValue      *float64 `json:"p_value"`     // of a change like this or a larger one by chance; null: too little to judge by
	Significant *bool    `json:"significant"` // null: too little to judge by
	WeightNs    float64  `json:"weight_ns"`
	Ranks       []uint32 `json:"ranks"` // that the change is on, ascending; empty: all
	InstancesA  float64  `json:"instances_a"`
	InstancesB  float64  `json:"instances_b"`

	straggles bool // on some rank by leastOfRank
	estimate  estimate
}

// BeyondNoise reports whether the change is known to be significant.
func (c *Change) BeyondNoise() bool { return c.Significant != nil && *c.Significant }

func (c *Change) site() field.Site {
	return field.Site{SourceLine: c.SourceLine, Operation: c.Operation}
}

// place joins what the runs of both sides say of one place.
type place struct {
	site     field.Site
	sides    [2][]*series // by run; nil where it does not occur
	causesNs [2]float64   // mean over the runs
	lineA    field.Line   // where it is in A, if its line has moved
}

// Of compares two sides of at least one run each.
func Of(a, b []*Sample) *Comparison {
	c := &Comparison{Comparable: comparable(a, b), RunsA: len(a), RunsB: len(b), Startup: withStartup(a) || withStartup(b),
		Changes: []Change{}}
	c.Efficiencies = efficiencies(a, b, c.Startup)
	places := join(a, b)
	total := c.total(places, len(a), len(b))
	for _, p := range places {
		for _, kind := range []Kind{KindTime, KindWait} {
			if x := p.change(kind); x.A != 0 || x.B != 0 {
				c.Changes = append(c.Changes, x)
			}
		}
	}
	c.decide(total)
	for i := range c.Changes {
		if x := &c.Changes[i]; x.BeyondNoise() && x.B > x.A {
			c.Slower++
		}
	}
	slices.SortStableFunc(c.Changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(order(&x), order(&y)), cmp.Compare(y.WeightNs, x.WeightNs), cmp.Compare(x.Kind, y.Kind),
			compareSites(x.site(), y.site()))
	})
	return c
}

// order is smaller for what is to stand first: what is more than noise, and of that what has changed itself,
// before the waits that follow from it.
func order(c *Change) int {
	switch {
	case !c.BeyondNoise():
		return 2
	case c.Kind == KindWait:
		return 1
	}
	return 0
}

// compareSites orders places by their names.
func compareSites(x, y field.Site) int {
	return cmp.Or(cmp.Compare(x.Operation, y.Operation), cmp.Compare(x.Region, y.Region), cmp.Compare(x.File, y.File),
		cmp.Compare(x.Line, y.Line), cmp.Compare(x.LineOf, y.LineOf))
}

// join finds the places of all runs, in order of their names.
func join(a, b []*Sample) []*place {
	index := make(map[field.Site]*place)
	var out []*place
	of := func(s field.Site) *place {
		p, ok := index[s]
		if !ok {
			p = &place{site: s, sides: [2][]*series{make([]*series, len(a)), make([]*series, len(b))}}
			index[s] = p
			out = append(out, p)
		}
		return p
	}
	for side, samples := range [][]*Sample{a, b} {
		for run, s := range samples {
			for site, one := range s.places {
				of(site).sides[side][run] = one
			}
			for site, ns := range s.causes {
				of(site).causesNs[side] += float64(ns) / float64(len(samples))
			}
		}
	}
	slices.SortFunc(out, func(x, y *place) int { return compareSites(x.site, y.site) })
	return joinMoved(out)
}

// occurs reports whether a side has the place.
func (p *place) occurs(side int) bool {
	return p.causesNs[side] != 0 || slices.ContainsFunc(p.sides[side], func(s *series) bool { return s != nil })
}

// joinMoved joins places whose lines have moved from A to B: those of one region, operation and
// file of which each occurs on one side only, in order of lines, if there are as many on both. Places come, and
// are returned, in order of names; a joined one has the line of B.
func joinMoved(places []*place) []*place {
	type key struct {
		operation, region, file, of field.Name
	}
	only := make(map[key]*[2][]*place)
	for _, p := range places {
		k := key{p.site.Operation, p.site.Region, p.site.File, p.site.LineOf}
		if only[k] == nil {
			only[k] = new([2][]*place)
		}
		switch a, b := p.occurs(0), p.occurs(1); {
		case a && !b:
			only[k][0] = append(only[k][0], p)
		case b && !a:
			only[k][1] = append(only[k][1], p)
		}
	}
	gone := make(map[*place]bool)
	for _, sides := range only {
		if len(sides[0]) != len(sides[1]) {
			continue
		}
		for i, before := range sides[0] {
			now := sides[1][i]
			now.sides[0], now.causesNs[0], now.lineA = before.sides[0], before.causesNs[0], before.site.Line
			gone[before] = true
		}
	}
	return slices.DeleteFunc(places, func(p *place) bool { return gone[p] })
}

// values returns the blocks of the runs of one side.
func (p *place) values(side int, kind Kind) [][blocks]int64 {
	out := make([][blocks]int64, len(p.sides[side]))
	for i, s := range p.sides[side] {
		switch {
		case s == nil:
		case kind == KindTime:
			out[i] = s.own
		case kind == KindWait:
			out[i] = s.wait
		default:
			for b := range blocks {
				out[i][b] = s.own[b] + s.wait[b]
			}
		}
	}
	return out
}

// instances returns the mean number of instances of a side, and notes in which blocks there are any.
func (p *place) instances(side int, any *[blocks]bool) float64 {
	sum := 0.0
	for _, s := range p.sides[side] {
		for b := range blocks {
			if s != nil && s.instances[b] > 0 {
				any[b] = true
				sum += float64(s.instances[b])
			}
		}
	}
	return sum / float64(len(p.sides[side]))
}

// change judges a place; whether it is significant is decided when all are known.
func (p *place) change(kind Kind) Change {
	c := Change{Kind: kind, SourceLine: p.site.SourceLine, LineA: p.lineA, Operation: p.site.Operation, Metric: "own_ns", Ranks: []uint32{}}
	if kind == KindWait {
		c.Metric = "wait_ns"
	}
	var any [blocks]bool
	c.InstancesA, c.InstancesB = p.instances(0, &any), p.instances(1, &any)
	c.measure(p.values(0, kind), p.values(1, kind), &any)
	if c.WeightNs = math.Abs(c.B - c.A); kind == KindTime && c.Operation == "" {
		c.WeightNs += math.Abs(p.causesNs[1] - p.causesNs[0])
	}
	c.Ranks, c.straggles = p.ranks(kind, c.B-c.A)
	return c
}

// measure fills in the values of both sides and estimates their difference.
func (c *Change) measure(a, b [][blocks]int64, instances *[blocks]bool) {
	for k := range blocks {
		c.A += meanAt(a, k)
		c.B += meanAt(b, k)
	}
	c.estimate = estimated(a, b, instances)
	if c.A != 0 {
		share := (c.B - c.A) / c.A
		c.Change = &share
	}
}

// judge says what chance makes of the difference.
func (c *Change) judge(p prior) {
	if v := c.estimate.judge(p); v.known {
		c.PValue = &v.p
		if c.A != 0 {
			noise := v.noise / c.A
			c.Noise = &noise
		}
	}
}

// total judges all places together.
func (c *Comparison) total(places []*place, runsA, runsB int) float64 {
	a, b := make([][blocks]int64, runsA), make([][blocks]int64, runsB)
	for _, p := range places {
		for side, sums := range [][][blocks]int64{a, b} {
			for run, one := range p.values(side, KindRun) {
				for k, v := range one {
					sums[run][k] += v
				}
			}
		}
	}
	var all [blocks]bool
	for k := range all {
		all[k] = true
	}
	c.Run = &Change{Kind: KindRun, Metric: "time_ns", Ranks: []uint32{}}
	c.Run.measure(a, b, &all)
	c.Run.judge(prior{})
	c.Run.WeightNs = math.Abs(c.Run.B - c.Run.A)
	if c.Run.PValue != nil {
		significant := *c.Run.PValue <= falseShare && c.Run.largeEnough(max(c.Run.A, c.Run.B))
		c.Run.Significant = &significant
	}
	return max(c.Run.A, c.Run.B)
}

// largeEnough reports whether a change matters, in its place or to one rank of it, and in all the
// time there is.
func (c *Change) largeEnough(total float64) bool {
	d := math.Abs(c.B - c.A)
	return (d >= leastOfPlace*max(c.A, c.B) || c.straggles) && c.WeightNs >= leastOfRun*total
}

// decide says which changes are significant, of all that could be judged. What is too small to matter
// is not among the tests: it would be no discovery.
func (c *Comparison) decide(total float64) {
	var estimates []estimate
	for i := range c.Changes {
		estimates = append(estimates, c.Changes[i].estimate)
	}
	prior := priorOf(estimates)
	var p []float64
	var of []*Change
	for i := range c.Changes {
		x := &c.Changes[i]
		x.judge(prior)
		if (x.InstancesA == 0) != (x.InstancesB == 0) { // chance does not bring a place into a program
			significant := x.largeEnough(total)
			if x.Significant = &significant; significant {
				c.Significant++
			}
			continue
		}
		if x.PValue == nil {
			continue
		}
		x.Significant = new(bool)
		p, of = append(p, *x.PValue), append(of, x)
	}
	for i, found := range discoveries(p) {
		if found && of[i].largeEnough(total) {
			*of[i].Significant = true
			c.Significant++
		}
	}
}

// ranks returns the ranks that a change is on: those with more than half of the largest change of
// a rank, in the same direction; none if that is most of them. It straggles if time outside MPI changed on
// a rank by leastOfRank of what the rank takes there.
func (p *place) ranks(kind Kind, change float64) (out []uint32, straggles bool) {
	type sides struct{ a, b float64 }
	byRank := make(map[uint32]sides)
	for side := range p.sides {
		for _, s := range p.sides[side] {
			if s == nil {
				continue
			}
			for _, r := range s.ranks {
				t := float64(r.own) / float64(len(p.sides[side]))
				if kind == KindWait {
					t = float64(r.wait) / float64(len(p.sides[side]))
				}
				both := byRank[r.rank]
				if side == 0 {
					both.a += t
				} else {
					both.b += t
				}
				byRank[r.rank] = both
			}
		}
	}
	largest := 0.0
	for _, t := range byRank {
		largest = max(largest, (t.b-t.a)*math.Copysign(1, change))
	}
	out = []uint32{}
	for rank, t := range byRank {
		if d := (t.b - t.a) * math.Copysign(1, change); largest > 0 && d > largest/2 && rank != trace.None {
			out = append(out, rank)
			straggles = straggles || kind == KindTime && p.site.Operation == "" && d >= leastOfRank*max(t.a, t.b)
		}
	}
	if 2*len(out) > len(byRank) && len(byRank) > 1 {
		return []uint32{}, straggles
	}
	slices.Sort(out)
	return out, straggles
}

// withStartup reports whether the efficiencies of a run are known of the whole run only.
func withStartup(side []*Sample) bool {
	return slices.ContainsFunc(side, func(s *Sample) bool {
		_, whole := s.Figures[wholeRun+ratios[0]]
		_, without := s.Figures[withoutStartup+ratios[0]]
		return whole && !without
	})
}

// efficiencies lists how the ratios moved, with startup or without it.
func efficiencies(a, b []*Sample, startup bool) []Efficiency {
	out := []Efficiency{}
	block := withoutStartup
	if startup {
		block = wholeRun
	}
	names := make([][2]string, 0, len(ratios)+1) // with their figures
	for _, name := range ratios {
		names = append(names, [2]string{name, block + name})
	}
	for _, name := range append(names, [2]string{"thread_efficiency", ofThreads}) {
		row := Efficiency{Name: name[0]}
		x, y := valuesOf(a, name[1]), valuesOf(b, name[1])
		if len(x) == 0 && len(y) == 0 {
			continue
		}
		if len(x) == len(a) {
			mean := sumOf(x) / float64(len(x))
			row.A = &mean
		}
		if len(y) == len(b) {
			mean := sumOf(y) / float64(len(y))
			row.B = &mean
		}
		if row.A != nil && row.B != nil {
			change := *row.B - *row.A
			row.Change = &change
			if len(x)+len(y) > 2 {
				noise := student(change, ofRuns(x, y)).noise
				row.Noise = &noise
			}
		}
		out = append(out, row)
	}
	return out
}

// valuesOf returns a figure of the runs that have it.
func valuesOf(side []*Sample, name string) (out []float64) {
	for _, s := range side {
		if v := s.Figures[name]; v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// comparable finds differences of shape between the sides, and between runs of one side.
func comparable(a, b []*Sample) Comparable {
	c := Comparable{Reasons: []string{}}
	first := a[0]
	for _, s := range slices.Concat(a[1:], b) {
		for _, reason := range differences(first, s) {
			if !slices.Contains(c.Reasons, reason) {
				c.Reasons = append(c.Reasons, reason)
			}
		}
	}
	c.Alike = len(c.Reasons) == 0
	return c
}

func differences(a, b *Sample) (reasons []string) {
	note := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	x, y := &a.Trace, &b.Trace
	if x.Processes != y.Processes {
		note("ranks: %d and %d", x.Processes, y.Processes)
	} else if x.Locations != y.Locations {
		note("threads and other locations: %d and %d", x.Locations, y.Locations)
	}
	if x.ProcessesMissing != y.ProcessesMissing {
		note("ranks that the trace has nothing of: %d and %d", x.ProcessesMissing, y.ProcessesMissing)
	}
	if only := onlyIn(a, b); only != "" {
		note("program: only the first has %s", only)
	}
	if only := onlyIn(b, a); only != "" {
		note("program: only the second has %s", only)
	}
	if !slices.Equal(a.comms, b.comms) {
		note("communicators: %s and %s", commsText(a.comms), commsText(b.comms))
	}
	return reasons
}

// onlyIn names the regions, those with the most time first, that only the first visits.
func onlyIn(a, b *Sample) string {
	known := make(map[string]bool, len(b.regions))
	for _, r := range b.regions {
		known[r] = true
	}
	var names []string
	for _, r := range a.regions {
		if !known[r] {
			names = append(names, words.Brief(r))
		}
	}
	const most = 3
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more regions", more)
	}
	return strings.Join(names, ", ")
}

func commsText(comms []commShape) string {
	var parts []string
	for _, c := range comms {
		parts = append(parts, fmt.Sprintf("%d of %d ranks", c.Count, c.Members))
	}
	if parts == nil {
		return "none"
	}
	const most = 4
	if len(parts) > most {
		parts = append(parts[:most], "…")
	}
	return strings.Join(parts, ", ")
}
