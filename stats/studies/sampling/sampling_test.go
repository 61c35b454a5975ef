package sampling

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"tracekit/document/sample"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// merged reconciles a trace.
func merged(t testing.TB, src trace.Source) *trace.Trace {
	t.Helper()
	return statstest.Merged(t, src, merge.Options{})
}

// generated returns the trace of a program, reconciled.
func generated(t testing.TB, o samples.Options) *trace.Trace {
	t.Helper()
	return merged(t, statstest.Generated(t, o))
}

// opened returns a trace of a file, reconciled.
func opened(t testing.TB, path string) *trace.Trace {
	t.Helper()
	src, err := readers.Open(context.Background(), path, readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return merged(t, src)
}

// configs parses names.
func configs(t testing.TB, names ...string) (list []Config) {
	t.Helper()
	for _, name := range names {
		c, err := Parse(name, Defaults{Seed: DefaultSeed})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func made(t testing.TB, tr *trace.Trace, o Options, names ...string) *Document {
	t.Helper()
	if o.Cost == (measurement.Costs{}) {
		o.Cost = measurement.Photon()
	}
	d, err := Make(context.Background(), tr, configs(t, names...), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func text(t testing.TB, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestAllSampledIsTheTruth: with a threshold of 1, or a counter of 0, the sample is what the
// analysis says of messages, and every estimate is exact.
func TestAllSampledIsTheTruth(t *testing.T) {
	var traces = map[string]*trace.Trace{}
	for _, p := range samples.Programs() {
		traces[p.Name] = generated(t, samples.Options{Program: p.Name, Ranks: 9, Iterations: 20, Threads: 2, Seed: 3,
			Plant: samples.Plant{Lost: 5, LateSender: 3000}})
	}
	for _, name := range []string{"halo2d-8", "zoo-4", "sweep-6"} {
		traces[name] = opened(t, filepath.Join("..", "..", "..", "samples", "archives", name))
	}
	for name, tr := range traces {
		for _, o := range []analysis.Options{{},
			{Ranks: []uint32{0, 1, 2}, From: scope.Instant{Kind: scope.Fraction, Share: 0.2}, To: scope.Instant{Kind: scope.Fraction, Share: 0.7}}} {
			a := statstest.Analysis(t, tr, o)
			d := made(t, tr, Options{Ranks: o.Ranks, From: o.From, To: o.To}, "P-1.0-FREQ", "C-0-STAT")
			for _, x := range d.Results() {
				if x.Sampled.Messages != a.Messages.Count || x.Sampled.Bytes != a.Messages.Bytes {
					t.Errorf("%s, %s: %d messages, %d bytes; the analysis has %d, %d", name, x.Configuration, x.Sampled.Messages, x.Sampled.Bytes,
						a.Messages.Count, a.Messages.Bytes)
				}
				if x.Sampled.Messages == 0 {
					continue
				}
				if mean := x.Estimates.Latency.True; (mean+int64(a.Messages.Count)/2)/int64(a.Messages.Count) != a.Messages.Latency.Mean {
					t.Errorf("%s: mean latency %d of %d, the analysis has %d", name, mean, a.Messages.Count, a.Messages.Latency.Mean)
				}
				for _, e := range []sample.Estimate{x.Estimates.Messages, x.Estimates.Bytes, x.Estimates.Latency} {
					if *e.Estimate != float64(e.True) || x.Settings.Strategy == "random" && (*e.Low != *e.Estimate || *e.High != *e.Estimate) {
						t.Errorf("%s, %s: %s", name, x.Configuration, text(t, e))
					}
				}
				var least, most int64
				for i, c := range x.Categories {
					if c.Sampled != c.Population || *c.MeanError != 0 || *c.SampledShare != c.Share {
						t.Errorf("%s: %s", name, text(t, c))
					}
					if i == 0 || c.Stat.MinNs < least {
						least = c.Stat.MinNs
					}
					if i == 0 || c.Stat.MaxNs > most {
						most = c.Stat.MaxNs
					}
				}
				if least != a.Messages.Latency.Min || most != a.Messages.Latency.Max {
					t.Errorf("%s: latencies %d to %d, the analysis has %d to %d", name, least, most, a.Messages.Latency.Min, a.Messages.Latency.Max)
				}
				if *x.Coverage.Bytes != 1 || *x.Coverage.Messages != 1 || len(x.Bias.NeverSeen) > 0 || *x.Bias.MaxShareError != 0 {
					t.Errorf("%s: not all is covered", name)
				}
			}
		}
	}
}

// TestSumsAgree: what is counted by category, rank and decade is the same.
func TestSumsAgree(t *testing.T) {
	tr := generated(t, samples.Options{Program: "multigrid", Ranks: 12, Iterations: 50, Seed: 1})
	d := made(t, tr, Options{}, "P-0.2-FREQ", "C-7-V3-FREQ", "T-0.00001-FREQ", "T-0.00001-SAMPLE-FREQ")
	for _, x := range d.Results() {
		var byCategory, byRank, byDecade uint64
		var share, sampledShare float64
		for _, c := range x.Categories {
			byCategory += c.Sampled
			share += c.Share
			for _, f := range c.Freq {
				byDecade += f.Count
			}
			sampledShare += *c.SampledShare
		}
		for _, r := range x.Sampled.Ranks {
			byRank += r.Sampled
		}
		if n := x.Sampled.Messages; n == 0 || byCategory != n || byRank != n || byDecade != n {
			t.Errorf("%s: %d messages, %d by category, %d by rank, %d by decade", x.Configuration, n, byCategory, byRank, byDecade)
		}
		if share < 0.999999 || share > 1.000001 || sampledShare < 0.999999 || sampledShare > 1.000001 {
			t.Errorf("%s: shares sum to %g and %g", x.Configuration, share, sampledShare)
		}
	}
}

// TestSameSeedSameSample: neither goroutines nor other configurations change a sample; another
// seed does.
func TestSameSeedSameSample(t *testing.T) {
	tr := generated(t, samples.Options{Program: "halo", Ranks: 16, Iterations: 400, Seed: 1})
	names := []string{"P-0.1-STAT", "C-10-V5-STAT", "T-0.0001-V0.00005-SAMPLE-STAT"}
	together := made(t, tr, Options{Jobs: 1}, names...)
	if again := made(t, tr, Options{Jobs: 7}, names...); text(t, again) != text(t, together) {
		t.Error("goroutines change the sample")
	}
	for i, name := range names {
		alone := made(t, tr, Options{}, name)
		if text(t, alone.Result) != text(t, together.Results()[i]) {
			t.Errorf("%s alone is another sample", name)
		}
		other, err := Parse(name, Defaults{Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		d, err := Make(t.Context(), tr, []Config{other}, Options{Cost: measurement.Photon()})
		if err != nil {
			t.Fatal(err)
		}
		if text(t, d.Categories) == text(t, alone.Categories) {
			t.Errorf("%s: another seed gives the same sample", name)
		}
	}
}
