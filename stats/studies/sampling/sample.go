package sampling

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/sample"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// Options says what takes part and what is asked for.
type Options struct {
	Jobs     int
	Ranks    []uint32      // both ends of a message; empty: all
	From, To scope.Instant // both calls overlap

	MinBytes, MaxBytes uint64                  // MaxBytes 0: any
	Site               func(trace.PathID) bool // of the send; nil: any
	SiteText, PathText string                  // what Site stands for, for the document: a place, a call path

	Cost     measurement.Costs
	Marks    bool             // keep which messages are sampled, for Result.Load; at most 8 configurations
	Analysis *analysis.Result // of the whole trace with its overhead by call; nil: no sampled analyses

	totals bool // totals alone are asked for, not categories
}

// Make says what configurations would have seen of a trace. All of them are tried in one pass;
// its memory grows with ranks and categories times configurations, not with the run. What
// configurations with WRITE have sampled lies in the trace's store: see Result.Messages.
func Make(ctx context.Context, t *trace.Trace, configs []Config, opts Options) (*Document, error) {
	r, err := pass(ctx, t, configs, opts)
	if err != nil {
		return nil, err
	}
	d := &Document{Schema: Schema, Trace: analysis.Trace(t), Selection: r.part.Block(t), Restriction: r.restriction(),
		Costs: opts.Cost, Paper: paper(&opts.Cost), Findings: analysis.FindingRows(t.Findings)}
	if rebuilt := d.Trace.Rebuilt; rebuilt != nil { // latencies are a model's, and what timers do
		d.Trace.Rebuilt = &document.Rebuilt{From: rebuilt.From, Approximate: rebuilt.Approximate, Modelled: []string{
			"analyses", "bias.after_pause", "bias.mean_error", "categories[].freq", "categories[].mean_error", "categories[].mean_ns",
			"categories[].stat",
			"estimates.latency_total_ns", "plan"}}
		if slices.ContainsFunc(configs, func(c Config) bool { return c.Strategy == Timer }) {
			d.Trace.Rebuilt.Modelled = append(d.Trace.Rebuilt.Modelled, "bias", "coverage", "estimates", "model", "sampled")
		}
	}
	for k := range configs {
		result := r.result(k)
		if k == 0 {
			d.Result = result
		} else {
			d.More = append(d.More, result)
		}
	}
	return d, nil
}

// pass lets configurations decide on all messages.
func pass(ctx context.Context, t *trace.Trace, configs []Config, opts Options) (*run, error) {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = math.MaxUint64
	}
	writing := 0
	for i := range configs {
		if configs[i].Analysis == Write || opts.Marks {
			writing++
		}
	}
	if writing > maxWriting {
		return nil, fmt.Errorf("sampling: of %d configurations it is asked which messages they sample; at most %d are possible", writing,
			maxWriting)
	}
	r, err := newRun(t, configs, opts)
	if err == nil {
		err = r.visitAll(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("sampling: %w", err)
	}
	return r, nil
}

// Results returns those of all configurations, in their order.
func (d *Document) Results() []*Result {
	return append([]*Result{d.Result}, d.More...)
}

func (r *run) restriction() *sample.Restriction {
	if r.opts.MinBytes == 0 && r.opts.MaxBytes == math.MaxUint64 && r.opts.Site == nil {
		return nil
	}
	x := &sample.Restriction{MinBytes: r.opts.MinBytes, Site: field.Name(r.opts.SiteText), CallPath: field.Name(r.opts.PathText)}
	if r.opts.MaxBytes != math.MaxUint64 {
		x.MaxBytes = &r.opts.MaxBytes
	}
	for _, s := range r.streams {
		x.Skipped += s.skipped
	}
	return x
}

// sumsOf returns the sums of a configuration, or of the population, over all streams.
func (r *run) sumsOf(k int) (sum Sums) {
	for _, s := range r.streams {
		sum.merge(&s.sums[k])
	}
	return sum
}

// ns returns a time in ns.
func (r *run) ns(ticks int64) int64 { return r.t.Defs.Clock.Nanoseconds(ticks) }

