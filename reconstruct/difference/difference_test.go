package difference

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func compared(t testing.TB, a, b *trace.Trace, jobs int) *Differences {
	t.Helper()
	d, err := Find(context.Background(), a, b, Options{Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// inWords writes differences as the cases of testdata do.
func inWords(d *Differences) []string {
	lines := []string{fmt.Sprintf("paired %d, only A %d, only B %d", d.Paired, d.OnlyA, d.OnlyB)}
	for i, p := range []*trace.Place{d.FirstA, d.FirstB} {
		if p != nil {
			lines = append(lines, fmt.Sprintf("first only in %c: location %d, event %d", 'A'+i, p.Location, p.Seq))
		}
	}
	number := func(v float64) string {
		if v == float64(int64(v)) {
			return fmt.Sprint(int64(v))
		}
		return fmt.Sprintf("%.4f", v)
	}
	for _, x := range []struct {
		name string
		*Distribution
	}{{"position", d.Position}, {"block", d.Block}} {
		lines = append(lines, fmt.Sprintf("%s: %d from %d to %d, mean %s, sigma %s, spread %s, fwhm %s",
			x.name, x.N, x.Min, x.Max, strconv.FormatFloat(x.Mean(), 'g', 4, 64), number(x.Sigma()), number(x.Spread()), number(x.FWHM())))
	}
	return lines
}

func TestComparisonsByHand(t *testing.T) {
	tracetest.Cases(t, "compare-*.txtar", func(t *testing.T, parts map[string]string) {
		a := statstest.Merged(t, tracetest.MustParseSplit(t, parts["a"]), merge.Options{Clock: merge.ClockNone})
		b := statstest.Merged(t, tracetest.MustParseSplit(t, parts["b"]), merge.Options{Clock: merge.ClockNone})
		want := strings.Split(strings.TrimSpace(parts["want"]), "\n")
		if diff := cmp.Diff(want, inWords(compared(t, a, b, 1))); diff != "" {
			t.Errorf("- is wanted, + is found:\n%s", diff)
		}
	})
}

// A trace does not differ from itself, and the result does not depend on the jobs.
func TestSameTrace(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "multigrid", Ranks: 8, Iterations: 40, Plant: samples.Plant{Skew: 1000}})
	tr := statstest.Merged(t, m, merge.Options{Clock: merge.ClockAuto})
	d := compared(t, tr, tr, 3)
	if d.OnlyA+d.OnlyB != 0 || d.Paired != eventsOf(m) || d.Position.Min != 0 || d.Position.Max != 0 || d.Block.Sigma() != 0 {
		t.Errorf("got %v", inWords(d))
	}
	other := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: "multigrid", Ranks: 8, Iterations: 41, Seed: 7}),
		merge.Options{Clock: merge.ClockAuto})
	one, many := compared(t, tr, other, 1), compared(t, tr, other, 5)
	if diff := cmp.Diff(one, many, cmp.AllowUnexported(Distribution{})); diff != "" {
		t.Errorf("1 and 5 jobs: %s", diff)
	}
}

func eventsOf(m *samples.Memory) (n uint64) {
	for _, l := range m.Batches {
		for _, b := range l {
			n += uint64(b.Len())
		}
	}
	return n
}

// Traces that have nothing in common take no longer than their length allows.
func TestNothingInCommon(t *testing.T) {
	const n = 200_000
	a, b := calls(t, "f", n), calls(t, "g", n+1000)
	if d := compared(t, a, b, 1); d.Paired != 0 || d.OnlyA != n || d.OnlyB != n+1000 {
		t.Errorf("got %v", inWords(d))
	}
}

// calls is a location that n times enters a region.
func calls(t *testing.T, region string, n int64) *trace.Trace {
	src := tracetest.MustParseSplit(t, "region 0 "+region+"\nlocation 0 a rank=0\n").(*trace.MemorySource)
	var batches []*trace.Batch
	for first := int64(0); first < n; first += 1000 {
		b := &trace.Batch{}
		b.Reset(0, uint64(first))
		for i := first; i < first+1000; i++ {
			b.AddFlow(i, trace.KindEnter, 0)
		}
		batches = append(batches, b)
	}
	src.Batches[0] = batches
	return statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
}

