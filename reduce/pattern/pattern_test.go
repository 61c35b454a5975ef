package pattern_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/samples"
	"tracekit/spill"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// generate returns a generated trace, reconciled.
func generate(t *testing.T, o samples.Options) *trace.Trace {
	t.Helper()
	return merged(t, statstest.Generated(t, o))
}

func merged(t *testing.T, src trace.Source) *trace.Trace {
	t.Helper()
	return statstest.Merged(t, src, merge.Options{Jobs: 2})
}

// cut reduces a trace to what does not repeat.
func cut(t testing.TB, m *trace.Trace, o pattern.Options) (*pattern.Result, trace.Source) {
	t.Helper()
	rule := &pattern.Rule{Options: o}
	r, err := reduce.Apply(t.Context(), m, []reduce.Rule{rule}, reduce.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return rule.Found, r.Source(m.Source)
}

func events(m *trace.Trace) (n uint64) {
	for _, s := range m.Span {
		n += s.Events
	}
	return n
}

// A record is an event but for when it was, and which number its request has.
type record struct {
	table trace.TableID
	what  [8]uint64
	began uint64 // of what uses a request: the record that started it
	time  int64
}

// records reads a location.
func records(t *testing.T, src trace.Source, l trace.LocationID) (out []record) {
	t.Helper()
	started := map[uint64]uint64{}
	for b := range tracetest.Batches(t, src, l) {
		for seq, row := range b.Events {
			if seq != uint64(len(out)) {
				t.Fatalf("location %d: event %d after %d", l, seq, len(out))
			}
			r := record{table: row.Table}
			r.time = b.Time(row)
			k, request := row.First, uint64(0)
			switch row.Table {
			case trace.TableFlow:
				r.what = [8]uint64{uint64(b.Flow.Kind[k]), uint64(b.Flow.Region[k])}
			case trace.TableP2P:
				p := &b.P2P
				r.what = [8]uint64{uint64(p.Kind[k]), uint64(p.Peer[k]), uint64(p.Comm[k]), uint64(p.Tag[k]), p.Bytes[k]}
				request = p.Request[k]
			case trace.TableColl:
				c := &b.Coll
				r.what = [8]uint64{uint64(c.Kind[k]), uint64(c.Op[k]), uint64(c.Comm[k]), uint64(c.Root[k]), c.Sent[k], c.Received[k]}
				request = c.Request[k]
			case trace.TableOther:
				r.what[0] = uint64(b.Other.Kind[k])
			}
			switch trace.Kind(r.what[0]) {
			case trace.KindMpiIsend, trace.KindMpiIrecvRequest, trace.KindNonBlockingCollectiveRequest:
				started[request] = seq
			default:
				r.began = started[request]
			}
			out = append(out, r)
		}
	}
	return out
}

// TestRegenerated states that what was cut comes again: the same records in the same order,
// every iteration when it was, as long as it was.
func TestRegenerated(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, threads := range []int{1, 3} {
			o := samples.Options{Program: p.Name, Ranks: 6, Iterations: 100, Seed: 3, Threads: threads,
				Plant: samples.Plant{Odd: 50, LateSender: 3000}}
			t.Run(fmt.Sprintf("%s-%d", p.Name, threads), func(t *testing.T) { checkRegenerated(t, generate(t, o)) })
		}
	}
}

