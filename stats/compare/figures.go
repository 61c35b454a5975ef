package compare

import (
	"tracekit/document"
	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
)

// Where the ratios of efficiency stand in the document of an analysis.
const (
	wholeRun       = "efficiency."
	withoutStartup = "efficiency.without_init_finalize."
	ofThreads      = "threads.efficiency.thread"
)

// Where the figures of a training job stand (DEFINITIONS 2.19).
const (
	stepTime     = "training.step_ns"
	stepSlowdown = "training.slowdown"
)

// ratios are those of DEFINITIONS 2.6, by their keys.
var ratios = []string{"parallel_efficiency", "load_balance", "communication_efficiency", "serialization_efficiency", "transfer_efficiency"}

// FigureNames returns the names of the figures of a run, which are paths in the document of its analysis, in order. Times are ns.
func FigureNames() []string {
	names := []string{"trace.duration_ns", "trace.events", stepTime, stepSlowdown}
	for _, block := range []string{wholeRun, withoutStartup} {
		for _, r := range ratios {
			names = append(names, block+r)
		}
	}
	names = append(names, ofThreads, "counters.instructions", "counters.ipc", "counters.frequency_ghz", "messages.count", "messages.bytes")
	for k := range new(waitstate.States).All {
		names = append(names, waitFigure(k))
	}
	return names
}

func waitFigure(k waitstate.Kind) string { return "wait_states." + k.Info().Key + ".time_ns" }

// figuresOf reads the figures of an analysis. One that is not defined is nil, and so is a wait state that does not occur; those of a
// block that the analysis does not have are missing.
func figuresOf(a *analysis.Result) map[string]*float64 {
	f := make(map[string]*float64)
	set := func(name string, x float64) { f[name] = &x }
	set("trace.duration_ns", float64(a.Trace.DurationNs))
	set("trace.events", float64(a.Trace.Events))
	if t := a.Training; t != nil {
		set(stepTime, float64(t.StepNs))
		set(stepSlowdown, t.Slowdown)
	}
	setRatios := func(block string, r *document.Ratios) {
		for i, x := range []*float64{r.ParallelEfficiency, r.LoadBalance, r.CommunicationEfficiency, r.SerializationEfficiency,
			r.TransferEfficiency} {
			f[block+ratios[i]] = x
		}
	}
	if e := a.Efficiency; e != nil {
		setRatios(wholeRun, &e.Ratios)
		if e.WithoutInitFinalize != nil {
			setRatios(withoutStartup, e.WithoutInitFinalize)
		}
	}
	if a.Threads != nil {
		f[ofThreads] = a.Threads.Efficiency.Thread
	}
	if c := a.Counters; c != nil {
		f["counters.instructions"], f["counters.ipc"], f["counters.frequency_ghz"] = c.Instructions, c.IPC, c.FrequencyGHz
	}
	if m := a.Messages; m != nil {
		set("messages.count", float64(m.Count))
		set("messages.bytes", float64(m.Bytes))
	}
	if a.WaitStates != nil {
		for k, w := range a.WaitStates.All {
			if f[waitFigure(k)] = nil; w.Count > 0 {
				set(waitFigure(k), float64(w.TimeNs))
			}
		}
	}
	return f
}