// nsOf returns an estimated time in ns.
func (r *run) nsOf(ticks float64) float64 {
	if hz := r.t.Defs.Clock.Resolution; hz > 0 {
		return ticks * (1e9 / float64(hz))
	}
	return ticks
}

// result makes the rows of a configuration.
func (r *run) result(k int) *Result {
	c, all := &r.configs[k], len(r.configs)
	x := &Result{Configuration: c.String(), Settings: c.settings(), run: r, k: k}
	population, sampled := r.sumsOf(all), r.sumsOf(k)
	x.Population = sample.Population{Messages: population.Messages, Bytes: uint64(population.Bytes.sum), Unmatched: population.Unmatched,
		Unexpected: population.Unexpected}
	x.Sampled = sample.Sampled{Messages: sampled.Messages, Bytes: uint64(sampled.Bytes.sum), Unmatched: sampled.Unmatched,
		Unexpected: sampled.Unexpected, Share: ratio(float64(sampled.Messages), float64(population.Messages)), Ranks: []sample.RankRow{}}
	for _, s := range r.streams {
		if n := s.sums[all].Messages; n > 0 {
			x.Sampled.Ranks = append(x.Sampled.Ranks, sample.RankRow{Rank: field.Rank(s.rank), Population: n, Sampled: s.sums[k].Messages})
		}
	}
	w := weigh(r, k)
	in := func(true int64, e estimate, unit func(float64) float64) sample.Estimate {
		return sample.Estimate{True: true, Estimate: numbers.Known(unit(e.value)), Low: numbers.Known(unit(e.low)),
			High: numbers.Known(unit(e.high)), Error: numbers.Known(relative(unit(e.value), float64(true)))}
	}
	one := func(v float64) float64 { return v }
	x.Estimates = sample.Estimates{Method: c.method(), Messages: in(int64(population.Messages), w.messages(), one),
		Bytes: in(population.Bytes.sum, w.bytes(), one), Latency: in(r.ns(population.Latency.sum), w.latency(), r.nsOf)}
	if c.Strategy == Random {
		e := in(r.ns(population.Latency.sum), weighCounted(r, k).latency(), r.nsOf)
		x.Estimates.Counted = &e
	}
	x.categories(&population, &sampled)
	x.Model = r.model(c, &population, &sampled, k)
	if r.opts.Analysis != nil {
		x.Analyses = r.analyses(w, k)
	}
	return x
}

func (c *Config) settings() sample.Settings {
	s := sample.Settings{Seed: c.Seed, Analysis: c.Analysis.String()}
	if share, ok := c.share(); ok {
		s.Probability = &share
	}
	switch c.Strategy {
	case Random:
		s.Strategy, s.Threshold = "random", &c.Threshold
		return s
	case Original, Unprofiled:
		s.Strategy = "none"
		return s
	case Counter:
		s.Strategy = "counter"
	case Timer:
		s.Strategy, s.Since = "timer", "send"
		if c.SinceSample {
			s.Since = "sample"
		}
	}
	s.Period, s.Variance = &c.Period, &c.Variance
	return s
}

// model says what the sampling would have cost.
func (r *run) model(c *Config, population, sampled *Sums, k int) sample.Model {
	cost := &r.opts.Cost
	small, hit := population.Messages-population.Large, sampled.Messages-sampled.Large
	share := 0.0
	if small > 0 {
		share = float64(hit) / float64(small)
	}
	m := sample.Model{BaselineUs: cost.Baseline / 1000, WithSamplingUs: (cost.Baseline + c.message(cost, share)) / 1000,
		SampledBytes: c.volume(r, k)}
	for _, row := range measured() {
		p, _ := Parse(row.Configuration, Defaults{Seed: DefaultSeed})
		if c.Analysis != Off && p.Strategy == c.Strategy && p.Threshold == c.Threshold && p.Period == c.Period && c.Variance == 0 &&
			!c.SinceSample && c.Analysis != Write {
			m.PaperUs = &row.MeasuredUs
		}
	}
	return m
}

// ratio returns a/b, nil if b is 0.
func ratio(a, b float64) *float64 { return numbers.Known(a / b) }
