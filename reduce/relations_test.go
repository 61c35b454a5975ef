package reduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/reduce"
	"tracekit/samples"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func merged(t *testing.T, src trace.Source) *trace.Trace {
	t.Helper()
	return statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
}

// reduced applies rules to a trace, and returns what is left.
func reduced(t *testing.T, tr *trace.Trace, rules ...reduce.Rule) (*reduce.Reduction, trace.Source) {
	t.Helper()
	r, err := reduce.Apply(t.Context(), tr, rules, reduce.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r, r.Source(tr.Source)
}

// events is what is left of the events of a trace, whatever it says of itself.
func events(t *testing.T, src trace.Source) string {
	t.Helper()
	text := tracetest.MustFormat(t, src)
	return text[strings.Index(text, "\nlocation "):]
}

// Rules each decide for themselves: their order does not matter, and one that is applied twice
// cuts no more than once.
func TestRulesAreASet(t *testing.T) {
	t.Parallel()
	window := reduce.Window{From: scope.Instant{Kind: scope.Fraction, Share: 0.2}, To: scope.Instant{Kind: scope.Fraction, Share: 0.7}}
	rules := []reduce.Rule{window, reduce.Shorter{Ns: 40}, reduce.Functions{Names: []string{"MPI_Send", "MPI_Bcast"}}, reduce.Idle{},
		reduce.Slowest{N: 3}, reduce.Ranks{What: "first two", Keep: []uint32{0, 1}}}
	for seed := range uint64(9) {
		m, _ := samples.Random(seed)
		tr := merged(t, m)
		a, b, c := rules[seed%6], rules[(seed+1+seed/6)%6], rules[(seed+3)%6]
		_, one := reduced(t, tr, a, b, c)
		want := events(t, one)
		for _, order := range [][]reduce.Rule{{c, b, a}, {b, a, c}, {a, b, c, a, a}} {
			if _, other := reduced(t, tr, order...); events(t, other) != want {
				t.Fatalf("seed %d: %s, %s, %s in another order leave\n%s\nwant\n%s", seed, a.Name(), b.Name(), c.Name(), events(t, other), want)
			}
		}
	}
}

// A rule that goes by what calls are finds nothing more in what it has left.
func TestRulesAreDone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		m, _ := samples.Random(seed)
		for _, rule := range []reduce.Rule{reduce.Shorter{Ns: 40}, reduce.Functions{Names: []string{"MPI_Send", "MPI_Bcast"}},
			reduce.Functions{Names: []string{"MPI_Barrier"}, Only: true}, reduce.Idle{}} {
			_, once := reduced(t, merged(t, m), rule)
			r, twice := reduced(t, merged(t, once), rule)
			if events(t, twice) != events(t, once) {
				t.Fatalf("seed %d: %s cuts %+v of what it has left", seed, rule.Name(), r.ByRule)
			}
		}
	}
}

// What is cut and what is left of each location is all.
func TestRecordsAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		m, _ := samples.Random(seed)
		tr := merged(t, m)
		r, left := reduced(t, tr, reduce.Shorter{Ns: 60}, reduce.Ranks{What: "all but one", Keep: []uint32{0}})
		before, after := r.Left(tr)
		sum := uint64(0)
		for l := range before {
			cut, last := uint64(0), uint64(0)
			for s := range r.Cuts.Spans(trace.LocationID(l)) {
				if s.From < last {
					t.Fatalf("seed %d: location %d: span %v after %d", seed, l, s, last)
				}
				last = s.To
				cut += min(s.To, before[l]) - s.From
			}
			read := uint64(0)
			for b := range tracetest.Batches(t, left, trace.LocationID(l)) {
				read += uint64(b.Len())
			}
			if before[l] != cut+after[l] || read > after[l] {
				t.Errorf("seed %d: location %d: %d records, of which %d are cut, %d left and %d read", seed, l, before[l], cut, after[l], read)
			}
			sum += read
		}
		if sum != r.After(tr) {
			t.Errorf("seed %d: %d records are left, %d were read", seed, r.After(tr), sum)
		}
	}
}

