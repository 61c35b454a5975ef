package sampling

import (
	"context"
	"fmt"
	"math"
	"testing"

	"tracekit/document/sample"
	"tracekit/reduce"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestTimersSeeWhatFollowsComputation: the paper's claim. In a program that computes and then sends
// to eight ranks at once, timers sample the first send only, whatever their rule; random sampling
// sees all alike.
func TestTimersSeeWhatFollowsComputation(t *testing.T) {
	tr := generated(t, samples.Options{Program: "burst", Ranks: 16, Iterations: 200, Seed: 1})
	d := made(t, tr, Options{}, "P-0.125-STAT", "T-0.000005-STAT", "T-0.000005-SAMPLE-STAT")
	for _, x := range d.Results() {
		if *x.Bias.AfterPause.Population != 0.125 {
			t.Errorf("%g of the messages follow a pause", *x.Bias.AfterPause.Population)
		}
		timer := x.Settings.Strategy == "timer"
		if *x.Bias.Biased != timer || timer && (*x.Bias.AfterPause.Sampled != 1 || *x.Coverage.Categories != 0.125) || !timer &&
			*x.Coverage.Categories != 1 {
			t.Errorf("%s: %s, coverage %s", x.Configuration, text(t, x.Bias), text(t, x.Coverage))
		}
		for _, c := range x.Categories {
			if timer && (c.Sampled > 0) != (uint32(c.To) == (uint32(c.From)+1)%16) {
				t.Errorf("%s: %d of the messages from %d to %d", x.Configuration, c.Sampled, c.From, c.To)
			}
		}
	}
}

// TestTimersOnSweepAndMG: the same where computation and sends alternate otherwise, on a
// wavefront and on a multigrid.
func TestTimersOnSweepAndMG(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"sweep": generated(t, samples.Options{Program: "sweep", Ranks: 16, Iterations: 300, Seed: 1}),
		"mg":    generated(t, samples.Options{Program: "multigrid", Ranks: 16, Iterations: 300, Seed: 1}),
	} {
		d := made(t, tr, Options{}, "P-0.2-STAT", "T-0.000005-STAT")
		for _, x := range d.Results() {
			if timer := x.Settings.Strategy == "timer"; *x.Bias.Biased != timer || timer &&
				*x.Bias.AfterPause.Sampled < *x.Bias.AfterPause.Population {
				t.Errorf("%s, %s: %s", name, x.Configuration, text(t, x.Bias))
			}
		}
	}
}

// TestCountersAlias: a counter without a variance whose interval is the number of sends of an
// iteration sees one of them only; with a variance it does not.
func TestCountersAlias(t *testing.T) {
	tr := generated(t, samples.Options{Program: "burst", Ranks: 16, Iterations: 200, Seed: 1})
	d := made(t, tr, Options{}, "C-7-STAT", "C-7-V3-STAT", "C-8-STAT")
	aliased, varied, coprime := d.Results()[0], d.Results()[1], d.Results()[2]
	if !*aliased.Bias.Biased || *aliased.Coverage.Categories != 0.125 || aliased.Estimates.Latency.Low != nil {
		t.Errorf("without a variance: %s", text(t, aliased.Bias))
	}
	for _, x := range []*Result{varied, coprime} {
		if *x.Bias.Biased || *x.Coverage.Categories != 1 {
			t.Errorf("%s: %s", x.Configuration, text(t, x.Bias))
		}
	}
}

// TestRestrictions: sizes, sites, ranks and times leave messages out, which then neither count nor
// are counted.
func TestRestrictions(t *testing.T) {
	tr := generated(t, samples.Options{Program: "multigrid", Ranks: 8, Iterations: 20, Bytes: 4096, Seed: 1})
	all := made(t, tr, Options{}, "P-1-STAT")
	large, small := uint64(0), uint64(0)
	for _, c := range all.Categories {
		if c.Bytes >= 2048 {
			large += c.Population
		} else {
			small += c.Population
		}
	}
	if large == 0 || small == 0 {
		t.Fatalf("%d large, %d small messages", large, small)
	}
	for _, x := range []struct {
		o    Options
		want uint64
	}{{Options{MinBytes: 2048}, large}, {Options{MaxBytes: 2047}, small}, {Options{Site: func(trace.PathID) bool { return false }}, 0}} {
		d := made(t, tr, x.o, "P-1-STAT", "C-0-STAT")
		if d.Population.Messages != x.want || d.Sampled.Messages != x.want || d.More[0].Sampled.Messages != x.want {
			t.Errorf("%+v: %d messages, want %d", x.o, d.Population.Messages, x.want)
		}
		if d.Restriction.Skipped != large+small-x.want {
			t.Errorf("%d are left out of %d, %d take part", d.Restriction.Skipped, large+small, x.want)
		}
	}
}

