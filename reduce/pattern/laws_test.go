package pattern_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/trace"
)

// TestSizeIsConstant states that with laws what is kept of a hundred times as many iterations is no larger, and that all of them come
// again: the same records, the ends of what was cut when they were.
func TestSizeIsConstant(t *testing.T) {
	size := map[int]int{}
	for _, n := range []int{400, 4000, 40000} {
		m := generate(t, samples.Options{Program: "halo", Ranks: 3, Iterations: n, Seed: 3, Plant: samples.Plant{Odd: 50}})
		r, reduced := cut(t, m, pattern.Options{Times: pattern.LawTimes})
		if r.Repeats.Laws == nil || r.Described >= r.Exact {
			t.Fatalf("%d iterations: %d bytes with laws, %d without", n, r.Described, r.Exact)
		}
		size[n] = r.Described
		repeats, err := pattern.Decode(reduced.Info().Properties[trace.PropertyRepeats], len(m.Defs.Locations))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Repeats, repeats); diff != "" {
			t.Fatalf("the description changes when it is written: %s", diff)
		}
		if n == 4000 {
			checkRegenerated(t, m)
			checkEnds(t, m, reduced, repeats)
		}
	}
	for n, bytes := range size {
		if 20*bytes > 21*size[400] {
			t.Errorf("%d iterations take %d bytes, 400 take %d", n, bytes, size[400])
		}
	}
}

// checkEnds states that a regenerated trace begins and ends when the run did, on each location.
func checkEnds(t *testing.T, m *trace.Trace, reduced trace.Source, r *pattern.Repeats) {
	t.Helper()
	again := regenerated(t, reduced, r)
	for l := range m.Defs.Locations {
		want, got := records(t, m.Source, trace.LocationID(l)), records(t, again, trace.LocationID(l))
		if first, last := got[0].time, got[len(got)-1].time; first != want[0].time || last != want[len(want)-1].time {
			t.Errorf("location %d: %d to %d, want %d to %d", l, first, last, want[0].time, want[len(want)-1].time)
		}
	}
}

// TestLawsThatArePlanted states that lengths of iterations that are drawn from a law are given back by that law: their quantiles are
// those of the recorded run within a few of a hundred, and so is what ranks are late.
func TestLawsThatArePlanted(t *testing.T) {
	m := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 5000, Seed: 3})
	r, reduced := cut(t, m, pattern.Options{Times: pattern.LawTimes})
	again := regenerated(t, reduced, r.Repeats)
	for l := range m.Defs.Locations {
		want, got := lengths(t, m, m.Source, l, r), lengths(t, m, again, l, r)
		for _, share := range []int{5, 25, 50, 75, 95} {
			a, b := want[len(want)*share/100], got[len(got)*share/100]
			if 20*max(a-b, b-a) > a {
				t.Errorf("location %d: %d %% of the iterations last up to %d, recorded %d", l, share, b, a)
			}
		}
	}
}

// lengths returns how long iterations are, in order of length.
func lengths(t *testing.T, m *trace.Trace, src trace.Source, l int, r *pattern.Result) (out []int64) {
	t.Helper()
	last := int64(-1)
	for _, x := range records(t, src, trace.LocationID(l)) {
		if x.table != trace.TableFlow || trace.Kind(x.what[0]) != trace.KindEnter ||
			m.Defs.RegionName(trace.RegionID(x.what[1])) != r.Site.Operation {
			continue
		}
		if last >= 0 {
			out = append(out, x.time-last)
		}
		last = x.time
	}
	slices.Sort(out)
	return out
}

