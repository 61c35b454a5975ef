package sampling

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/document/sample"
	"tracekit/engine"
	"tracekit/stats/measurement"
	"tracekit/trace"
)

// deciding returns the ns that a decision about a message costs, and those of the layer and of what messages carry.
func (c *Config) deciding(m *measurement.Costs) float64 {
	switch c.Strategy {
	case Original:
		return 0
	case Unprofiled:
		return m.Header
	case Random:
		return m.Header + m.Layer + m.Draw
	case Timer:
		return m.Header + m.Layer + m.Clock
	}
	return m.Header + m.Layer
}

// using returns the ns that a sampled message costs more.
func (c *Config) using(m *measurement.Costs) float64 {
	switch {
	case c.Analysis == Off:
		return 0
	case c.Analysis == Write:
		return m.Write
	case c.Variance > 0:
		return m.Sample + m.Draw // of the next target
	}
	return m.Sample
}

// message returns the mean cost in ns of a small message if a share of them is sampled.
func (c *Config) message(m *measurement.Costs, share float64) float64 {
	return c.deciding(m) + share*c.using(m)
}

// measured are the latencies that the paper measured in its ping-pong, in µs.
func measured() []sample.PaperRow {
	return []sample.PaperRow{
		{Configuration: "C-2-STAT", MeasuredUs: 48.7},
		{Configuration: "C-256-STAT", MeasuredUs: 40.1},
		{Configuration: "T-0.001-STAT", MeasuredUs: 45.5},
		{Configuration: "T-0.3-STAT", MeasuredUs: 41.8},
		{Configuration: "P-0.01-STAT", MeasuredUs: 43.3},
		{Configuration: "P-0.9-STAT", MeasuredUs: 57.0},
	}
}

// paper returns those with what the model has for each. In a ping-pong a rank sends every two
// latencies: a timer of since the last send, if its period is longer, never samples.
func paper(m *measurement.Costs) []sample.PaperRow {
	rows := measured()
	for i := range rows {
		c, _ := Parse(rows[i].Configuration, Defaults{Seed: DefaultSeed})
		share, ok := c.share()
		if !ok && 2*m.Baseline > float64(c.Period) {
			share = 1
		}
		rows[i].ModelUs = (m.Baseline + c.message(m, share)) / 1000
	}
	return rows
}

// Load returns what the configuration would have cost each location: deciding before a message is sent; using a sampled one, whose latency
// its receiver learns first, in the call that completes the receive. It needs Options.Marks.
func (x *Result) Load(ctx context.Context) (measurement.Loads, error) {
	r, c, costs := x.run, &x.run.configs[x.k], &x.run.opts.Cost
	loads := make(measurement.Loads, len(r.t.Calls))
	_, err := engine.Map(ctx, r.opts.Jobs, len(loads), func(_ context.Context, l int) (struct{}, error) {
		if r.t.Calls[l].Len() == 0 {
			return struct{}{}, nil
		}
		load := measurement.NewLoad(r.t, trace.LocationID(l))
		clock := measurement.NewClock(r.t)
		for i := range r.t.Sends[l].Len() {
			if s := r.t.Sends[l].Ptr(i); s.Call != trace.None && costs.Visible(s.Bytes) {
				*load.Before.Ptr(int(s.Call)) += clock.Ticks(c.deciding(costs))
			}
		}
		for i := range r.t.Recvs[l].Len() {
			v := r.t.Recvs[l].Ptr(i)
			if v.Call != trace.None && v.State == trace.Matched && costs.Visible(v.Bytes) && x.wrote(v.SendLoc, int(v.Send)) {
				*load.Own.Ptr(int(v.Call)) += clock.Ticks(c.using(costs))
			}
		}
		loads[l] = load
		return struct{}{}, nil
	})
	if err == nil {
		err = r.t.Store.Err()
	}
	return loads, err
}

// Benchmark returns the median latency in ns of the smallest messages of a benchmark's trace,
// and their size.
func Benchmark(ctx context.Context, t *trace.Trace, jobs int) (medianNs float64, bytes uint64, err error) {
	type found struct {
		bytes     uint64
		latencies []int64
	}
	parts, err := engine.Map(ctx, jobs, len(t.Sends), func(ctx context.Context, l int) (f found, err error) {
		for i := range t.Sends[l].Len() {
			s := t.Sends[l].Ptr(i)
			if i%4096 == 0 && ctx.Err() != nil {
				return f, ctx.Err()
			}
			if s.State != trace.Matched || s.Call == trace.None || len(f.latencies) > 0 && s.Bytes > f.bytes {
				continue
			}
			recv := t.Recvs[s.RecvLoc].Ptr(int(s.Recv))
			if recv.Call == trace.None {
				continue
			}
			if len(f.latencies) == 0 || s.Bytes < f.bytes {
				f = found{bytes: s.Bytes}
			}
			if len(f.latencies) < benchmarkMessages {
				f.latencies = append(f.latencies, t.Calls[s.RecvLoc].Ptr(int(recv.Call)).Leave-t.Calls[l].Ptr(int(s.Call)).Enter)
			}
		}
		return f, nil
	})
	if err != nil {
		return 0, 0, err
	}
	parts = slices.DeleteFunc(parts, func(f found) bool { return len(f.latencies) == 0 })
	if len(parts) == 0 {
		return 0, 0, fmt.Errorf("%s: the benchmark has no messages", t.Source.Info().Path)
	}
	bytes = slices.MinFunc(parts, func(a, b found) int { return cmp.Compare(a.bytes, b.bytes) }).bytes
	var all []int64
	for _, f := range parts {
		if f.bytes == bytes {
			all = append(all, f.latencies...)
		}
	}
	slices.Sort(all)
	return float64(t.Defs.Clock.Nanoseconds(all[len(all)/2])), bytes, nil
}

// benchmarkMessages bounds the messages of a location that enter a benchmark.
const benchmarkMessages = 100_000

// Bytes of what a rank keeps of messages: of a category its identifier, four sums or a count for each decade, of a written message the
// identifier, both times and the size.
const (
	statBytes  = 40
	freqBytes  = 8 + 8*decades
	writeBytes = 32
)

// volume returns the bytes that a configuration keeps on all ranks together.
func (c *Config) volume(r *run, k int) (bytes uint64) {
	for _, s := range r.streams {
		if c.Analysis == Write {
			bytes += writeBytes * s.sums[k].Messages
			continue
		}
		for i := range s.keys {
			if s.cells[i*len(s.sums)+k].count == 0 {
				continue
			}
			switch c.Analysis {
			case Stat:
				bytes += statBytes
			case Freq:
				bytes += freqBytes
			}
		}
	}
	return bytes
}
