package page

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// text spells a curve: begins and values.
func (c *Curve) text() string {
	var words []string
	for _, x := range c.Pieces {
		words = append(words, fmt.Sprintf("%d:%g", x.StartNs, x.Mean))
	}
	return strings.Join(words, " ")
}

// TestMeters: what each kind of counter is over time, worked out by hand. A run of 100 ns, a tick
// a ns; rates are a second.
func TestMeters(t *testing.T) {
	const frame = "\nmetric 0 members=0\nlocation 0 rank0 rank=0\n  0 Enter main ; "
	for _, c := range []struct{ name, member, samples, want string }{
		{"accumulated, from its first sample on", "mode=0", "10 Metric 0 uint64:100 ; 30 Metric 0 uint64:140 ; 50 Metric 0 uint64:140",
			"0:NaN 10:2e+09 30:0 50:NaN"},
		{"accumulated, two samples at one time", "mode=0",
			"10 Metric 0 uint64:0 ; 20 Metric 0 uint64:5 ; 20 Metric 0 uint64:7 ; 30 Metric 0 uint64:15", "0:NaN 10:5e+08 20:1e+09 30:NaN"},
		{"accumulated, wrapped around at 64 bits", "mode=0", "10 Metric 0 uint64:18446744073709551611 ; 20 Metric 0 uint64:5",
			"0:NaN 10:1e+09 20:NaN"},
		{"accumulated, set back: what it counted is not known", "mode=0",
			"10 Metric 0 uint64:70 ; 20 Metric 0 uint64:10 ; 40 Metric 0 uint64:30", "0:NaN 20:1e+09 40:NaN"},
		{"a hardware counter that was not ready", "mode=0 type=1",
			"0 Metric 0 uint64:0 ; 10 Metric 0 uint64:4611686018427387904 ; 20 Metric 0 uint64:4611686018427387914", "0:NaN 10:1e+09 20:NaN"},
		{"absolute, at the moment: until the next", "mode=17 value=10", "10 Metric 0 double:1.5 ; 40 Metric 0 double:3",
			"0:NaN 10:1.5 40:3"},
		{"absolute, no number", "mode=17 value=10", "10 Metric 0 double:1.5 ; 40 Metric 0 double:0x7ff8000000000001", "0:NaN 10:1.5"},
		{"absolute, for the time before", "mode=33", "10 Metric 0 uint64:5 ; 40 Metric 0 uint64:7", "0:5 10:7 40:NaN"},
		{"absolute, for the time after", "mode=49", "10 Metric 0 uint64:5 ; 40 Metric 0 uint64:7", "0:NaN 10:5 40:7"},
		{"increments since the last", "mode=34", "10 Metric 0 uint64:5 ; 30 Metric 0 uint64:20", "0:5e+08 10:1e+09 30:NaN"},
		{"increments until the next", "mode=50", "10 Metric 0 uint64:5 ; 20 Metric 0 uint64:80", "0:NaN 10:5e+08 20:1e+09"},
		{"in units", "mode=17 exponent=3 base=1", "0 Metric 0 uint64:5", "0:5000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, a := analysedText(t, "member 0 x "+c.member+frame+c.samples+" ; 100 Leave main\n")
			tl := timeline(t, tr, a, 1<<20)
			if len(tl.Curves) != 1 || tl.Curves[0].text() != c.want {
				t.Errorf("got %v, want %s", tl.Curves, c.want)
			}
		})
	}
}

func analysedText(t *testing.T, text string) (*trace.Trace, *analysis.Result) {
	t.Helper()
	return statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{}, analysis.Options{})
}

// counted makes a trace of rows that count at random moments, and tells how much each has counted.
func counted(t *testing.T, seed uint64, rows, samples int) (*trace.Trace, *analysis.Result, []float64) {
	r := rand.New(rand.NewPCG(seed, 3))
	var text strings.Builder
	text.WriteString("member 0 work mode=0\nmetric 0 members=0\n")
	sums := make([]float64, rows)
	for l := range rows {
		fmt.Fprintf(&text, "location %d r%d rank=%d\n  0 Enter main ; 0 Metric 0 uint64:0\n", l, l, l)
		at, n := int64(0), uint64(0)
		for range samples {
			at += 1 + r.Int64N(2000)
			n += r.Uint64N(500)
			fmt.Fprintf(&text, "  %d Metric 0 uint64:%d\n", at, n)
		}
		fmt.Fprintf(&text, "  %d Leave main\n", at)
		sums[l] = float64(n)
	}
	tr, a := analysedText(t, text.String())
	return tr, a, sums
}

