package overhead

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
)

// Result makes the block of the document from the lines of lineSums. It has the overhead of each line by rank, and the durations of calls
// of the lines with the most time.
func (o *Finder) Result(p *profile.Profiler, sums []lineSum, length int64) (out *document.Overhead, byRank *spill.Table[OfRank],
	byLine []LineCalls) {
	out = &document.Overhead{Source: o.source(), Quantile: o.own.Quantile, Alpha: cmp.Or(o.opts.Fit.Alpha, fit.DefaultAlpha),
		Lines: []document.OverheadLine{}, Pairs: o.pairRows(p)}
	var rows []int
	out.Keys, rows = o.keyRows()
	if p := o.opts.Profile; p != nil {
		out.Profile = &document.ProfileInfo{Machine: p.Machine, Library: p.Library, Creator: p.Creator, Processes: p.Processes}
		out.Quantile = p.Quantile
	}
	order := o.lineOrder(p, sums)
	line := make(map[profile.Site]int)
	split := numbers.Splitter{Rate: o.rate}
	for k, i := range order {
		row := o.lineRow(p, &sums[i], &split, length)
		out.TotalNs = numbers.Plus(out.TotalNs, row.TotalNs)
		out.OverheadNs = numbers.Plus(out.OverheadNs, row.OverheadNs)
		out.Lines = append(out.Lines, row)
		line[sums[i].site] = k
	}
	if o.lineOf != nil {
		byLine = o.lineCalls(p, rows)
	}
	return out, o.rankRows(p, line), byLine
}

// source says which model is in use.
func (o *Finder) source() string {
	if o.opts.Profile != nil {
		return fromProfile
	}
	return fromTrace
}

// The sources of t_max.
const (
	fromTrace   = "trace"
	fromProfile = "profile"
	fromBoth    = "both"
)

// source says what calls are held to.
func (s *overheadSum) source() field.Name {
	switch s.foreign {
	case 0:
		return fromTrace
	case s.calls:
		return fromProfile
	}
	return fromBoth
}

// lineOrder returns the lines that communicate, the one with the most overhead first.
func (o *Finder) lineOrder(p *profile.Profiler, sums []lineSum) []int {
	var order []int
	for i := range sums {
		if sums[i].overhead.calls > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &sums[i], &sums[j]
		return cmp.Or(cmp.Compare(b.overhead.Overhead, a.overhead.Overhead), cmp.Compare(b.overhead.total, a.overhead.total),
			p.CompareSites(a.site, b.site))
	})
	return order
}

func (o *Finder) lineRow(p *profile.Profiler, s *lineSum, split *numbers.Splitter, length int64) document.OverheadLine {
	x := &s.overhead
	row := document.OverheadLine{SourceLine: profile.Spell(p.T.Defs, s.site.Line), Operation: p.T.Defs.RegionLabel(s.site.Operation),
		Calls: x.calls, Slow: x.slow,
		UnreliableCalls: x.unreliable, ProfileCalls: x.foreign,
		TotalNs: split.Ns(x.total), OverheadNs: x.Overhead, LatePartnerNs: x.late, TransferNs: x.transfer, UnexplainedNs: x.unexplained,
		CriticalPathNs: o.rate.Ns(s.critical), CriticalPathShare: numbers.Ratio(s.critical, length)}
	row.Share = numbers.Ratio(row.OverheadNs, row.TotalNs)
	return row
}

// rankRows replaces call paths by lines.
func (o *Finder) rankRows(p *profile.Profiler, line map[profile.Site]int) *spill.Table[OfRank] {
	out := spill.NewTable[OfRank](o.T.Store)
	for _, r := range o.byRank {
		if k, ok := line[p.SiteOfPath(r.path)]; ok {
			out.Append(OfRank{Line: k, Rank: field.Rank(r.rank), OverheadNs: r.overhead})
		}
	}
	return out
}