// TestSampledAnalyses: where each call completes one message, all messages together wait as long as
// the calls, and what is estimated from a sample is near.
func TestSampledAnalyses(t *testing.T) {
	for name, tr := range map[string]*trace.Trace{
		"sweep": generated(t, samples.Options{Program: "sweep", Ranks: 12, Iterations: 300, Seed: 1}),
		// sends wait for receivers
		"large ring": generated(t, samples.Options{Program: "ring", Ranks: 12, Iterations: 300, Bytes: 100_000, Seed: 1}),
	} {
		a := statstest.Analysis(t, tr, analysis.Options{Overhead: &overhead.Options{PerCall: true}})
		d := made(t, tr, Options{Analysis: a}, "P-1-STAT", "P-0.3-STAT")
		for i, x := range d.Results() {
			for what, row := range map[string]sample.AnalysisRow{"late sender": x.Analyses.LateSender, "late receiver": x.Analyses.LateReceiver} {
				if i == 0 && (row.Messages != row.True || *row.Estimate != float64(row.True)) {
					t.Errorf("%s, %s: %s", name, what, text(t, row))
				}
				if row.Low != nil && (*row.Low > float64(row.True) || *row.High < float64(row.True)) {
					t.Errorf("%s, %s, %s: %s", name, x.Configuration, what, text(t, row))
				}
			}
			if x.Analyses.LateSender.True+x.Analyses.LateReceiver.True == 0 || len(x.Analyses.Overhead) == 0 {
				t.Errorf("%s: nothing to compare: %s", name, text(t, x.Analyses))
			}
			for _, row := range x.Analyses.Overhead {
				if i == 0 && *row.Estimate != float64(row.Messages) {
					t.Errorf("%s: %s", name, text(t, row))
				}
			}
		}
	}
}

// TestSampledSource: the trace of the sampled messages is sound and has these messages and no
// others, with the same categories and latencies.
func TestSampledSource(t *testing.T) {
	for _, o := range []samples.Options{
		{Program: "halo", Ranks: 6, Iterations: 30, Threads: 2, Seed: 1},
		{Program: "requests", Ranks: 4, Iterations: 30, Seed: 1},
		{Program: "sweep", Ranks: 6, Iterations: 30, Seed: 1, Plant: samples.Plant{Lost: 7, Skew: 5000, Drift: 100}},
	} {
		t.Run(o.Program, func(t *testing.T) {
			tr := generated(t, o)
			d := made(t, tr, Options{}, "P-0.3-WRITE", "P-0.3-STAT", "P-1-WRITE")
			if d.Results()[1].Sampled.Messages != d.Sampled.Messages {
				t.Error("the analysis changes the sample")
			}
			for _, x := range []*Result{d.Result, d.More[1]} {
				src := sampled(t, x)
				if by := src.Info().ReducedBy(); len(by) != 1 || by[0] != "sample "+x.Configuration {
					t.Error("the trace does not say that it is sampled")
				}
				checked, err := tracetest.Format(src)
				if err != nil || len(checked) == 0 {
					t.Fatal(err)
				}
				n := uint64(0)
				for range x.Messages {
					n++
				}
				again := made(t, merged(t, src), Options{}, "P-1-STAT")
				if n != x.Sampled.Messages || again.Population.Messages != n || again.Population.Bytes != x.Sampled.Bytes ||
					again.Population.Unmatched != 0 {
					t.Errorf("%s: %d messages with %d bytes were sampled, %d are listed, the trace has %d with %d and %d unmatched", x.Configuration,
						x.Sampled.Messages, x.Sampled.Bytes, n, again.Population.Messages, again.Population.Bytes, again.Population.Unmatched)
				}
				if len(again.Findings) > 0 && o.Plant == (samples.Plant{}) {
					t.Errorf("%s: %s", x.Configuration, text(t, again.Findings))
				}
				stat := make(map[string]sample.StatRow)
				for _, c := range x.Categories {
					if c.Stat != nil {
						stat[c.ID] = *c.Stat
					}
				}
				for _, c := range again.Categories {
					if o.Plant == (samples.Plant{}) && stat[c.ID] != *c.Stat {
						t.Errorf("%s, category %s: %+v, sampled %+v", x.Configuration, c.ID, *c.Stat, stat[c.ID])
					}
				}
			}
		})
	}
}

// TestPlan: what is chosen reaches the goal and nothing cheaper does; sampling all is without error.
func TestPlan(t *testing.T) {
	tr := generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 200, Seed: 1})
	goal := Goal{"error", 0.05}
	p, err := MakePlan(t.Context(), tr, goal, Grid(Stat), Options{Cost: measurement.Photon()})
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for i, row := range p.Rows {
		if i > 0 && row.CostUs < p.Rows[i-1].CostUs {
			t.Errorf("%s is cheaper than the one before", row.Configuration)
		}
		seen = seen || row.Configuration == p.Chosen
		worst := func(xs ...*float64) (most float64) {
			for _, x := range xs {
				if x == nil {
					return 1
				}
				most = max(most, *x)
			}
			return most
		}(row.Messages, row.Bytes, row.Latency)
		if row.Reaches && (!seen || worst >= goal.Limit) {
			t.Errorf("%s reaches the goal with %g, chosen was %s", row.Configuration, worst, p.Chosen)
		}
		if row.Configuration == "P-1-STAT" && (worst != 0 || row.Share != 1 || row.CostUs != 21.7) {
			t.Errorf("sampling all: %s", text(t, row))
		}
	}
	if p.Chosen == "" {
		t.Error("nothing was chosen")
	}
}