// TestLawsUnasked states that laws are taken unasked, whether ranks are in step or not, and never where they are asked not to; and that
// what they take is within the bound that is told.
func TestLawsUnasked(t *testing.T) {
	for _, program := range []string{"halo", "sweep", "ring"} {
		m := generate(t, samples.Options{Program: program, Ranks: 4, Iterations: 1000, Seed: 3})
		if r, _ := cut(t, m, pattern.Options{}); r.Repeats.Laws == nil || r.Described > r.Bound {
			t.Errorf("%s: laws %v, %d bytes within %d", program, r.Repeats.Laws != nil, r.Described, r.Bound)
		}
		if r, _ := cut(t, m, pattern.Options{Times: pattern.ExactTimes}); r.Repeats.Laws != nil {
			t.Errorf("%s: exact times are asked for", program)
		}
	}
}

// TestReplayed states that nothing is received before it is sent where times come from laws, but for some messages at the ends of what was
// cut, and that ranks wait for late senders as long as they did.
func TestReplayed(t *testing.T) {
	check := func(t *testing.T, m *trace.Trace, ends uint64, within float64) {
		r, reduced := cut(t, m, pattern.Options{Times: pattern.LawTimes})
		if r.Repeats.Laws == nil {
			t.Fatal("times are exact")
		}
		again := merged(t, regenerated(t, reduced, r.Repeats))
		if back := again.Clock.Messages.After; back > ends {
			t.Errorf("%d messages run backwards", back)
		}
		if want, got := late(m), late(again); math.Abs(got-want) > within*want {
			t.Errorf("ranks wait %g ticks for late senders, %g in the run", got, want)
		}
	}
	for _, program := range []string{"halo", "sweep", "ring"} {
		t.Run(program, func(t *testing.T) {
			check(t, generate(t, samples.Options{Program: program, Ranks: 6, Iterations: 1000, Seed: 3, Plant: samples.Plant{Odd: 50}}), 0, 0.2)
		})
	}
	for _, name := range []string{"otf2/npb-lu-S-4", "otf2/npb-cg-W-8-run1", "otf2/npb-mg-W-8", "otf2/npb-bt-S-16"} {
		t.Run(name, func(t *testing.T) { check(t, real(t, name), 40, 0.15) })
	}
}

// late returns how long calls wait for senders that come late.
func late(m *trace.Trace) (sum float64) {
	for l := range m.Recvs {
		calls := map[uint32]int64{}
		for _, rows := range m.Recvs[l].Rows {
			for _, r := range rows {
				if r.State != trace.Matched || r.Call == trace.None {
					continue
				}
				call := m.Calls[l].At(int(r.Call))
				send := m.Sends[r.SendLoc].At(int(r.Send))
				if send.Call != trace.None {
					begun := m.Calls[r.SendLoc].At(int(send.Call)).Enter
					calls[r.Call] = max(calls[r.Call], min(begun, call.Leave)-call.Enter)
				}
			}
		}
		for _, wait := range calls {
			sum += float64(wait)
		}
	}
	return sum
}

// TestLawOf states that a law that times are drawn from is found, with its quantiles; and that a sample of which no law holds has its own.
func TestLawOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var drawn, peaks []int64
	for i := range 2000 {
		drawn = append(drawn, int64(1000+500*r.ExpFloat64()))
		peaks = append(peaks, []int64{1000, 5000, 9_000_000}[i%3])
	}
	law := pattern.LawOf(drawn)
	if law.Family == "" {
		t.Errorf("no law for exponential times")
	}
	for i, share := range pattern.LawShares[1 : len(pattern.LawShares)-1] {
		if got, want := float64(law.At[i+1]), 1000-500*math.Log(1-share); math.Abs(got-want) > 0.04*want {
			t.Errorf("the %g quantile is %g, want %g", share, got, want)
		}
	}
	if law := pattern.LawOf(peaks); law.Family != "" || law.At[0] != 1000 || law.At[len(law.At)-1] != 9_000_000 {
		t.Errorf("three peaks: %s %v", law.Family, law.At)
	}
	if law := pattern.LawOf([]int64{7, 7, 7}); slices.Min(law.At[:]) != 7 || slices.Max(law.At[:]) != 7 {
		t.Errorf("equal times: %v", law.At)
	}
}
