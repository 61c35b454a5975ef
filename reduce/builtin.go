package reduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracekit/engine"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// Window keeps what overlaps a part of the run: calls that end before it or begin after it
// are cut, and values of counters outside of it. What encloses it keeps its times.
type Window struct{ From, To scope.Instant }

// Name implements Rule.
func (r Window) Name() string {
	return "time window " + instant(r.From, "begin") + " to " + instant(r.To, "end")
}

func instant(i scope.Instant, unset string) string {
	switch i.Kind {
	case scope.AfterNs:
		return time.Duration(i.Ns).String()
	case scope.Fraction:
		return strconv.FormatFloat(100*i.Share, 'g', 4, 64) + "%"
	}
	return unset
}

// Judge implements CallRule.
func (r Window) Judge(t *trace.Trace, _ trace.LocationID) (Judge, error) {
	first, last := scope.Run(t)
	ns := t.Defs.Clock.Nanoseconds
	w := window{first: first, clock: t.Defs.Clock, to: ns(last - first)}
	w.from, w.to = r.From.At(w.to, 0), r.To.At(w.to, w.to)
	if w.from > w.to {
		return nil, scope.ErrEmpty
	}
	return w, nil
}

// A window is a part of the run in ns after its first event.
type window struct {
	from, to int64
	first    int64 // tick
	clock    trace.ClockProperties
}

func (w window) Cut(c *Call) (bool, error) {
	return w.clock.Nanoseconds(c.Leave-w.first) < w.from || w.clock.Nanoseconds(c.Enter-w.first) > w.to, nil
}

func (w window) cutCounter(t int64) bool {
	ns := w.clock.Nanoseconds(t - w.first)
	return ns < w.from || ns > w.to
}

// Shorter cuts the calls that take less than a time and in which nothing is communicated,
// forked, locked or launched.
type Shorter struct{ Ns int64 }

// Name implements Rule.
func (r Shorter) Name() string { return "calls shorter than " + time.Duration(r.Ns).String() }

// Judge implements CallRule.
func (r Shorter) Judge(t *trace.Trace, _ trace.LocationID) (Judge, error) {
	return shorter{r.Ns, t.Defs.Clock}, nil
}

type shorter struct {
	ns    int64
	clock trace.ClockProperties
}

func (s shorter) Cut(c *Call) (bool, error) {
	return !c.Busy && s.clock.Nanoseconds(c.Leave-c.Enter) < s.ns, nil
}

// Empty cuts the regions of the program that hold nothing which other rules keep: no MPI call, and nothing outside of MPI calls that is
// tied to other locations. Their time is then that of the regions around them. What says how threads work stays: threads that call no MPI,
// and regions of OpenMP. It is asked after all other rules.
type Empty struct{}

// Name implements Rule.
func (Empty) Name() string { return "regions without kept MPI calls" }

// Judge implements CallRule.
func (r Empty) Judge(t *trace.Trace, l trace.LocationID) (Judge, error) {
	if t.Calls[l].Len() == 0 {
		return nil, nil
	}
	return empty{t.Defs}, nil
}

type empty struct{ defs *trace.Defs }

func (e empty) Cut(c *Call) (bool, error) {
	if c.Held || c.MPI || int(c.Region) >= len(e.defs.Regions) {
		return false, nil
	}
	switch e.defs.Regions[c.Region].Paradigm {
	case trace.ParadigmUnknown, trace.ParadigmUser, trace.ParadigmCompiler, trace.ParadigmSampling:
		return true, nil
	}
	return false, nil
}

// Functions cuts the calls of MPI functions: of those that are named or, with Only, of all
// others. MPI_Init and MPI_Finalize stay unless they are named.
type Functions struct {
	Names []string
	Only  bool
}

// Name implements Rule.
func (r Functions) Name() string {
	if r.Only {
		return "only " + strings.Join(r.Names, ", ")
	}
	return "without " + strings.Join(r.Names, ", ")
}