// BenchmarkMake measures the cost of a pass per message, which grows with configurations but not
// with the run.
func BenchmarkMake(b *testing.B) {
	for _, x := range []struct {
		iterations int
		names      []string
	}{{500, []string{"P-0.01-STAT"}}, {2000, []string{"P-0.01-STAT"}},
		{2000, []string{"P-0.01-FREQ", "C-256-STAT", "T-0.001-STAT", "P-0.1-FREQ"}}} {
		b.Run(fmt.Sprintf("iterations=%d/configurations=%d", x.iterations, len(x.names)), func(b *testing.B) {
			tr := generated(b, samples.Options{Program: "halo", Ranks: 64, Iterations: x.iterations, Seed: 1})
			list, messages := configs(b, x.names...), uint64(0)
			for b.Loop() {
				d, err := Make(context.Background(), tr, list, Options{Jobs: 1, Cost: measurement.Photon()})
				if err != nil {
					b.Fatal(err)
				}
				messages = d.Population.Messages
			}
			b.ReportMetric(float64(messages)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// sampled returns the trace of the messages that a configuration has sampled.
func sampled(t *testing.T, x *Result) trace.Source {
	t.Helper()
	r, err := reduce.Apply(t.Context(), x.run.t, []reduce.Rule{x.Rule()}, reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Source(x.run.t.Source)
}

// TestFamily states that the samples by which a trace reaches a size become smaller one by one, that each is part of the one before, and
// that the reduced trace says how many messages it stands for.
func TestFamily(t *testing.T) {
	tr := generated(t, samples.Options{Program: "halo", Ranks: 6, Iterations: 20, Threads: 2, Seed: 1})
	f := Family(tr)
	if f.Settings < 20 {
		t.Fatalf("%d samples", f.Settings)
	}
	before, last := map[trace.LocationID]map[uint64]bool{}, uint64(math.MaxUint64)
	for i := range f.Settings {
		r, err := reduce.Apply(t.Context(), tr, f.Rules(i), reduce.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.After(tr); n > last {
			t.Errorf("sample %d has %d records, the one before %d", i, n, last)
		} else {
			last = n
		}
		s, ok := r.Source(tr.Source).Info().Sample()
		if !ok || s.Strategy != "random" {
			t.Fatalf("sample %d says %v", i, s)
		}
		messages := uint64(0)
		for l := range tr.Sends {
			id, cut := trace.LocationID(l), r.Cuts.Spans(trace.LocationID(l))
			now := map[uint64]bool{}
			for k := range tr.Sends[l].Len() {
				if seq := tr.Sends[l].Ptr(k).Seq(); !within(cut, seq) {
					now[seq] = true
					if messages++; before[id] != nil && !before[id][seq] {
						t.Errorf("sample %d has a message that the one before has not", i)
					}
				}
			}
			before[id] = now
		}
		if messages != s.Sampled {
			t.Errorf("sample %d has %d messages and says %d", i, messages, s.Sampled)
		}
		r.Cuts.Release()
	}
}

func within(spans func(func(reduce.Span) bool), seq uint64) (in bool) {
	spans(func(s reduce.Span) bool {
		in = s.From <= seq && seq < s.To
		return !in && s.From <= seq
	})
	return in
}

// TestTooDeep: inside as many regions as there may be, a sampled call stays open where the next one is entered, as recorded.
func TestTooDeep(t *testing.T) {
	src := tracetest.Inside(tracetest.MustParse(t, `
region 0 main
location 0 rank=0
  10 Enter MPI_Send ; 20 MpiSend to=1 ; 30 Enter MPI_Send ; 40 MpiSend to=1 ; 50 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 60 MpiRecv from=0 ; 70 MpiRecv from=0 ; 80 Leave MPI_Recv
`), trace.MaxDepth-1)
	var last string
	for b := range tracetest.Batches(t, sampled(t, made(t, merged(t, src), Options{}, "P-1-WRITE").Result), 0) {
		for seq, r := range b.Events {
			if seq >= trace.MaxDepth-1 && r.Table == trace.TableFlow {
				last += fmt.Sprintf("%d %v ; ", b.Time(r), b.Flow.Kind[r.First])
			}
		}
	}
	if want := "10 Enter ; 30 Enter ; 50 Leave ; "; last != want {
		t.Errorf("the trace ends with %s, want %s", last, want)
	}
}