// Of a counter the values in a time window stay, those at its bounds too; a counter inside a call
// goes with it.
func TestWindowOfCounters(t *testing.T) {
	t.Parallel()
	tr := merged(t, tracetest.MustParse(t, `
member 0 count
metric 0 members=0
region main
region early
location 0 rank=0
  0 Enter main ; 5 Metric 0 uint64:1
  6 Enter early ; 9 Metric 0 uint64:2 ; 9 Leave early
  10 Metric 0 uint64:3 ; 15 Metric 0 uint64:4 ; 20 Metric 0 uint64:5 ; 21 Metric 0 uint64:6
  40 Leave main
`))
	after := func(ns int64) scope.Instant { return scope.Instant{Kind: scope.AfterNs, Ns: ns} }
	for _, c := range []struct {
		from, to int64
		want     []uint64
	}{{0, 40, []uint64{1, 2, 3, 4, 5, 6}}, {10, 20, []uint64{3, 4, 5}}, {9, 9, []uint64{2}}, {11, 14, nil}, {22, 40, nil}} {
		_, src := reduced(t, tr, reduce.Window{From: after(c.from), To: after(c.to)})
		var got []uint64
		for b := range tracetest.Batches(t, src, 0) {
			got = append(got, b.Metric.Value...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: values %v, want %v", c.from, c.to, got, c.want)
		}
	}
	rule := reduce.Window{From: after(20), To: after(10)}
	if _, err := reduce.Apply(t.Context(), tr, []reduce.Rule{rule}, reduce.Options{}); err == nil {
		t.Error("a window that ends before it begins")
	}
}

// Functions that the trace does not have are an error that says which it has.
func TestUnknownFunctions(t *testing.T) {
	t.Parallel()
	tr := merged(t, tracetest.MustParse(t, "location 0 rank=0\n 1 Enter MPI_Barrier ; 2 Leave MPI_Barrier\n"+
		" 3 Enter MPI_Send ; 4 Leave MPI_Send ; 5 Enter f ; 6 Leave f"))
	none := merged(t, tracetest.MustParse(t, "location 0 rank=0\n 5 Enter f ; 6 Leave f"))
	for _, c := range []struct {
		of    *trace.Trace
		names []string
		want  []string // in the error; none: there is none
	}{
		{tr, []string{"MPI_Send", "MPI_Barrier"}, nil},
		{tr, []string{"MPI_Send", "MPI_Recv"}, []string{"MPI_Recv", "MPI_Barrier, MPI_Send"}},
		{tr, []string{"f"}, []string{"f", "MPI_Barrier, MPI_Send"}},
		{none, []string{"MPI_Send"}, []string{"MPI"}},
	} {
		err := reduce.Functions{Names: c.names}.Check(c.of)
		if (err != nil) != (c.want != nil) {
			t.Errorf("%v: %v", c.names, err)
		}
		for _, text := range c.want {
			if err != nil && !strings.Contains(err.Error(), text) {
				t.Errorf("%v: %v, which does not name %s", c.names, err, text)
			}
		}
	}
}

// A trace is as good as itself, and nothing differs the other way round where it does not differ this way.
func TestCertifyItself(t *testing.T) {
	t.Parallel()
	document := func(time float64, rows ...string) map[string]any {
		list := []any{}
		for i, r := range rows {
			list = append(list, map[string]any{"region": r, "time_ns": time + float64(i)})
		}
		return map[string]any{"profile": list, "shares": map[string]any{"load": time / 100}}
	}
	name := func(x any) string { return x.(map[string]any)["region"].(string) }
	a, b := document(40, "f", "g", "g"), document(50, "g", "h")
	same, err := reduce.Certify(a, a, name)
	if err != nil || len(same) != 4 || reduce.Error(same) != 0 {
		t.Errorf("%d figures, error %v of a trace against itself: %v", len(same), reduce.Error(same), err)
	}
	there, err := reduce.Certify(a, b, name)
	if err != nil {
		t.Fatal(err)
	}
	back, err := reduce.Certify(b, a, name)
	if err != nil {
		t.Fatal(err)
	}
	values := func(list []reduce.Figure, swapped bool) (out []string) {
		text := func(v *float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprint(*v)
		}
		for _, f := range list {
			if swapped {
				f.Full, f.Reduced = f.Reduced, f.Full
			}
			out = append(out, f.Metric+" "+text(f.Full)+" "+text(f.Reduced))
		}
		slices.Sort(out)
		return out
	}
	if x, y := values(there, false), values(back, true); !slices.Equal(x, y) || len(x) != 5 {
		t.Errorf("figures %q, the other way round %q", x, y)
	}
}