func checkRegenerated(t *testing.T, m *trace.Trace) {
	r, reduced := cut(t, m, pattern.Options{})
	if r.Repeats == nil {
		t.Log("nothing repeats")
		return
	}
	repeats, err := pattern.Decode(reduced.Info().Properties[trace.PropertyRepeats], len(m.Defs.Locations))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Repeats, repeats); diff != "" {
		t.Fatalf("the description changes when it is written: %s", diff)
	}
	again := regenerated(t, reduced, repeats)
	gone := uint64(0)
	for l := range m.Defs.Locations {
		l := trace.LocationID(l)
		want, got := records(t, m.Source, l), records(t, again, l)
		gone += uint64(len(want) - len(records(t, reduced, l)))
		if says, said := again.Defs().Locations[l].Events, m.Defs.Locations[l].Events; len(want) != len(got) || said == uint64(len(want)) &&
			says != said {
			t.Fatalf("location %d has %d events, and says %d, want %d and %d", l, len(got), says, len(want), said)
		}
		last := int64(0)
		for i := range want {
			x, y := want[i], got[i]
			if y.time < last {
				t.Fatalf("location %d: event %d is at %d, behind one at %d", l, i, y.time, last)
			}
			last = y.time
			if x.time, y.time = 0, 0; x != y {
				t.Fatalf("location %d: event %d is %v, want %v", l, i, y, x)
			}
		}
	}
	if gone != r.Events || gone == 0 {
		t.Errorf("%d events are cut, the result says %d", gone, r.Events)
	}
	compare(t, m, merged(t, again))
}

// compare states that two traces have the same messages and findings, but for clocks.
func compare(t *testing.T, a, b *trace.Trace) {
	count := func(m *trace.Trace) (sends, matched int) {
		for l := range m.Sends {
			for _, rows := range m.Sends[l].Rows {
				for _, s := range rows {
					sends++
					if s.State == trace.Matched {
						matched++
					}
				}
			}
		}
		return sends, matched
	}
	as, am := count(a)
	bs, bm := count(b)
	if as != bs || am != bm {
		t.Errorf("%d of %d messages are matched, want %d of %d", bm, bs, am, as)
	}
	codes := func(m *trace.Trace) (out []trace.Code) {
		for _, f := range m.Findings {
			if f.Code != trace.CodeClockViolation {
				out = append(out, f.Code)
			}
		}
		return out
	}
	if diff := cmp.Diff(codes(a), codes(b)); diff != "" {
		t.Errorf("findings differ: %s", diff)
	}
}

// TestTimes states that every iteration begins again when it did, and that what happens in it
// is no further off than iterations differ.
func TestTimes(t *testing.T) {
	m := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 200, Seed: 3})
	r, reduced := cut(t, m, pattern.Options{Times: pattern.ExactTimes})
	again := regenerated(t, reduced, r.Repeats)
	for l := range m.Defs.Locations {
		want, got := records(t, m.Source, trace.LocationID(l)), records(t, again, trace.LocationID(l))
		begin, shortest, longest, off := int64(0), int64(math.MaxInt64), int64(0), int64(0)
		for i := range want {
			off = max(off, want[i].time-got[i].time, got[i].time-want[i].time)
			if k := want[i].what; want[i].table != trace.TableFlow || trace.Kind(k[0]) != trace.KindEnter ||
				m.Defs.RegionName(trace.RegionID(k[1])) != r.Site.Operation {
				continue
			}
			if got[i].time != want[i].time {
				t.Fatalf("location %d: an iteration begins at %d, want %d", l, got[i].time, want[i].time)
			}
			if begin > 0 {
				shortest, longest = min(shortest, want[i].time-begin), max(longest, want[i].time-begin)
			}
			begin = want[i].time
		}
		if off == 0 || off > longest-shortest {
			t.Errorf("location %d: off by up to %d, iterations are %d to %d long", l, off, shortest, longest)
		}
	}
}

// TestReducedIsWhole states that no message of a reduced trace has lost an end.
func TestReducedIsWhole(t *testing.T) {
	for _, p := range samples.Programs() {
		m := generate(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 100, Seed: 3, Plant: samples.Plant{Odd: 50}})
		_, left := cut(t, m, pattern.Options{})
		reduced := merged(t, left)
		if diff := cmp.Diff(m.Findings, reduced.Findings); diff != "" {
			t.Errorf("%s: findings differ: %s", p.Name, diff)
		}
	}
}

