package diagnosis

import (
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// inputReady says how data loading is mended.
const inputReady = "If input were always ready"

// OfLoading returns that the main thread of a run without accelerators, MPI and parallel regions waits for its input; nil if it does not.
// Time in what a loader calls counts as well. It has a gain where one process is recorded: of several nobody knows who waits for whom.
func OfLoading(t *trace.Trace, a *analysis.Result) []cause.Cause {
	loads := make(map[string]bool)
	for i, is := range t.Defs.LoadsData() {
		if is {
			loads[t.Defs.String(t.Defs.Regions[i].Name)], loads[t.Defs.RegionLabel(trace.RegionID(i))] = true, true
		}
	}
	// of a loader that is only elsewhere nobody is known to wait
	loading := func(r document.CriticalRow) bool { return loads[string(r.Region)] }
	if a.CriticalPath == nil || !slices.ContainsFunc(a.CriticalPath.Regions, loading) {
		return nil
	}
	processes := int64(max(1, a.Trace.Processes))
	inside := make(map[field.Path]bool) // of loaders; those that call come before what they call
	own := make(map[string]int64)
	ns, visits, loader := int64(0), uint64(0), ""
	for _, p := range a.CallPaths {
		within := inside[p.Parent]
		if inside[p.ID] = within || loads[p.Region]; within || !inside[p.ID] {
			continue
		}
		ns, visits = ns+p.InclusiveNs, visits+p.Count
		if own[p.Region] += p.InclusiveNs; own[p.Region] > own[loader] {
			loader = p.Region
		}
	}
	run := runOf(a)
	share := float64(ns/processes) / float64(max(1, run))
	if share < leastGain {
		return nil
	}
	c := cause.Cause{Kind: cause.DataLoading, SourceLine: field.SourceLine{Region: field.Name(loader)}, Ranks: []uint32{},
		Headline: "The program waits for input: data loading", Evidence: map[string]float64{"loading_ns": float64(ns)}}
	where := fmt.Sprintf("pass in %s and what it calls (%s).", words.Brief(loader), words.Plural(int(visits), "visit", "visits"))
	if processes > 1 {
		c.Text = fmt.Sprintf("On average %s of a process's %s %s", words.Time(ns/processes), words.Time(run), where)
		return []cause.Cause{c}
	}
	gain := min(ns, run)
	c.Text = fmt.Sprintf("%s of %s %s", words.Time(gain), words.Time(run), where)
	c.GainNs, c.GainShare = &gain, &share
	c.Change = inputReady + fmt.Sprintf(", the run would be at most %s (%.1f %%) shorter.", words.Time(gain), 100*share)
	return []cause.Cause{c}
}