// area is what a curve's rate adds up to, and holds its pieces against one another. Cells in which
// the counter is known for a part of the time only are taken for whole: slack is what that may be.
func area(t *testing.T, c *Curve, length int64) (sum, slack float64) {
	t.Helper()
	for i, x := range c.Pieces {
		until := length
		if i+1 < len(c.Pieces) {
			until = c.Pieces[i+1].StartNs
		}
		if until <= x.StartNs || i == 0 && x.StartNs != 0 {
			t.Errorf("piece %d from %d to %d", i, x.StartNs, until)
		}
		if !math.IsNaN(x.Mean) {
			sum += x.Mean * float64(until-x.StartNs) / 1e9
			slack = max(slack, x.Max*float64(c.StepNs)/1e9)
			if x.Min > x.Mean*(1+1e-12) || x.Max < x.Mean*(1-1e-12) {
				t.Errorf("mean %g is not between %g and %g", x.Mean, x.Min, x.Max)
			}
		}
	}
	return sum, slack
}

// TestCurvesConserve: however coarse curves are, they add up to what was counted; so does the sum
// over rows; and there are not more pieces than may be.
func TestCurvesConserve(t *testing.T) {
	tr, a, counts := counted(t, 1, 3, 3000)
	all := 0.0
	for _, n := range counts {
		all += n
	}
	for _, limit := range []int{1 << 20, 3000, 600} {
		tl, err := NewTimeline(context.Background(), tr, a, Limits{Runs: 1000, Pieces: limit}, 2)
		if err != nil {
			t.Fatal(err)
		}
		loose := 0.0
		for range 3 {
			loose = 0
			for i := range tl.Curves {
				c := &tl.Curves[i]
				sum, slack := area(t, c, tl.LengthNs)
				loose += 2 * slack
				if math.Abs(sum-counts[c.Row]) > slack+1e-6 {
					t.Errorf("limit %d: row %d has %g, want %g within %g", limit, c.Row, sum, counts[c.Row], slack)
				}
				if len(c.Pieces) > max(limit, leastPieces)+2 {
					t.Errorf("limit %d: %d pieces", limit, len(c.Pieces))
				}
			}
			tl.thinCurves()
		}
		tl.sumCurves(600)
		sum, slack := area(t, &tl.Curves[0], tl.LengthNs)
		if len(tl.Curves) != 1 || tl.Curves[0].Row != trace.None || math.Abs(sum-all) > loose+slack+1e-6 {
			t.Errorf("limit %d: %d curves, the sum is %g, want %g", limit, len(tl.Curves), sum, all)
		}
	}
}

// TestCurvesOfIndex: from one time to another an index has the pieces that the exact curve
// has, at any resolution it adds up to the same.
func TestCurvesOfIndex(t *testing.T) {
	tr, a, _ := counted(t, 2, 2, 5000)
	exact := timeline(t, tr, a, 1<<20)
	x, _, err := NewIndex(context.Background(), tr, a, Limits{Runs: 1000, Pieces: 1000}, 2)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		from := r.Int64N(exact.LengthNs)
		to := from + 1 + r.Int64N(exact.LengthNs-from)
		for k, c := range x.curves {
			whole := exact.Curves[k].Pieces
			for _, limit := range []int{1 << 20, 500, 20} {
				s := c.sketch(from, to, limit)
				var got, want float64
				for i, p := range s.kept.rows {
					until := to
					if i+1 < len(s.kept.rows) {
						until = s.kept.rows[i+1].StartNs
					}
					if !math.IsNaN(p.Mean) {
						got += p.Mean * float64(until-max(p.StartNs, from))
					}
				}
				most := 0.0
				for i, p := range whole {
					until := exact.LengthNs
					if i+1 < len(whole) {
						until = whole[i+1].StartNs
					}
					if d := min(until, to) - max(p.StartNs, from); d > 0 && !math.IsNaN(p.Mean) {
						want += p.Mean * float64(d)
						most = max(most, p.Mean)
					}
				}
				slack := 1e-6*want + 1
				if s.step > 1 { // cells that are cut at both ends, and at the end of the row
					slack += 3 * most * float64(s.step)
				}
				if len(s.kept.rows) > 2*limit+2 || math.Abs(got-want) > slack {
					t.Fatalf("from %d to %d in %d pieces of %d ns: %g, want %g", from, to, len(s.kept.rows), s.step, got, want)
				}
			}
		}
	}
}

// TestNamesOfCounters: counters of one name are told apart, by unit or number.
func TestNamesOfCounters(t *testing.T) {
	var counters []Counter
	for _, c := range [][2]string{{"load", "#"}, {"power", "W"}, {"power", "J"}, {"clock", "Hz"}, {"clock", "Hz"}} {
		counters = append(counters, Counter{Name: c[0], Unit: c[1]})
	}
	want := []string{"load", "power (W)", "power (J)", "clock (Hz) (1)", "clock (Hz) (2)"}
	if got := namesOf(counters); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
