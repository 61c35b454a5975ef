package sampling

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// A Cost is what sampling costs a message, in ns. DefaultCost has the paper's figures.
type Cost struct {
	BaselineNs float64 // latency of a small message without the layer
	LayerNs    float64 // more with the layer in place, of every message
	SampleNs   float64 // more of a sampled message, with STAT or FREQ
	WriteNs    float64 // the same, with WRITE
	LimitBytes uint64  // of larger messages nothing is visible
}

// DefaultCost returns the figures of the paper's ping-pong with messages of 4 bytes.
func DefaultCost() Cost {
	return Cost{BaselineNs: 37_200, LayerNs: 3_000, SampleNs: 16_000, WriteNs: 22_000, LimitBytes: 20_000}
}

// sampled returns what a sampled message costs beyond the layer.
func (c *Cost) sampled(a Analysis) float64 {
	if a == Write {
		return c.WriteNs
	}
	return c.SampleNs
}

// message returns the mean cost of a small message if a share of them is sampled.
func (c *Cost) message(a Analysis, share float64) float64 { return c.LayerNs + share*c.sampled(a) }

// measured are the latencies that the paper measured in its ping-pong, in µs.
func measured() []PaperRow {
	return []PaperRow{{"C-2-STAT", 48.7, 0}, {"C-256-STAT", 40.1, 0}, {"T-0.001-STAT", 45.5, 0}, {"T-0.3-STAT", 41.8, 0},
		{"P-0.01-STAT", 43.3, 0}, {"P-0.9-STAT", 57.0, 0}}
}

// paper returns those with what the model has for each. In a ping-pong a rank sends every two
// latencies: a timer of since the last send, if its period is longer, never samples.
func (c *Cost) paper() []PaperRow {
	rows := measured()
	for i := range rows {
		config, _ := Parse(rows[i].Configuration, Defaults{Seed: DefaultSeed})
		share, ok := config.share()
		if !ok && 2*c.BaselineNs > float64(config.Period) {
			share = 1
		}
		rows[i].ModelUs = (c.BaselineNs + c.message(config.Analysis, share)) / 1000
	}
	return rows
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
