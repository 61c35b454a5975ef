package stats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"tracekit/trace"
)

// A DelayRow is a place that makes others wait, with what it costs them: the sum over ranks of
// waiting time that it causes. ShortNs is the wait at the end of the synchronisation interval
// in which the place took longer on one rank than on the one that waits; LongNs are later waits
// that go on from there. TotalNs is their sum, that of By and that of Ranks, which says on which
// rank the place took longer.
//
// Region is "(outside any region)", "(not recorded)", before the first event of a rank,
// "(writing the trace)" or "(recording off)" where the place is none of the call tree.
type DelayRow struct {
	SourceLine
	Operation  Name       `json:"operation"` // null: outside MPI
	ShortNs    int64      `json:"short_ns"`
	LongNs     int64      `json:"long_ns"`
	TotalNs    int64      `json:"total_ns"`
	By         DelayKinds `json:"by"` // by the wait state that it ends in
	MostRank   Rank       `json:"most_rank"`
	MostRankNs int64      `json:"most_rank_ns"`
	Ranks      []RankTime `json:"ranks"` // the one with the most first
	AtOnce     DelayKinds `json:"-"`     // ShortNs by wait state
	Longest    Delayed    `json:"-"`     // of single waits that it causes at once
}

// A Delayed is where a call waits for a place, and how long. Operation "": none does at once.
type Delayed struct {
	SourceLine
	Operation Name
	TimeNs    int64
}

// A RankTime is a time of one rank.
type RankTime struct {
	Rank   Rank  `json:"rank"`
	TimeNs int64 `json:"ns"`
}

// DelayKinds holds times by wait state. In JSON it is an object with their keys and
// wait_at_startup, for waits in MPI_Init and MPI_Finalize.
type DelayKinds [waitKinds]int64

// MarshalJSON implements json.Marshaler.
func (d DelayKinds) MarshalJSON() ([]byte, error) {
	return marshalDelayed(func(k WaitKind) any { return d[k] })
}

// DelayTotals says what becomes of all waits, by wait state; in JSON the keys are those of
// DelayKinds.
type DelayTotals [waitKinds]DelayTotal

// A DelayTotal says what causes the waits of one kind: ShortNs + LongNs + UnexplainedNs is
// their time. What no delay explains: waits for what is recorded outside any call; what of a
// wait is longer than all that its cause has done longer, where clocks disagree; and what
// follows from the second wait of a call that waits for two partners (late receiver behind a
// late sender), in an interval that begins with the first.
type DelayTotal struct {
	ShortNs       int64 `json:"short_ns"`
	LongNs        int64 `json:"long_ns"`
	UnexplainedNs int64 `json:"unexplained_ns"`
}

// MarshalJSON implements json.Marshaler.
func (d *DelayTotals) MarshalJSON() ([]byte, error) {
	return marshalDelayed(func(k WaitKind) any { return d[k] })
}

// marshalDelayed makes an object of the wait states that have a cause.
func marshalDelayed(value func(WaitKind) any) ([]byte, error) {
	out := []byte{'{'}
	for k := range waitKinds {
		if !k.Info().Caused {
			continue
		}
		text, err := json.Marshal(value(k))
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(fmt.Appendf(out, "%q:", k.Info().Key), bytes.TrimSpace(text)...)
	}
	return append(out, '}'), nil
}

// A delaySum adds up the costs of a place.
type delaySum struct {
	path        trace.PathID // the first
	at          site
	name        string // of a place that is none of the call tree
	short, long float64
	by, atOnce  [waitKinds]float64
	ranks       map[uint32]float64
	longest     delayedMost
}

