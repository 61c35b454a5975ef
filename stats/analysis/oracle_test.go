package analysis_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/samples/oracle"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// TestOracle compares the analysis of random programs with that of the oracle, which
// follows the definitions with nested loops.
func TestOracle(t *testing.T) {
	for seed := range uint64(400) {
		m, truth := samples.Random(seed)
		compareWithOracle(t, fmt.Sprint("seed ", seed), m)
		if _, a := analyzed(t, m, merge.ClockNone, analysis.Options{}); truth != nil {
			if diff := cmp.Diff(truthOf(truth), found(a)); diff != "" {
				t.Errorf("seed %d: truth is -, analysis is +:\n%s", seed, diff)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func compareWithOracle(t *testing.T, name string, m *samples.Memory) {
	t.Helper()
	tr, a := analyzed(t, m, merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
	want := oracleFacts(m, oracle.Analyze(&m.MemorySource, oracle.Options{}))
	if e := a.Efficiency; e.IncompleteCallsNs > 0 && e.ZeroCostRuntimeNs == nil { // a replay would not know for what calls wait
		want.Ideal, want.Efficiency[3], want.Efficiency[4] = 0, 0, 0
	}
	if diff := cmp.Diff(want, analysisFacts(tr, a)); diff != "" {
		t.Errorf("%s: oracle is -, analysis is +:\n%s", name, diff)
	}
}

// oracled is what oracle and analysis have in common.
type oracled struct {
	Waits      map[string]oracle.Sum
	Profile    map[string]oracle.Row
	Path       map[string]int64
	Segments   []string
	Useful     []int64
	Ideal      int64
	Efficiency [5]float64
}

func oracleFacts(m *samples.Memory, r *oracle.Result) oracled {
	o := oracled{Waits: make(map[string]oracle.Sum), Profile: make(map[string]oracle.Row), Path: make(map[string]int64)}
	for kind, sum := range r.Sums() {
		switch kind {
		case oracle.WrongOrderSame, oracle.WrongOrderDifferent:
			w := o.Waits["late_sender_wrong_order"]
			o.Waits["late_sender_wrong_order"] = oracle.Sum{Count: w.Count + sum.Count, Time: w.Time + sum.Time}
		default:
			o.Waits[string(kind)] = sum
		}
	}
	for id, row := range r.Profile {
		o.Profile[m.Definitions.RegionName(id)] = row
	}
	for id, time := range r.Path.Regions {
		o.Path[m.Definitions.RegionName(id)] += time
	}
	addNonZero(o.Path, "(not recorded)", r.Path.NotRecorded)
	addNonZero(o.Path, "(outside any region)", r.Path.Outside)
	for _, s := range r.Path.Segments {
		zero := m.Definitions.Clock.GlobalOffset
		o.Segments = append(o.Segments, fmt.Sprint(s.Rank, s.From-zero, s.To-zero))
	}
	e := r.Efficiency
	o.Useful, o.Ideal = e.Useful, e.Ideal
	o.Efficiency = rounded(e.Parallel, e.LoadBalance, e.Communication, e.Serialization, e.Transfer)
	return o
}

func addNonZero(m map[string]int64, key string, value int64) {
	if value != 0 {
		m[key] = value
	}
}

// rounded removes the last digits, in which the order of operations shows.
func rounded(ratios ...float64) (out [5]float64) {
	for i, r := range ratios {
		out[i] = math.Round(r*1e12) / 1e12
	}
	return out
}

func analysisFacts(tr *trace.Trace, a *analysis.Result) oracled {
	o := oracled{Waits: make(map[string]oracle.Sum), Profile: make(map[string]oracle.Row), Path: make(map[string]int64)}
	for _, w := range namedWaits(a.WaitStates) {
		if w.state.Count > 0 {
			o.Waits[w.name] = oracle.Sum{Count: w.state.Count, Time: w.state.TimeNs}
		}
	}
	for _, r := range a.Profile {
		o.Profile[r.Region] = oracle.Row{Count: r.Count, Inclusive: r.InclusiveNs, Exclusive: r.ExclusiveNs}
	}
	for _, r := range a.CriticalPath.Regions {
		name := string(r.Region)
		if r.Operation != "" {
			name = string(r.Operation)
		}
		o.Path[name] += r.TimeNs
	}
	for i := range a.Path.Len() {
		s := a.Path.At(i)
		o.Segments = append(o.Segments, fmt.Sprint(s.Rank, s.FromNs, s.ToNs))
	}
	e := a.Efficiency
	value := func(p *float64) float64 {
		if p == nil {
			return 0
		}
		return *p
	}
	o.Useful = e.UsefulNs
	if e.ZeroCostRuntimeNs != nil {
		o.Ideal = *e.ZeroCostRuntimeNs
	}
	o.Efficiency = rounded(value(e.ParallelEfficiency), value(e.LoadBalance), value(e.CommunicationEfficiency),
		value(e.SerializationEfficiency), value(e.TransferEfficiency))
	return o
}