// keyRows lists the keys, the one with the most overhead first, and says where each group is in them.
func (o *Finder) keyRows() (sorted []document.OverheadKey, at []int) {
	rows := []document.OverheadKey{}
	for i := range o.groups {
		rows = append(rows, o.keyRow(&o.groups[i], o.charges.groups[i]))
	}
	markAnomalous(rows)
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b].OverheadNs, rows[a].OverheadNs) })
	sorted, at = make([]document.OverheadKey, len(rows)), make([]int, len(rows))
	for k, i := range order {
		sorted[k], at[i] = rows[i], k
	}
	return sorted, at
}

func (o *Finder) keyRow(g *fit.Group, charged int64) document.OverheadKey {
	k := DescribeKey(g)
	k.OverheadNs = charged
	if p := o.profileFor(g.Key); p != &o.own {
		holdTo(&k, p, g)
	}
	return k
}

// holdTo replaces what was learned from the key's own sample by what a profile says: a row
// has one source.
func holdTo(k *document.OverheadKey, p *fit.Profile, g *fit.Group) {
	x, _ := p.Limit(g.Key)
	k.Source, k.From, k.TMinNs, k.TMaxNs, k.Unreliable = fromProfile, "interpolated", x.TMin, x.TMax, x.Unreliable
	if x.Extrapolated {
		k.From = "extrapolated"
	}
	k.Model, k.Lambda, k.WindowNs, k.Chi2, k.Dof, k.PValue, k.Accepted, k.ThresholdNs = "", nil, nil, nil, nil, nil, false, nil
	k.Parameters = []document.Param{}
	over, _ := g.Sample.Above(x.TMax)
	k.Over, k.OverPValue = uint64(over), nil
	if p.Quantile < 1 && !k.Unreliable {
		tail := fit.TooMany(over, g.Calls, p.Quantile)
		k.OverPValue = &tail
	}
}

// DescribeKey returns what is known of a key from its own sample. Anomalous and OverheadNs
// are left alone: they need all keys, and all calls.
func DescribeKey(g *fit.Group) document.OverheadKey {
	r := &g.Result
	k := document.OverheadKey{Operation: g.Operation, Role: g.Role, Processes: uint32(g.Processes), Bytes: uint64(g.Bytes),
		Calls:  uint64(g.Calls),
		TMinNs: g.TMin, TMaxNs: g.TMax, LeastNs: g.TMin, Source: fromTrace, From: g.From, Pooled: g.Pooled, Few: g.Few, Unreliable: g.Unreliable,
		Parameters: []document.Param{}, Over: uint64(r.Over), Fit: *r}
	if r.Chosen >= 0 && r.Quantile < 1 && !k.Unreliable {
		tail := r.PValue(g.Sample)
		k.OverPValue = &tail
	}
	describe(&k, r)
	return k
}

// describe fills in the law that was chosen.
func describe(k *document.OverheadKey, r *fit.Result) {
	if r.Chosen < 0 {
		return
	}
	m := &r.Models[r.Chosen]
	e := &m.Estimates[r.Estimate]
	test, window := m.TestOf(r.Estimate), r.Histogram.Window
	k.Model, k.WindowNs, k.Chi2, k.Dof, k.PValue, k.Accepted = field.Name(m.Family), &window, &test.Chi2, &test.DOF, &test.P, true
	if t := r.Threshold(r.Calls); t < numbers.Never/4 {
		k.ThresholdNs = &t
	}
	for _, x := range e.Params {
		k.Parameters = append(k.Parameters, document.Param{Name: x.Name, Value: x.Value})
	}
	if m.Family == fit.Poisson || m.Family == fit.LocatedPoisson || m.Family == fit.Exponential {
		k.Lambda = &k.Parameters[0].Value
	}
}

// markAnomalous decides among the keys that were tested which have too many slow calls.
func markAnomalous(rows []document.OverheadKey) {
	var tested []int
	var p []float64
	for i := range rows {
		if rows[i].OverPValue != nil {
			tested, p = append(tested, i), append(p, *rows[i].OverPValue)
		}
	}
	for k, anomalous := range fit.Anomalous(p, discoveries) {
		rows[tested[k]].Anomalous = anomalous
	}
}
