package pattern

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// Laws say how long the instances of a run last, in place of their times. The description then does not grow with the number of instances.
//
// A law is of a rank and a variant: how long an instance lasts on the rank without what calls wait for partners. Waits are made
// by a replay of all ranks (replay.go), so that nothing is received before it is sent.
//
// The base of an instance is when the first rank arrives. The times of a location are the bases of every Stride-th instance, in its
// own clock: what is replayed between two of them is scaled to the time between. The first instance of a run begins, and the last one
// ends, when it did.
//
// Ranks are slow together, and instance after instance. So what is drawn are rows: recorded instances, of which Joint has for each
// law the rank of its time among the rows of the variant. Row follows row as they were recorded, as long as the variants do; else
// any row of the variant. The share of a law lies anywhere in the step of the rank. If all rows are as likely, it is uniform, and the law
// holds.
//
//	every variant has a row, and 256 at most
//	len(Joint) == len(Rows)·masters, in order
type Laws struct {
	Seed  uint64
	Rows  []int // positions in Repeats.Which, ascending
	Joint []uint8
}

// A Law is that of a time, in ticks: of the family that was fitted or, if the test accepts none, of the sample itself.
// At has its quantiles at lawShares; between them the time is linear.
type Law struct {
	Family fit.Family // empty: the sample's
	At     [len(lawShares)]int64
}

// lawShares are the shares at which the quantiles of a law are kept.
var lawShares = [...]float64{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 1}

const (
	anchors   = 16   // bases that are kept of all runs together, beside the ends of runs
	stretches = 6    // of rows that follow each other, spread over what was cut
	stretch   = 40   // rows of each
	lawCalls  = 4096 // durations that a law is fitted to, at most
	lawSeed   = 1
)

// quantile returns the time at a share of the law.
func (l *Law) quantile(share float64) float64 {
	k := 1
	for k < len(lawShares)-1 && lawShares[k] < share {
		k++
	}
	x := (share - lawShares[k-1]) / (lawShares[k] - lawShares[k-1])
	return float64(l.At[k-1]) + float64(x*float64(l.At[k]-l.At[k-1]))
}

// lawOf fits a law to times, which are not negative; it sorts them.
func lawOf(times []int64) (l Law) {
	if len(times) == 0 {
		return l
	}
	slices.Sort(times)
	n := len(times)
	for i, share := range lawShares {
		l.At[i] = times[int(share*float64(n-1)+0.5)]
	}
	if n < 50 || times[0] == times[n-1] {
		return l
	}
	var s fit.Sample
	for _, t := range times {
		s.Add(t)
	}
	r := fit.Fit(&s, fit.Options{Paper: true, Brief: true, Families: []fit.Family{fit.Exponential, fit.LocatedPoisson, fit.Gamma, fit.Weibull,
		fit.LogNormal}})
	if r.Chosen < 0 {
		return l
	}
	m := r.Models[r.Chosen]
	l.Family = m.Family
	for i, share := range lawShares {
		edge := 0.5 / float64(n) // what lies beyond, no sample of this size tells
		l.At[i] = min(max(within(&m, r.Histogram.Window, min(max(share, edge), 1-edge)), 0), 2*times[n-1])
		if i > 0 {
			l.At[i] = max(l.At[i], l.At[i-1])
		}
	}
	return l
}

// within returns the quantile of a law. That of a law over classes lies in its class as far as the share does.
func within(m *fit.Model, window int64, share float64) int64 {
	q := m.Quantile(share)
	if m.Family != fit.Exponential && m.Family != fit.LocatedPoisson {
		return q
	}
	below, upTo := m.CDF(q-window), m.CDF(q)
	if upTo <= below {
		return q
	}
	return q - window + int64(min(max((share-below)/(upTo-below), 0), 1)*float64(window))
}