// TestThousandIterations states what is kept of a thousand equal iterations: two, the odd
// one, and what comes before and behind them.
func TestThousandIterations(t *testing.T) {
	m := generate(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 1000, Seed: 3, Plant: samples.Plant{Odd: 500}})
	r, _ := cut(t, m, pattern.Options{})
	if all := events(m); (all-r.Events)*100 > all {
		t.Errorf("%d of %d records are kept", all-r.Events, all)
	}
	want := []pattern.Pattern{{First: 0, Instances: 998, Kept: 2, Regenerated: 996}, {First: 499, Instances: 1, Kept: 1}}
	for i := range r.Patterns {
		r.Patterns[i].FirstNs, r.Patterns[i].PeriodNs = 0, 0
	}
	if diff := cmp.Diff(want, r.Patterns); diff != "" {
		t.Error(diff)
	}
}

// TestMarkers states what is found with each kind of marker, in a run whose fiftieth
// iteration sends a message more.
func TestMarkers(t *testing.T) {
	m := generate(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 100, Seed: 3, Plant: samples.Plant{Odd: 50}})
	steady := generate(t, samples.Options{Program: "collectives", Ranks: 4, Iterations: 40, Steady: true})
	for _, c := range []struct {
		m         *trace.Trace
		marker    string
		distance  int // -1: by calls
		intervals int
		odd       int // interval that is like no other; -1: none
		least     float64
	}{
		{m, "auto", -1, 199, 99, 0.95},
		{m, "exchange", -1, 99, 49, 0.95},
		{m, "norm", -1, 99, 49, 0.95},
		{m, "MPI_Allreduce", -1, 99, 49, 0.95},
		{m, "mpi_allreduce_", -1, 99, 49, 0.95},
		{m, "MPI_Waitall", 0, 99, 49, 0}, // requests are open whenever one begins
		{m, "MPI_Allreduce", 1, 99, -1, 0.95},
		{steady, "MPI_Barrier", -1, 119, -1, 0.5},
	} {
		marker, err := pattern.ParseMarker(c.marker)
		if err != nil {
			t.Fatal(err)
		}
		o := pattern.Options{Marker: marker}
		if c.distance >= 0 {
			o.Alike, o.Distance = pattern.ByDistance, uint64(c.distance)
		}
		r, _ := cut(t, c.m, o)
		share, odd := float64(r.Events)/float64(events(c.m)), -1
		for _, p := range r.Patterns {
			if p.Instances == 1 {
				odd = p.First
			}
		}
		if r.Intervals != c.intervals || odd != c.odd || share < c.least {
			t.Errorf("%s, distance %d: %d intervals, odd is %d, %.2f is cut, want %d, %d, %.2f or more", c.marker, c.distance, r.Intervals,
				odd, share, c.intervals, c.odd, c.least)
		}
	}
	if r, _ := cut(t, m, pattern.Options{Marker: pattern.Marker{Kind: pattern.OnTime, Ns: 16_000}}); r.Intervals < 95 || r.Intervals > 105 {
		t.Errorf("a run of about 1.6 ms has %d intervals of 16 µs", r.Intervals)
	}
	near, reduced := cut(t, m, pattern.Options{Marker: pattern.Marker{Kind: pattern.OnCollective, Op: trace.CollAllreduce},
		Alike: pattern.ByDistance, Distance: 1})
	again := regenerated(t, reduced, near.Repeats)
	if a := again.Info().Approximations(); len(a) != 1 {
		t.Errorf("that calls are those of others is not said: %q", a)
	}
	if _, err := pattern.Find(t.Context(), m, pattern.Options{Marker: pattern.Marker{Kind: pattern.OnRegion,
		Region: "nowhere"}}); err == nil {
		t.Error("a marker that is not there: no error")
	}
	if _, err := pattern.ParseMarker("-5ms"); err == nil {
		t.Error("a time below zero: no error")
	}
}

