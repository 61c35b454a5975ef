package overhead

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/stats/fit"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// MeasureOptions says which durations Measure collects.
type MeasureOptions struct {
	// WithWaits leaves wait states in the durations, as the paper does with a benchmark.
	WithWaits bool

	// Keep is how many durations of each key are also returned one by one.
	Keep int

	// Points asks for a picture of every call over the run.
	Points bool
}

// A Measurement holds the durations, in ns, of the communication calls of a trace: what a
// profile is made of.
type Measurement struct {
	// Samples by key. Bounds of memory show in samples that are no longer exact (see fit.Sample.Error). If there are more than a thousand
	// keys, only the size class of bytes is kept.
	Samples map[fit.Key]*fit.Sample

	// Order holds the first durations of each key, in the order in which the calls begin;
	// where ranks have more than are kept, those of the first ranks.
	Order map[fit.Key][]int64

	// Points holds a point for each call, by operation.
	Points map[string][]CallPoint
}

// Add adds the durations of another trace behind those of this one. It takes its samples over.
func (m *Measurement) Add(other *Measurement) {
	if m.Samples == nil {
		m.Samples, m.Order, m.Points = make(map[fit.Key]*fit.Sample), make(map[fit.Key][]int64), make(map[string][]CallPoint)
	}
	for k, s := range other.Samples {
		if m.Samples[k] == nil {
			m.Samples[k] = s
			continue
		}
		m.Samples[k].Combine(s)
	}
	for k, order := range other.Order {
		m.Order[k] = append(m.Order[k], order...)
	}
	for operation, points := range other.Points {
		m.Points[operation] = append(m.Points[operation], points...)
	}
}

// Measure collects the durations of the communication calls of a trace. The calls are
// those of the overhead block: not MPI_Init and MPI_Finalize, nor calls that never end or
// are cut by the selection. Jobs is the number of locations that are gone through at a time.
func Measure(ctx context.Context, t *trace.Trace, part scope.Selection, jobs int, m MeasureOptions) (*Measurement, error) {
	s, err := scope.New(t, part)
	if err != nil {
		return nil, err
	}
	w := waits.NewFinder(t, &s, jobs, 0)
	w.KeepSizes()
	if err := w.Run(ctx); err != nil {
		return nil, fmt.Errorf("finding wait states: %w", err)
	}
	o := NewFinder(w, Options{})
	o.withWaits, o.keep, o.points = m.WithWaits, m.Keep, m.Points
	found, err := o.sample(ctx)
	if err != nil {
		return nil, err
	}
	w.ReleaseSizes()
	return &Measurement{Samples: found.named(), Order: found.inOrder(), Points: found.cloud.points(o.ops, o.rate)}, t.Store.Err()
}

// inOrder returns the first durations of each key, sorted by the calls' begin; those that tie
// by location.
func (s *samples) inOrder() map[fit.Key][]int64 {
	out := make(map[fit.Key][]int64, len(s.order))
	for k, list := range s.order {
		name := s.fitKey(k)
		slices.SortStableFunc(list, func(a, b timedCall) int { return cmp.Compare(a.enter, b.enter) })
		for _, c := range list {
			out[name] = append(out[name], c.time)
		}
	}
	return out
}
