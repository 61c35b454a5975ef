package analysis

import (
	"fmt"
	"math"
	"strings"

	"tracekit/trace"
)

// The metrics of ranks.
const (
	Useful = "useful" // ns of the master thread outside MPI
	Waits  = "waits"  // ns of wait states
	Hops   = "hops"   // Σ hops·bytes / Σ bytes of what the rank sends
	Bytes  = "bytes"  // sent in messages
)

// RankMetrics returns the names of the metrics.
func RankMetrics() []string { return []string{Useful, Waits, Hops, Bytes} }

// ByRank returns a metric of each rank of the selected part; NaN: it is not known. Hops says how far two ranks are from each other, below
// 0 if that is not known (DEFINITIONS 1.3).
func (r *Result) ByRank(t *trace.Trace, metric string, hops func(a, b uint32) int) ([]float64, error) {
	out := make([]float64, len(t.World))
	switch metric {
	case Useful:
		if r.Efficiency == nil || len(r.Efficiency.UsefulNs) != len(out) {
			return unknown(out), nil
		}
		for rank, ns := range r.Efficiency.UsefulNs {
			out[rank] = float64(ns)
		}
	case Waits:
		for rank, l := range t.World {
			if int(l) >= len(r.Waits) || int(l) >= len(r.Segments) || r.Segments[l].Len() != r.Waits[l].Len() {
				out[rank] = math.NaN()
				continue
			}
			var ticks int64
			for i := range r.Waits[l].Len() {
				ticks += r.Segments[l].Wait(uint32(i))
			}
			out[rank] = float64(t.Defs.Clock.Nanoseconds(ticks))
		}
	case Bytes, Hops:
		bytes := make([]float64, len(out))
		for _, cell := range r.CommMatrix {
			if int(cell.From) >= len(out) {
				continue
			}
			weight := float64(cell.Bytes)
			if metric == Hops {
				far := hops(cell.From, cell.To)
				if far < 0 {
					continue
				}
				out[cell.From] += float64(far) * weight
			}
			bytes[cell.From] += weight
		}
		if metric == Bytes {
			return bytes, nil
		}
		for rank := range out {
			out[rank] /= bytes[rank] // NaN: it sends nothing
		}
	default:
		return nil, fmt.Errorf("no metric of ranks %q: want %s", metric, strings.Join(RankMetrics(), ", "))
	}
	return out, nil
}

func unknown(out []float64) []float64 {
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}
