package whatif

import (
	"context"
	"math"
	"slices"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A Prediction is what a replay says. Times are in nanoseconds.
type Prediction struct {
	Baseline int64 // run time as recorded
	RunTime  int64 // with the changes
	Ranks    []RankTimes
	Left     int64 // costs of measuring that were not removed, for there was no time to take them from
}

// Gain returns by how much the run is shorter with the changes.
func (p *Prediction) Gain() int64 { return p.Baseline - p.RunTime }

// RankTimes says when a rank ends, after the begin of the run: the last event of any of its
// locations.
type RankTimes struct {
	Baseline  int64 `json:"baseline_ns"`
	Predicted int64 `json:"predicted_ns"`
}

// Predict replays the run with changes.
func (m *Model) Predict(ctx context.Context, changes ...Change) (Prediction, error) {
	plan, err := m.plan(changes)
	if err != nil {
		return Prediction{}, err
	}
	if plan.idle() && m.finishes.Load() {
		return m.recorded(), nil
	}
	in, err := plan.input(ctx, false, false)
	defer in.release()
	if err != nil {
		return Prediction{}, err
	}
	r, err := m.run(ctx, in, false)
	if err != nil {
		return Prediction{}, err
	}
	if plan.overlap == nil && plan.order == nil {
		m.finishes.Store(true)
	}
	return m.result(r), m.t.Store.Err()
}

// Idle reports whether changes change nothing: of them Predict says what was recorded, without a replay once another one has come
// to its end.
func (m *Model) Idle(changes ...Change) bool {
	p, err := m.plan(changes)
	return err == nil && p.idle()
}

// PredictAll replays the run once for each list of changes, several at a time.
func (m *Model) PredictAll(ctx context.Context, lists [][]Change) ([]Prediction, error) {
	one := *m
	one.jobs = 1
	return engine.Map(ctx, m.jobs, len(lists), func(ctx context.Context, i int) (Prediction, error) {
		return one.Predict(ctx, lists[i]...)
	})
}

func (in *input) release() {
	for _, c := range in.clocks {
		c.Release()
	}
	for _, x := range slices.Concat(in.longer, in.early) {
		if x != nil {
			x.Release()
		}
	}
	for _, x := range in.stretches {
		if x != nil {
			x.Release()
		}
	}
	for _, x := range in.transfers {
		x.Release()
	}
	for _, x := range in.own {
		x.rows.Release()
		x.needs.Release()
	}
}

// change returns what the replay of a changed run begins with, and with changed own times of
// calls apart if asked for.
func (m *Model) change(ctx context.Context, changes []Change, apart bool) (input, error) {
	plan, err := m.plan(changes)
	if err != nil {
		return input{}, err
	}
	return plan.input(ctx, apart, false)
}

// input returns what the replay begins with, and apart, if asked for, changed own times of calls, or the flights that these
// grow with.
func (p *plan) input(ctx context.Context, apart, transfers bool) (in input, err error) {
	m := p.Model
	in = input{locations: m.locations, flights: p.flights, ends: make([]int64, len(m.locations)), left: make([]int64, len(m.locations)),
		early:  make([]clockTable, len(m.locations)),
		longer: make([]clockTable, len(m.locations)), stretches: make([]*spill.Table[stretch], len(m.locations)),
		transfers: make([]*spill.Table[uint32], len(m.locations))}
	if err := p.rearrange(ctx, &in); err != nil {
		return in, err
	}
	in.clocks, err = engine.Map(ctx, m.jobs, len(m.locations), func(_ context.Context, l int) (*spill.Table[int64], error) {
		clocks := spill.NewTable[int64](m.t.Store)
		for _, rows := range m.locations[l].clocks.Rows {
			clocks.AppendRows(rows)
		}
		if p.loads != nil {
			in.early[l] = spill.NewZeros[int64](m.t.Store, clocks.Len())
		}
		if apart {
			in.longer[l] = spill.NewZeros[int64](m.t.Store, clocks.Len())
			in.stretches[l] = spill.NewTable[stretch](m.t.Store)
		}
		if transfers {
			in.transfers[l] = spill.NewZeros[uint32](m.t.Store, clocks.Len())
		}
		moved, left, err := p.shift(trace.LocationID(l), clocks, in.early[l], in.longer[l], in.stretches[l], in.transfers[l])
		in.left[l] = left
		in.ends[l] = m.locations[l].end + moved
		return clocks, err
	})
	return in, err
}

// result reads the ends of a replay.
func (m *Model) result(r *replay) Prediction {
	p := m.prediction(r.end)
	for l, ticks := range r.in.left {
		if !m.aside[l] {
			p.Left += m.ns(ticks)
		}
	}
	return p
}

// recorded is what a replay without a change says, if it comes to its end.
func (m *Model) recorded() Prediction {
	return m.prediction(func(l trace.LocationID) int64 { return m.t.Span[l].Last })
}

// prediction says when ranks end, and the run, whose locations have these ends.
func (m *Model) prediction(end func(trace.LocationID) int64) Prediction {
	p := Prediction{Ranks: make([]RankTimes, len(m.t.World))}
	for l := range m.locations {
		if m.t.Span[l].Events == 0 || m.aside[l] {
			continue
		}
		last := end(trace.LocationID(l))
		if rank := m.t.Rank[l]; int(rank) < len(p.Ranks) {
			x := &p.Ranks[rank]
			x.Baseline = max(x.Baseline, m.ns(m.t.Span[l].Last-m.first))
			x.Predicted = max(x.Predicted, m.ns(last-m.first))
		}
	}
	_, last := m.lastEnd(end)
	p.Baseline, p.RunTime = m.ns(m.last-m.first), m.ns(last-m.first)
	return p
}

func (m *Model) ns(ticks int64) int64 { return m.t.Defs.Clock.Nanoseconds(ticks) }

// end returns the time of a location's last event.
func (r *replay) end(l trace.LocationID) int64 {
	if at := r.master[l]; at != trace.None {
		return r.moved(at, r.t.Span[l].Last)
	}
	return r.in.ends[l] + r.schedule.Shift(l)
}

// moved returns the time on a location that is replayed of one in the run: what lies between
// entering two calls moves with them.
func (r *replay) moved(l trace.LocationID, at int64) int64 {
	calls, clocks := r.t.Calls[l], r.in.clocks[l]
	i := sort.Search(calls.Len(), func(i int) bool { return calls.Ptr(i).Enter > at })
	from, start := r.t.Span[l].First, r.t.Span[l].First
	if i > 0 {
		from, start = calls.Ptr(i-1).Enter, clocks.At(i-1)
	}
	to, end := r.t.Span[l].Last, r.end(l)
	if i < calls.Len() {
		to, end = calls.Ptr(i).Enter, clocks.At(i)
	}
	return between(at, from, to, start, end)
}

// between maps a time in [from, to] to one in [start, end]; what lies outside is moved as the
// nearer end is.
func between(at, from, to, start, end int64) int64 {
	switch {
	case at >= to:
		return at - to + end
	case at <= from || to-from == end-start:
		return at - from + start
	}
	return start + int64(math.Round(float64(at-from)*(float64(end-start)/float64(to-from))))
}