// model returns the description with laws in place of times. What is not about times is shared.
func (p *plan) model(ctx context.Context, f *finder, exact *Repeats, untimed []unwaited) (*Repeats, error) {
	out := *exact
	out.Locations = slices.Clone(exact.Locations)
	masters := out.masters()
	out.Stride = max((len(out.Which)+anchors-1)/anchors, 1)
	out.Laws = &Laws{Seed: lawSeed, Rows: out.rows()}
	base, interval := p.bases(f.t, masters)
	members := make([][]int, out.Variants) // of each variant: instances, as positions in Which
	for g, v := range out.Which {
		members[v] = append(members[v], g)
	}
	out.Laws.Joint = make([]uint8, len(out.Laws.Rows)*len(masters))
	byVariant := out.byVariant()
	_, err := engine.Map(ctx, f.opts.Jobs, len(masters), func(_ context.Context, c int) (struct{}, error) {
		l := masters[c]
		x, starts, clock := &out.Locations[l], p.division.starts[l], &f.t.Clock.Maps[l]
		own := func(g int) int64 { return untimed[l].own.At(interval[g]) }
		x.Own = nil
		for v, at := range members {
			times := make([]int64, 0, min(len(at), 2*lawCalls))
			for i, step := 0, max(len(at)/lawCalls, 1); i < len(at); i += step {
				times = append(times, own(at[i]))
			}
			x.Own = append(x.Own, lawOf(times))
			rows := slices.Clone(byVariant[v])
			slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(own(out.Laws.Rows[i]), own(out.Laws.Rows[j])) })
			for rank, row := range rows {
				out.Laws.Joint[row*len(masters)+c] = uint8(rank)
			}
		}
		x.Kept = slices.Clone(x.Kept)
		for i := range x.Kept {
			x.Kept[i].Gaps = untimed[l].gaps[i]
		}
		x.Times = nil
		at := 0 // in base
		add := func(k, at int) {
			t := starts.Ptr(k).time
			x.Times = append(x.Times, t-max(clock.At(t)-base[at], 0))
		}
		for _, r := range p.runs {
			for k := r.first; k < r.end; k += out.Stride {
				add(k, at+k-r.first)
			}
			at += r.end - r.first
			add(r.end, at)
			at++
			x.Ends = append(x.Ends, starts.Ptr(r.first).time, starts.Ptr(r.end).time)
		}
		for i := 1; i < len(x.Times); i++ {
			x.Times[i] = max(x.Times[i], x.Times[i-1]) // clocks that were corrected may differ by some ticks
		}
		return struct{}{}, nil
	})
	return &out, err
}

// masters returns the locations of whose times all others have theirs, in order.
func (r *Repeats) masters() (out []trace.LocationID) {
	for l := range r.Locations {
		if x := &r.Locations[l]; len(x.Kept) > 0 && x.Master == trace.LocationID(l) {
			out = append(out, trace.LocationID(l))
		}
	}
	return out
}

// bases returns when the first rank arrives at each instance of the runs and at their ends, and the interval of each cut instance.
func (p *plan) bases(t *trace.Trace, masters []trace.LocationID) (base []int64, interval []int) {
	for _, r := range p.runs {
		for k := r.first; k <= r.end; k++ {
			if k < r.end {
				interval = append(interval, k)
			}
			first := int64(math.MaxInt64)
			for _, l := range masters {
				first = min(first, t.Clock.Maps[l].At(p.division.starts[l].Ptr(k).time))
			}
			base = append(base, first)
		}
	}
	return base, interval
}

// rows chooses the rows of laws: stretches spread over what was cut, and one instance of each variant that they lack.
func (r *Repeats) rows() (rows []int) {
	n, seen := len(r.Which), make([]bool, r.Variants)
	for s := range stretches {
		from := 0
		if n > stretches*stretch {
			from = (n - stretch) * s / (stretches - 1)
		} else {
			from = s * stretch
		}
		for g := from; g < min(from+stretch, n); g++ {
			rows = append(rows, g)
			seen[r.Which[g]] = true
		}
	}
	for g, v := range r.Which {
		if !seen[v] {
			seen[v] = true
			rows = append(rows, g)
		}
	}
	slices.Sort(rows)
	return rows
}

// byVariant returns the rows of each variant, as positions in Rows.
func (r *Repeats) byVariant() [][]int {
	out := make([][]int, r.Variants)
	for row, g := range r.Laws.Rows {
		out[r.Which[g]] = append(out[r.Which[g]], row)
	}
	return out
}

// Families returns how many laws are of each family, and how many those of their samples.
func (r *Repeats) Families() (families map[fit.Family]int, empirical int) {
	families = make(map[fit.Family]int)
	for l := range r.Locations {
		for i := range r.Locations[l].Own {
			if f := r.Locations[l].Own[i].Family; f == "" {
				empirical++
			} else {
				families[f]++
			}
		}
	}
	return families, empirical
}

// A draws draws the rows of instances, in order. All locations draw the same.
type draws struct {
	laws     *Laws
	rows     [][]int // of each variant
	variants []int   // of each row
	row      int     // that was drawn last, -1 before
}

func (r *Repeats) draws() *draws {
	d := &draws{laws: r.Laws, rows: r.byVariant(), row: -1}
	for _, g := range r.Laws.Rows {
		d.variants = append(d.variants, r.Which[g])
	}
	return d
}

// next returns the row of an instance of a variant.
func (d *draws) next(v, g int) int {
	rows, next := d.laws.Rows, d.row+1
	if d.row < 0 || next >= len(rows) || rows[next] != rows[d.row]+1 || d.variants[next] != v {
		next = d.rows[v][int(d.laws.uniform(g, 1)*float64(len(d.rows[v])))]
	}
	d.row = next
	return next
}

// uniform returns a number in [0, 1) that depends on the seed, the instance and what it is for.
func (x *Laws) uniform(g, what int) float64 {
	return float64(numbers.Mix(x.Seed*0x9E3779B97F4A7C15+uint64(g)*0xD1B54A32D192ED03+uint64(what)*0x8CB92BA72F3D8DD7)>>11) / (1 << 53)
}