// A partner is found again after as many missing records as the reach allows; after more
// the next section of the trace still pairs.
func TestReach(t *testing.T) {
	for _, c := range []struct{ missing, paired int }{{1, 1002}, {reach, 1002}, {reach + 1, 874}} {
		section := strings.Repeat("  5 Enter x ; 5 Leave x\n", 500)
		a := "location 0 a rank=0\n  1 Enter main\n" + section + "  9 Leave main\n"
		b := "location 0 a rank=0\n  1 Enter main\n" + strings.Repeat("  2 Enter y\n", c.missing) + section + "  9 Leave main\n"
		d := compared(t, statstest.Merged(t, tracetest.MustParseSplit(t, a), merge.Options{Clock: merge.ClockNone}),
			statstest.Merged(t, tracetest.MustParseSplit(t, b), merge.Options{Clock: merge.ClockNone}), 1)
		if d.Paired != uint64(c.paired) || d.Paired+d.OnlyA != 1002 || d.Paired+d.OnlyB != uint64(1002+c.missing) {
			t.Errorf("%d missing: %v, want %d pairs", c.missing, inWords(d), c.paired)
		}
	}
}

// failing is a source whose events cannot be read to the end.
type failing struct{ trace.Source }

var errTorn = errors.New("torn")

func (f failing) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range f.Source.Events(ctx, l) {
			if !yield(b, err) {
				return
			}
		}
		yield(nil, errTorn)
	}
}

func TestUnreadableSides(t *testing.T) {
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 2, Iterations: 2})
	more := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 2})
	good, bad, wide := statstest.Merged(t, m, merge.Options{Clock: merge.ClockNone}),
		statstest.Merged(t, m, merge.Options{Clock: merge.ClockNone}), statstest.Merged(t, more, merge.Options{Clock: merge.ClockNone})
	bad.Source, wide.Source = failing{bad.Source}, failing{wide.Source}
	for i, pair := range [][2]*trace.Trace{{good, bad}, {bad, good}, {good, wide}} {
		if _, err := Find(context.Background(), pair[0], pair[1], Options{}); !errors.Is(err, errTorn) {
			t.Errorf("pair %d: got %v", i, err)
		}
	}
}

// FuzzPairing makes two sequences of events of two strings. Every record is counted once,
// pairs are records of both, and a comparison the other way round finds as many.
func FuzzPairing(f *testing.F) {
	f.Add("abcabc", "abcabc")
	f.Add("abcabcabc", "abxcabbc")
	f.Add("", "aaaa")
	f.Add(strings.Repeat("ab", 300), strings.Repeat("ba", 200)+"q")
	f.Fuzz(func(t *testing.T, x, y string) {
		if len(x) > 5000 || len(y) > 5000 {
			return
		}
		a, b := letters(t, x), letters(t, y)
		d, back := compared(t, a, b, 1), compared(t, b, a, 1)
		if d.Paired+d.OnlyA != uint64(len(x)) || d.Paired+d.OnlyB != uint64(len(y)) {
			t.Errorf("%d pairs, %d and %d alone, of %d and %d", d.Paired, d.OnlyA, d.OnlyB, len(x), len(y))
		}
		if d.Position.N != d.Paired || d.Block.N >= max(d.Paired, 1) || (d.OnlyA > 0) != (d.FirstA != nil) || (d.OnlyB > 0) != (d.FirstB != nil) {
			t.Errorf("%+v", d)
		}
		if x == y && d.OnlyA > 0 || d.Paired > commonLetters(x, y) || back.Paired > commonLetters(x, y) {
			t.Errorf("%d pairs of %q and %q", d.Paired, x, y)
		}
	})
}

// letters is a location that enters a region for each byte, in batches of different size.
func letters(t testing.TB, s string) *trace.Trace {
	src := tracetest.MustParseSplit(t, "region 0 a\nlocation 0 a rank=0\n").(*trace.MemorySource)
	var batches []*trace.Batch
	for first := 0; first < len(s); {
		b := &trace.Batch{}
		b.Reset(0, uint64(first))
		end := min(len(s), first+1+int(s[first]))
		for i := first; i < end; i++ {
			b.AddP2P(trace.P2PRow{Time: int64(i), Kind: trace.KindMpiSend, Tag: uint32(s[i])})
		}
		batches, first = append(batches, b), end
	}
	src.Batches[0] = batches
	return statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
}

// commonLetters is the most pairs that there can be.
func commonLetters(x, y string) (n uint64) {
	var count [256]int
	for i := range len(x) {
		count[x[i]]++
	}
	for i := range len(y) {
		if count[y[i]]--; count[y[i]] >= 0 {
			n++
		}
	}
	return n
}
