package pattern

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// Laws say when the instances of a run begin, in place of their times. The description then does not grow with the number of instances.
//
// The base of an instance is when the first rank arrives; a rank is late by what it arrives after that. The times of a location are
// the bases of every Stride-th instance, in its own clock. Between two of them the lengths of instances are drawn from the law of their
// variant, and scaled to the time between. What a rank is late is drawn from its own law. The first instance of a run begins, and the
// last one ends, when it did.
//
// Ranks are late together, and instance after instance. So what is drawn are rows: recorded instances, of which Joint has for each
// law the rank of its time among the rows of the variant. Row follows row as they were recorded, as long as the variants do; else
// any row of the variant. The share of a law lies anywhere in the step of the rank. If all rows are as likely, it is uniform, and the law holds.
//
//	len(Periods) == Variants
//	every variant has a row, and 256 at most
//	len(Joint) == len(Rows)·columns: the length, then the masters in order
type Laws struct {
	Seed    uint64
	Periods []Law
	Rows    []int // positions in Repeats.Which, ascending
	Joint   []uint8
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
	anchors   = 16   // times of each location that are kept of all runs together, beside the ends of runs
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
func (p *plan) model(ctx context.Context, f *finder, exact *Repeats) (*Repeats, error) {
	out := *exact
	out.Locations = slices.Clone(exact.Locations)
	var masters []trace.LocationID
	for l := range out.Locations {
		if x := &out.Locations[l]; len(x.Kept) > 0 && len(x.Times) > 0 {
			masters = append(masters, trace.LocationID(l))
		}
	}
	out.Stride = max((len(out.Which)+anchors-1)/anchors, 1)
	out.Laws = &Laws{Seed: lawSeed, Rows: out.rows()}
	b := p.bases(f.t, masters)
	members := make([][]int, out.Variants) // of each variant: instances, as positions in Which
	for g, v := range out.Which {
		members[v] = append(members[v], g)
	}
	columns := 1 + len(masters)
	out.Laws.Joint = make([]uint8, len(out.Laws.Rows)*columns)
	byVariant := out.byVariant()
	column := func(c int, value func(g int) int64) (laws []Law) {
		for v, at := range members {
			times := make([]int64, 0, min(len(at), 2*lawCalls))
			for i, step := 0, max(len(at)/lawCalls, 1); i < len(at); i += step {
				times = append(times, value(at[i]))
			}
			laws = append(laws, lawOf(times))
			rows := slices.Clone(byVariant[v])
			slices.SortStableFunc(rows, func(i, j int) int {
				return cmp.Compare(value(out.Laws.Rows[i]), value(out.Laws.Rows[j]))
			})
			for rank, row := range rows {
				out.Laws.Joint[row*columns+c] = uint8(rank)
			}
		}
		return laws
	}
	_, err := engine.Map(ctx, f.opts.Jobs, columns, func(_ context.Context, c int) (struct{}, error) {
		if c == 0 {
			out.Laws.Periods = column(0, b.length)
			return struct{}{}, nil
		}
		l := masters[c-1]
		x, starts, clock := &out.Locations[l], p.division.starts[l], &f.t.Clock.Maps[l]
		late := func(k, at int) int64 { return max(clock.At(starts.Ptr(k).time)-b.at[at], 0) }
		x.Late = column(c, func(g int) int64 { return late(b.interval[g], b.place[g]) })
		x.Times = nil
		at := 0 // in b.at
		for _, r := range p.runs {
			for k := r.first; k < r.end; k += out.Stride {
				x.Times = append(x.Times, starts.Ptr(k).time-late(k, at+k-r.first))
			}
			at += r.end - r.first
			x.Times = append(x.Times, starts.Ptr(r.end).time-late(r.end, at))
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

// bases are when the first rank arrives at each instance of the runs, and at their ends.
type bases struct {
	at       []int64
	interval []int // of each cut instance
	place    []int // of each cut instance, in at
}

// length returns how long a cut instance is.
func (b *bases) length(g int) int64 { return max(b.at[b.place[g]+1]-b.at[b.place[g]], 0) }

func (p *plan) bases(t *trace.Trace, masters []trace.LocationID) *bases {
	b := &bases{}
	for _, r := range p.runs {
		for k := r.first; k <= r.end; k++ {
			if k < r.end {
				b.interval, b.place = append(b.interval, k), append(b.place, len(b.at))
			}
			first := int64(math.MaxInt64)
			for _, l := range masters {
				first = min(first, t.Clock.Maps[l].At(p.division.starts[l].Ptr(k).time))
			}
			b.at = append(b.at, first)
		}
	}
	return b
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

// disorder says how far ranks are out of step: the time in which 9 of 10 arrivals of a rank lie, over the length of an instance, both in
// the mean. Where it is large, what a rank is late decides who waits for whom, and laws lose that.
func (r *Repeats) disorder() float64 {
	count := make([]float64, r.Variants)
	for _, v := range r.Which {
		count[v]++
	}
	var spread, length, masters float64
	for v, n := range count {
		length += n * r.Laws.Periods[v].quantile(0.5)
		for l := range r.Locations {
			if late := r.Locations[l].Late; len(late) > 0 {
				spread += n * (late[v].quantile(0.95) - late[v].quantile(0.05))
			}
		}
	}
	for l := range r.Locations {
		if len(r.Locations[l].Late) > 0 {
			masters++
		}
	}
	return spread / max(masters*length, 1)
}

// Families returns how many laws are of each family, and how many those of their samples.
func (r *Repeats) Families() (families map[fit.Family]int, empirical int) {
	families = make(map[fit.Family]int)
	count := func(laws []Law) {
		for i := range laws {
			if laws[i].Family == "" {
				empirical++
			} else {
				families[laws[i].Family]++
			}
		}
	}
	if r.Laws != nil {
		count(r.Laws.Periods)
		for l := range r.Locations {
			count(r.Locations[l].Late)
		}
	}
	return families, empirical
}

// columns returns the number of columns of Joint.
func (r *Repeats) columns() int { return r.column(trace.LocationID(len(r.Locations)-1)) + 1 }

// column returns which column of Joint is a master's.
func (r *Repeats) column(master trace.LocationID) (c int) {
	for l := range r.Locations[:master+1] {
		if len(r.Locations[l].Late) > 0 {
			c++
		}
	}
	return c
}

// A drawn is when the instances of one run begin at one location, drawn in order. All locations draw the same lengths.
type drawn struct {
	laws    *Laws
	late    []Law
	column  int
	columns int   // of Joint
	which   []int // variants of the run
	first   int   // its first instance, over all runs
	stride  int
	at      []int64 // bases of every stride-th instance, and of the end
	end     int64

	i        int // the instance that was asked for last, and when it begins
	last     int64
	rows     [][]int // of each variant
	variants []int   // of each row
	row      int     // that was drawn last, -1 before
	from     int     // first instance of the block
	block    []draw
}

// A draw is how far into its block an instance begins, as a share, and what the location is late.
type draw struct{ share, late float64 }

// begin returns when instance i begins; i may be the same as before, or one more, or the number of instances.
func (d *drawn) begin(i int) int64 {
	switch {
	case i <= d.i:
		return d.last
	case i >= len(d.which):
		return d.end
	}
	if i >= d.from+len(d.block) {
		d.from += len(d.block)
		d.draw(min(d.stride, len(d.which)-d.from))
	}
	k := d.from / d.stride
	x := d.block[i-d.from]
	begin := math.Round(float64(d.at[k]) + float64(x.share*float64(d.at[k+1]-d.at[k])) + x.late)
	d.i = i
	if begin >= float64(d.end) {
		d.last = d.end
	} else {
		d.last = min(max(int64(begin), d.last), d.end)
	}
	return d.last
}

// draw draws the next n instances.
func (d *drawn) draw(n int) {
	d.block = make([]draw, n)
	sum := 0.0
	for i := range n {
		v, g := d.which[d.from+i], uint64(d.first+d.from+i)
		d.row = d.next(v, g)
		rows, u := float64(len(d.rows[v])), d.laws.uniform(g, 0)
		share := func(c int) float64 { return (float64(d.laws.Joint[d.row*d.columns+c]) + u) / rows }
		d.block[i] = draw{sum, d.late[v].quantile(share(d.column))}
		sum += d.laws.Periods[v].quantile(share(0))
	}
	for i := range d.block {
		if d.block[i].share /= sum; sum == 0 {
			d.block[i].share = float64(i) / float64(n)
		}
	}
}

// next returns the row of an instance of a variant.
func (d *drawn) next(v int, g uint64) int {
	rows, next := d.laws.Rows, d.row+1
	if d.row >= 0 && next < len(rows) && rows[next] == rows[d.row]+1 && d.variants[next] == v {
		return next
	}
	return d.rows[v][int(d.laws.uniform(g, 1)*float64(len(d.rows[v])))]
}

// uniform returns a number in [0, 1) that depends on the seed, the instance and what it is for.
func (x *Laws) uniform(g uint64, c int) float64 {
	z := x.Seed*0x9E3779B97F4A7C15 + g*0xD1B54A32D192ED03 + uint64(c)*0x8CB92BA72F3D8DD7
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) / (1 << 53)
}