// Check returns an error that lists what there is if a function that is named is not in the
// trace.
func (r Functions) Check(t *trace.Trace) error {
	var known []string
	for id, f := range t.Defs.MPIFunctions() {
		if f.Class != trace.ClassNone {
			known = append(known, t.Defs.RegionName(trace.RegionID(id)))
		}
	}
	if len(known) == 0 {
		return errors.New("the trace has no MPI functions")
	}
	slices.Sort(known)
	for _, name := range r.Names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the trace has no MPI function %s; it has %s", name, strings.Join(slices.Compact(known), ", "))
		}
	}
	return nil
}

// Judge implements CallRule.
func (r Functions) Judge(t *trace.Trace, _ trace.LocationID) (Judge, error) {
	return &functions{rule: r, defs: t.Defs, cut: make(map[trace.RegionID]bool)}, nil
}

// functions remembers which regions are cut.
type functions struct {
	rule Functions
	defs *trace.Defs
	cut  map[trace.RegionID]bool
}

func (f *functions) Cut(c *Call) (bool, error) {
	if !c.MPI {
		return false, nil
	}
	cut, known := f.cut[c.Region]
	if !known {
		named := slices.Contains(f.rule.Names, f.defs.RegionName(c.Region))
		bounds := c.Class == trace.ClassInit || c.Class == trace.ClassFinalize
		cut = named != f.rule.Only && (named || !bounds)
		f.cut[c.Region] = cut
	}
	return cut, nil
}

// Ranks keeps some ranks.
type Ranks struct {
	What string
	Keep []uint32
}

// Name implements Rule.
func (r Ranks) Name() string { return r.What }

// Ranks implements RankRule.
func (r Ranks) Ranks(_ context.Context, t *trace.Trace, _ int) ([]bool, error) {
	keep := make([]bool, len(t.World))
	for _, rank := range r.Keep {
		if int(rank) >= len(keep) {
			return nil, trace.NoRank(int(rank), len(keep))
		}
		keep[rank] = true
	}
	return keep, nil
}

// Neighbours keeps a rank and those that it exchanges messages with.
type Neighbours struct{ Rank uint32 }

// Name implements Rule.
func (r Neighbours) Name() string { return fmt.Sprintf("neighbours of rank %d", r.Rank) }

// Ranks implements RankRule.
func (r Neighbours) Ranks(ctx context.Context, t *trace.Trace, jobs int) ([]bool, error) {
	keep := make([]bool, len(t.World))
	if int(r.Rank) >= len(keep) {
		return nil, trace.NoRank(int(r.Rank), len(keep))
	}
	keep[r.Rank] = true
	ends, err := engine.Map(ctx, jobs, len(t.Sends), func(_ context.Context, l int) (map[uint32]bool, error) {
		own, out := t.Rank[l] == r.Rank, make(map[uint32]bool)
		for _, rows := range t.Sends[l].Rows {
			for i := range rows {
				if s := &rows[i]; own && s.To(t.Rank) != trace.None {
					out[s.To(t.Rank)] = true
				} else if s.To(t.Rank) == r.Rank && t.Rank[l] != trace.None {
					out[t.Rank[l]] = true
				}
			}
		}
		return out, nil
	})
	for _, e := range ends {
		for rank := range e {
			keep[rank] = true
		}
	}
	return keep, err
}

// Slowest keeps the ranks that are longest in calls that communicate.
type Slowest struct{ N int }

// Name implements Rule.
func (r Slowest) Name() string { return fmt.Sprintf("%d slowest ranks", r.N) }

// Ranks implements RankRule.
func (r Slowest) Ranks(ctx context.Context, t *trace.Trace, jobs int) ([]bool, error) {
	times, err := engine.Map(ctx, jobs, len(t.Calls), func(_ context.Context, l int) (sum int64, err error) {
		for _, rows := range t.Calls[l].Rows {
			for i := range rows {
				sum += rows[i].Leave - rows[i].Enter
			}
		}
		return sum, nil
	})
	if err != nil {
		return nil, err
	}
	total, order, keep := make([]int64, len(t.World)), make([]int, len(t.World)), make([]bool, len(t.World))
	for l, rank := range t.Rank {
		if int(rank) < len(total) {
			total[rank] += times[l]
		}
	}
	for rank := range order {
		order[rank] = rank
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(total[b], total[a]) })
	for _, rank := range order[:min(r.N, len(order))] {
		keep[rank] = true
	}
	return keep, nil
}
