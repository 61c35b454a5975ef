package scaling_test

import (
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/scaling"
	"tracekit/stats/statstest"
)

// TestOverheads: wavefronts of three sizes, the last one twice. The overheads of a size are the means over its runs, those of lines add up
// to those of all, and the receives of the wavefront wait for late senders in every size.
func TestOverheads(t *testing.T) {
	var runs []*analysis.Result
	for i, size := range []int{4, 9, 16, 16} {
		_, a := statstest.Analyzed(t, statstest.Generated(t, samples.Options{Program: "sweep", Ranks: size, Iterations: 50, Seed: uint64(i + 1)}),
			merge.Options{}, analysis.Options{Top: 1, Overhead: &overhead.Options{}})
		runs = append(runs, a)
	}
	o := compared(t, runs, scaling.Options{}).Overhead
	if o == nil || len(o.Sizes) != 3 || o.Source != "trace" {
		t.Fatalf("%+v", o)
	}
	for size, of := range [][]*analysis.Result{runs[:1], runs[1:2], runs[2:]} {
		var total, lost int64
		for _, a := range of {
			total += a.Overhead.TotalNs
			lost += a.Overhead.OverheadNs
		}
		n := int64(len(of))
		if all := o.Sizes[size]; all.TotalNs != (total+n/2)/n || all.OverheadNs != (lost+n/2)/n || all.Processes != of[0].Trace.Processes {
			t.Errorf("size %d: %+v, want %d/%d and %d/%d", size, all, total, n, lost, n)
		}
		var needed, beyond, calls int64
		for _, l := range o.Lines {
			at := l.Sizes[size]
			if at == nil {
				continue
			}
			if at.NecessaryNs+at.OverheadNs != at.TotalNs || at.LatePartnerNs > at.OverheadNs {
				t.Errorf("%s: %+v", l.Operation, at)
			}
			needed, beyond, calls = needed+at.NecessaryNs, beyond+at.OverheadNs, calls+int64(at.Calls)
		}
		if all := o.Sizes[size]; abs(needed-all.NecessaryNs) > int64(len(o.Lines)) || abs(beyond-all.OverheadNs) > int64(len(o.Lines)) ||
			uint64(calls) != all.Calls {
			t.Errorf("size %d: lines have %d, %d, %d; all %+v", size, needed, beyond, calls, all)
		}
	}
	if first := o.Lines[0]; first.Operation != "MPI_Recv" || first.Sizes[0].Verdict != "late sender" ||
		first.Sizes[2].Verdict != "late sender" {
		t.Errorf("%+v", first)
	}
}

func abs(v int64) int64 { return max(v, -v) }
