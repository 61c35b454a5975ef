package stats

import (
	"math"
	"slices"

	"tracekit/document"
	"tracekit/document/doubt"
	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// leaveOut takes from an analysis what needs time that is not in the trace, because it was cut from it, or the records of most ranks end
// early, or some are missing that may lie anywhere, or files have no common time. It reports whether it did. It estimates what the whole
// run had of what was sampled.
func leaveOut(t *trace.Trace, a *analysis.Result) bool {
	r, e := a.Trace.Reduced, a.Efficiency
	if r != nil && a.Selection == nil && a.Messages != nil {
		if s, ok := t.Source.Info().Sample(); ok {
			r.Estimates = estimates(t, a, s)
		}
	}
	noCauses := slices.ContainsFunc(t.Findings, func(f trace.Finding) bool {
		return f.Code == trace.CodeCutAnywhere || f.Code == trace.CodeUnalignedClocks || f.Code == trace.CodeFilesApart
	})
	if cut := r != nil && r.LeftOut != nil; !cut && !noCauses && (e == nil || len(e.EndEarly) <= len(e.UsefulNs)) {
		return false
	}
	if noCauses {
		a.Devices, a.DevicePath, a.Training, a.Pipeline = nil, nil, nil, nil
		a.Doubts = slices.DeleteFunc(a.Doubts, func(d doubt.Sign) bool { return d.Kind == doubt.LateRecords })
	}
	a.CriticalPath, a.Delays, a.DelayTotals, a.Diagnosis, a.Efficiency, a.Threads = nil, nil, nil, nil, nil, nil
	return true
}

// normal95 is the number of standard deviations in which 95 % of normally distributed values lie.
const normal95 = 1.959964

// estimates returns sums of the whole run: with n of N messages, N/n times that of the sample. Of messages drawn at random the variance is
// that of sampling without replacement, N² (1 − n/N) s²/n with s² the variance of the messages' parts.
func estimates(t *trace.Trace, a *analysis.Result, s trace.Sample) []*document.Estimate {
	n, of := float64(s.Sampled), float64(s.Of)
	estimate := func(key string, sum, squares float64) *document.Estimate {
		e := &document.Estimate{Key: key, Value: sum * of / n}
		if s.Strategy == "random" && n > 1 {
			variance := max(0, squares-sum*sum/n) / (n - 1)
			by := normal95 * math.Sqrt(of*of*(1-n/of)*variance/n)
			low, high := max(sum, e.Value-by), e.Value+by
			e.Low, e.High = &low, &high
		}
		return e
	}
	sum, squares := 0.0, 0.0
	var waits, waitSquares [waitstate.Kinds]float64
	for l := range t.Sends {
		for _, rows := range t.Sends[l].Rows {
			for i := range rows {
				bytes := float64(rows[i].Bytes)
				sum, squares = sum+bytes, squares+bytes*bytes
			}
		}
		if a.Waits[l] == nil {
			continue
		}
		for _, rows := range a.Waits[l].Rows.Rows {
			for i := range rows {
				ns := float64(t.Defs.Clock.Nanoseconds(rows[i].Time))
				waits[rows[i].Kind] += ns
				waitSquares[rows[i].Kind] += ns * ns
			}
		}
	}
	out := []*document.Estimate{{Key: "messages.count", Value: of, Low: &of, High: &of}, estimate("messages.bytes", sum, squares)}
	for k := range a.WaitStates.All {
		if waits[k] > 0 && k.Info().Partner {
			out = append(out, estimate("wait_states."+k.Info().Key+".time_ns", waits[k], waitSquares[k]))
		}
	}
	return out
}