// delayRows makes the blocks of the document, the place that costs most first.
func delayRows(d *delays, p *profiler, keys []costKey) ([]DelayRow, *DelayTotals) {
	rows := []DelayRow{}
	for _, s := range sumDelays(d, p, keys, func(path trace.PathID) site { at, _ := p.placeOf(path); return at }) {
		if row := s.row(p); row.TotalNs > 0 {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b DelayRow) int {
		return cmp.Or(cmp.Compare(b.TotalNs, a.TotalNs), cmp.Compare(a.Region, b.Region), cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	totals, r := new(DelayTotals), rate{p.t.Defs.Clock.Resolution}
	for k := range totals {
		x := &d.total[k]
		s := floatSplitter{rate: r}
		totals[k] = DelayTotal{s.ns(x.short), s.ns(x.long), s.ns(x.unexplained)}
	}
	return rows, totals
}

// keys returns what has costs, in order.
func (d *delays) keys() []costKey {
	return slices.SortedFunc(maps.Keys(d.index), func(a, b costKey) int {
		return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.path, b.path))
	})
}

// sumDelays sums the costs of places by a key of their call paths, in order.
func sumDelays[K comparable](d *delays, p *profiler, keys []costKey, by func(trace.PathID) K) (sums []*delaySum) {
	index := make(map[K]*delaySum)
	for _, key := range keys {
		c, k := d.cost(key), by(key.path)
		sum := index[k]
		if sum == nil {
			sum = &delaySum{path: c.path, ranks: make(map[uint32]float64)}
			sum.at, sum.name = p.placeOf(c.path)
			index[k], sums = sum, append(sums, sum)
		}
		sum.add(c, p.t.Rank[c.location])
	}
	return sums
}

// A PathCost is a call path that makes others wait, lies on the critical path, takes longer than it needs or
// in which counters count: part of the rows that its place has in Delays, CriticalPath, Overhead and Profile.
type PathCost struct {
	Path       trace.PathID
	Delay      DelayRow
	CriticalNs int64        // time on the critical path
	UnequalNs  int64        // above what as many visits take in the mean
	OverheadNs int64        // of its calls; 0 without Overhead
	Counters   []CounterRow // that have a sum
}

func pathCosts(d *delays, p *profiler, keys []costKey, part *profilePart, o *overheads) []PathCost {
	delays := make(map[trace.PathID]DelayRow)
	for _, s := range sumDelays(d, p, keys, func(path trace.PathID) trace.PathID { return path }) {
		if s.name == "" {
			delays[s.path] = s.row(p)
		}
	}
	var out []PathCost
	r := rate{p.t.Defs.Clock.Resolution}
	for i := range part.paths {
		s := &part.paths[i]
		delay, costs := delays[s.path]
		overhead := int64(0)
		if o != nil && int(s.path) < len(o.paths) {
			overhead = o.paths[s.path].overhead
		}
		var told trace.Ledger // the profile says what is wrong with counters
		counters := slices.DeleteFunc(counterRows(p.t.Defs, "", s.counters, &told), func(c CounterRow) bool { return c.Sum == nil })
		if costs || s.critical > 0 || overhead > 0 || len(counters) > 0 {
			out = append(out, PathCost{s.path, delay, r.ns(s.critical), r.ns(s.unequal()), overhead, counters})
		}
	}
	return out
}

// placeOf returns the site of a call path, or the name of a place that is none.
func (p *profiler) placeOf(path trace.PathID) (site, string) {
	switch path {
	case PathOutside:
		return site{line: trace.SourceLine{Region: trace.RegionID(path)}}, OutsideRegions
	case PathNotRecorded:
		return site{line: trace.SourceLine{Region: trace.RegionID(path)}}, NotRecorded
	case PathFlush:
		return site{line: trace.SourceLine{Region: trace.RegionID(path)}}, BufferFlush
	case PathOff:
		return site{line: trace.SourceLine{Region: trace.RegionID(path)}}, RecordingOff
	}
	return p.siteOfPath(path), ""
}

func (s *delaySum) add(c *delayCost, rank uint32) {
	if c.longest.time > s.longest.time {
		s.longest = c.longest
	}
	for k := range c.short {
		s.short += c.short[k]
		s.long += c.long[k]
		s.atOnce[k] += c.short[k]
		s.by[k] += c.short[k] + c.long[k]
		s.ranks[rank] += c.short[k] + c.long[k]
	}
}

func (s *delaySum) row(p *profiler) DelayRow {
	r := rate{p.t.Defs.Clock.Resolution}
	row := DelayRow{SourceLine: SourceLine{Region: Name(s.name)}, MostRank: trace.None, Ranks: []RankTime{}}
	if s.name == "" {
		row.SourceLine, row.Operation = spell(p.t.Defs, s.at.line), Name(p.t.Defs.RegionLabel(s.at.operation))
	}
	parts := floatSplitter{rate: r}
	row.ShortNs, row.LongNs = parts.ns(s.short), parts.ns(s.long)
	row.TotalNs = row.ShortNs + row.LongNs
	parts = floatSplitter{rate: r}
	for k, time := range s.by {
		row.By[k] = parts.ns(time)
	}
	parts = floatSplitter{rate: r}
	for k, time := range s.atOnce {
		row.AtOnce[k] = parts.ns(time)
	}
	parts = floatSplitter{rate: r}
	for _, rank := range slices.Sorted(maps.Keys(s.ranks)) {
		if ns := parts.ns(s.ranks[rank]); ns > 0 {
			row.Ranks = append(row.Ranks, RankTime{Rank(rank), ns})
		}
	}
	slices.SortStableFunc(row.Ranks, func(a, b RankTime) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	if s.longest.time > 0 {
		at, _ := p.placeOf(s.longest.path)
		row.Longest = Delayed{spell(p.t.Defs, at.line), Name(p.t.Defs.RegionLabel(at.operation)), r.ns(whole(s.longest.time))}
	}
	if len(row.Ranks) > 0 {
		row.MostRank, row.MostRankNs = row.Ranks[0].Rank, row.Ranks[0].TimeNs
	}
	return row
}

// A floatSplitter converts parts of a whole in fractions of ticks as a splitter does those in
// ticks.
type floatSplitter struct {
	rate
	sum float64
}

func (s *floatSplitter) ns(part float64) int64 {
	before := s.rate.ns(whole(s.sum))
	s.sum += part
	return s.rate.ns(whole(s.sum)) - before
}

// whole returns a time in ticks, rounded, the largest int64 if it is too large for one.
func whole(ticks float64) int64 {
	if ticks >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(ticks))
}

// causes divides the time of the waits.
func (x *delayTotal) causes(r rate, time int64) *WaitCauses {
	indirect := min(time, r.ns(whole(x.indirect)))
	propagating := min(time, r.ns(whole(x.propagating)))
	return &WaitCauses{time - indirect, indirect, propagating, time - propagating}
}