// TestJobs states that a result does not depend on the number of jobs.
func TestJobs(t *testing.T) {
	m := generate(t, samples.Options{Program: "multigrid", Ranks: 8, Iterations: 50, Seed: 3, Threads: 2})
	var first string
	for _, jobs := range []int{1, 2, 7} {
		r, err := pattern.Find(t.Context(), m, pattern.Options{Jobs: jobs})
		if err != nil {
			t.Fatal(err)
		}
		if text := r.Repeats.Encode(); first == "" {
			first = text
		} else if text != first {
			t.Errorf("%d jobs make another description", jobs)
		}
	}
}

// TestTimesThatDecrease states that a trace in which times run backwards, be it where an interval
// begins, is cut and made again.
func TestTimesThatDecrease(t *testing.T) {
	for late := range 12 {
		src := statstest.Generated(t, samples.Options{Program: "sweep", Ranks: 4, Iterations: 60, Seed: 3})
		for _, b := range src.Batches[2] {
			for i := late; i < len(b.Flow.Time); i += 12 * 7 {
				b.Flow.Time[i] += 5000
			}
		}
		m := merged(t, src)
		r, reduced := cut(t, m, pattern.Options{})
		if r.Repeats == nil {
			continue
		}
		again := regenerated(t, reduced, r.Repeats)
		if n := uint64(len(records(t, again, 2))); n < m.Span[2].Events {
			t.Errorf("event %d late: %d of %d records come again", late, n, m.Span[2].Events)
		}
	}
}

// TestCounters states that counters that add up go on where intervals are made again, and
// that others are as in the model.
func TestCounters(t *testing.T) {
	defs := &trace.Defs{
		Clock: trace.ClockProperties{Resolution: 1e9}, Strings: []string{"work", "MPI_Barrier"},
		Regions:        []trace.Region{{Name: 0}, {Name: 1, Paradigm: trace.ParadigmMPI}},
		LocationGroups: []trace.LocationGroup{{Kind: 1, Creator: trace.None}},
		Locations:      []trace.Location{{Kind: trace.LocationCPUThread, Events: 60}},
		MetricMembers: []trace.MetricMember{{Mode: trace.MetricAccumulated, Value: trace.TypeUint64},
			{Mode: trace.MetricAbsolutePoint, Value: trace.TypeDouble}},
		Metrics: []trace.Metric{{Members: []trace.MetricMemberID{0, 1}, Class: trace.None, Recorder: trace.None}},
	}
	b := &trace.Batch{}
	b.Reset(0, 0)
	for i := range int64(20) {
		b.AddFlow(100*i, trace.KindEnter, 0)
		b.AddMetric(100*i+50, 0, []trace.ValueType{trace.TypeUint64, trace.TypeDouble}, []uint64{uint64(10 * i), math.Float64bits(2.5)})
		b.AddFlow(100*i+90, trace.KindLeave, 0)
	}
	m := merged(t, &trace.MemorySource{Definitions: defs, Batches: [][]*trace.Batch{{b}}})
	r, reduced := cut(t, m, pattern.Options{})
	if r.Repeats == nil {
		t.Fatal("nothing repeats")
	}
	again := regenerated(t, reduced, r.Repeats)
	last := uint64(0)
	for b := range again.Events(t.Context(), 0) {
		for i, v := range b.Metric.Value {
			switch {
			case b.Metric.Member[i] == 1 && math.Float64frombits(v) != 2.5:
				t.Errorf("a value of its own is %v", math.Float64frombits(v))
			case b.Metric.Member[i] == 0 && v < last:
				t.Errorf("a count goes from %d to %d", last, v)
			case b.Metric.Member[i] == 0:
				last = v
			}
		}
	}
}

// regenerated makes what was cut again.
func regenerated(t testing.TB, reduced trace.Source, r *pattern.Repeats) trace.Source {
	t.Helper()
	store := spill.NewStore(0, "")
	t.Cleanup(func() { store.Close() })
	again, err := pattern.Regenerate(reduced, r, store)
	if err != nil {
		t.Fatal(err)
	}
	return again
}
