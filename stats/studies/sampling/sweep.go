package sampling

import (
	"context"
	"math"
	"slices"

	"tracekit/document/sample"
	"tracekit/stats/measurement"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Sweep is how accurate configurations of several thresholds and periods are, and what they cost.
type Sweep struct {
	Seeds      int        `json:"seeds"`       // that each configuration was tried with; coverage, volume and run time are of the first
	TraceBytes int64      `json:"trace_bytes"` // of the trace that has all messages
	RunTime    int64      `json:"run_time_ns"` // as recorded
	Unexpected *float64   `json:"unexpected"`  // share of all messages
	Rows       []SweepRow `json:"rows"`
}

// A SweepRow is one configuration.
type SweepRow struct {
	Configuration string          `json:"configuration"`
	Settings      sample.Settings `json:"settings"`
	Share         float64         `json:"share"` // of messages that are sampled, mean over the seeds
	Coverage      sample.Coverage `json:"coverage"`
	ShareError    *float64        `json:"max_share_error"` // largest difference of a category's shares
	Messages      SweptError      `json:"messages"`
	Bytes         SweptError      `json:"bytes"`
	Latency       SweptError      `json:"latency"`
	Counted       *SweptError     `json:"latency_counted,omitempty"` // of random sampling if ranks count their sends
	Unexpected    *float64        `json:"unexpected"`                // share of the sampled messages, over all seeds
	CostUs        float64         `json:"cost_us"`                   // of a small message, mean over the seeds
	LatencyUs     float64         `json:"with_sampling_us"`          // of a small message: the baseline and that
	PaperUs       *float64        `json:"paper_us,omitempty"`        // measured in the paper; absent: not this configuration
	RunTime       *int64          `json:"run_time_ns"`               // replayed with the costs; null: the trace cannot be replayed
	Slowdown      *float64        `json:"slowdown"`
	SampledBytes  uint64          `json:"sampled_bytes"`
	OfTrace       *float64        `json:"of_trace"` // these over the bytes of the trace
}

// A SweptError is how wrong estimates of a total are, relative to the truth.
type SweptError struct {
	Within *float64 `json:"within"`    // what 19 of 20 seeds stay within; null: some seeds sample nothing
	Mean   *float64 `json:"mean"`      // with its sign
	Given  int      `json:"intervals"` // seeds with a 95 % interval
	Held   int      `json:"held"`      // of these, the truth lies in it
}

// SweepGrid returns the configurations of a sweep: those that sample nothing, thresholds, and periods of counters with a variance as a
// share of the period.
func SweepGrid(a Analysis, variance float64) (list []Config) {
	list = []Config{{Strategy: Original, Analysis: Off}, {Strategy: Unprofiled, Analysis: Off}, {Strategy: Random, Analysis: Off}}
	for _, t := range []float64{0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1} {
		list = append(list, Config{Strategy: Random, Threshold: t, Analysis: a})
	}
	for _, p := range []int64{1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1} {
		list = append(list, Config{Strategy: Counter, Period: p, Variance: int64(variance * float64(p)), Analysis: a})
	}
	for i := range list {
		list[i].Seed = DefaultSeed
	}
	return list
}

// Bounds of the seeds of a sweep, and about how many decisions all of them make together.
const (
	mostSeeds      = 200
	sweepDecisions = 100_000_000
)

// A Replay returns the run time in ns of a trace with what measuring costs.
type Replay func(ctx context.Context, loads measurement.Loads) (int64, error)

// MakeSweep tries configurations on a trace with several seeds, the fewer the more messages there are. Replay may be nil.
func MakeSweep(ctx context.Context, t *trace.Trace, grid []Config, opts Options, replay Replay) (*Sweep, error) {
	first, last := scope.Run(t)
	s := &Sweep{TraceBytes: t.Source.Info().Bytes, RunTime: t.Defs.Clock.Nanoseconds(last - first)}
	opts.Analysis, opts.totals = nil, false
	for some := range slices.Chunk(grid, maxWriting) {
		rows, err := sweepRows(ctx, t, some, opts, replay)
		if err != nil {
			return nil, err
		}
		s.Rows = append(s.Rows, rows...)
	}
	sends := 0
	for l := range t.Sends {
		sends += t.Sends[l].Len()
	}
	s.Seeds = min(mostSeeds, max(planSeeds, sweepDecisions/max(1, sends*len(grid))))
	opts.totals, opts.Marks = true, false
	perPass := max(1, mostSamplers/max(1, len(t.Sends))/s.Seeds)
	at := 0
	for some := range slices.Chunk(grid, perPass) {
		var seeded []Config
		for _, c := range some {
			for seed := range uint64(s.Seeds) {
				c.Seed, c.Analysis = DefaultSeed+seed, Stat
				seeded = append(seeded, c)
			}
		}
		r, err := pass(ctx, t, seeded, opts)
		if err != nil {
			return nil, err
		}
		population := r.sumsOf(len(seeded))
		s.Unexpected = ratio(float64(population.Unexpected), float64(population.Messages))
		for i := range some {
			var trials []trial
			for k := range s.Seeds {
				trials = append(trials, r.try(i*s.Seeds+k))
			}
			s.Rows[at].try(&some[i], trials, &opts.Cost)
			at++
		}
	}
	return s, nil
}

// sweepRows makes rows of the first seed.
func sweepRows(ctx context.Context, t *trace.Trace, grid []Config, opts Options, replay Replay) (rows []SweepRow, err error) {
	opts.Marks = true
	r, err := pass(ctx, t, grid, opts)
	if err != nil {
		return nil, err
	}
	defer r.release()
	for k := range grid {
		x := r.result(k)
		if err := x.Replay(ctx, replay); err != nil {
			return nil, err
		}
		rows = append(rows, SweepRow{Configuration: x.Configuration, Settings: x.Settings, Coverage: x.Coverage, ShareError: x.Bias.MaxShareError,
			PaperUs: x.Model.PaperUs, RunTime: x.Model.RunTime, Slowdown: x.Model.Slowdown, SampledBytes: x.Model.SampledBytes,
			OfTrace: ratio(float64(x.Model.SampledBytes), float64(t.Source.Info().Bytes))})
	}
	return rows, nil
}

// RunTimes finds how long the run would have been with each configuration of a document.
func RunTimes(ctx context.Context, t *trace.Trace, d *Document, configs []Config, opts Options, replay Replay) error {
	if replay == nil {
		return nil
	}
	opts.totals, opts.Marks, opts.Analysis = true, true, nil
	results := d.Results()
	for some := range slices.Chunk(configs, maxWriting) {
		r, err := pass(ctx, t, some, opts)
		if err != nil {
			return err
		}
		for k := range some {
			x := &Result{run: r, k: k}
			if err := x.Replay(ctx, replay); err != nil {
				return err
			}
			m := &results[0].Model
			m.RunTime, m.Slowdown = x.Model.RunTime, x.Model.Slowdown
			results = results[1:]
		}
		r.release()
	}
	return nil
}

// LoadOf returns what a configuration would have cost each location of a trace.
func LoadOf(ctx context.Context, t *trace.Trace, c Config, opts Options) (measurement.Loads, error) {
	opts.totals, opts.Marks, opts.Analysis = true, true, nil
	r, err := pass(ctx, t, []Config{c}, opts)
	if err != nil {
		return nil, err
	}
	defer r.release()
	return (&Result{run: r}).Load(ctx)
}

// release gives back the memory of the marks.
func (r *run) release() {
	for _, marks := range r.written {
		marks.Release()
	}
}

// Replay finds how long the run would have been. It needs Options.Marks.
func (x *Result) Replay(ctx context.Context, replay Replay) error {
	if replay == nil {
		return nil
	}
	loads, err := x.Load(ctx)
	if err != nil {
		return err
	}
	defer loads.Release()
	ns, err := replay(ctx, loads)
	if err != nil {
		return err
	}
	first, last := scope.Run(x.run.t)
	x.Model.RunTime, x.Model.Slowdown = &ns, ratio(float64(ns), float64(x.run.ns(last-first)))
	return nil
}

// try judges a configuration by its seeds.
func (row *SweepRow) try(c *Config, trials []trial, cost *measurement.Costs) {
	p := planRow(Goal{Of: "error"}, c, trials, cost)
	row.Share, row.CostUs, row.LatencyUs = p.Share, p.CostUs, p.CostUs+cost.Baseline/1000
	for i, e := range []*SweptError{&row.Messages, &row.Bytes, &row.Latency} {
		e.judge(trials, i)
	}
	if c.Strategy == Random {
		row.Counted = new(SweptError)
		row.Counted.judge(trials, 3)
	}
	var sampled, unexpected uint64
	for _, x := range trials {
		sampled, unexpected = sampled+x.sampled.Messages, unexpected+x.sampled.Unexpected
	}
	row.Unexpected = ratio(float64(unexpected), float64(sampled))
}

// judge sums the errors of one estimate up.
func (e *SweptError) judge(trials []trial, i int) {
	sum, off := 0.0, make([]float64, 0, len(trials))
	for _, x := range trials {
		sum += x.signed[i] / float64(len(trials))
		if size := math.Abs(x.signed[i]); math.IsNaN(size) {
			off = append(off, math.Inf(1))
		} else {
			off = append(off, size)
		}
		if x.given[i] {
			e.Given++
		}
		if x.held[i] {
			e.Held++
		}
	}
	slices.Sort(off)
	e.Mean, e.Within = numbers.Known(sum), numbers.Known(off[len(off)*19/20-1])
}
