package diagnosis

import (
	"fmt"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// inputReady says how data loading is mended.
const inputReady = "If input were always ready"

// OfLoading returns that a run without accelerators waits for its input, in loaders and what they call; nil if it does not, or if another
// cause says most of that of some ranks. It gains at most their time on the critical path. Without communication that is the location which
// ends last; of several processes nobody knows then who waits for whom.
func OfLoading(t *trace.Trace, a *analysis.Result) []cause.Cause {
	if a.CriticalPath == nil {
		return nil
	}
	loads := make(map[string]bool)
	for i, is := range t.Defs.LoadsData() {
		if is {
			loads[t.Defs.RegionLabel(trace.RegionID(i))] = true
		}
	}
	inside, loader, visits := insideOf(a, loads)
	time := 0.0
	for _, row := range a.CriticalPath.Regions {
		if row.Operation == "" {
			time += inside[string(row.Region)] * float64(row.TimeNs)
		}
	}
	gain, run := int64(time), runOf(a)
	share := float64(gain) / float64(max(1, run))
	if loader == "" || inside[loader] == 0 || share < leastGain || slices.ContainsFunc(a.Diagnosis, func(c cause.Cause) bool {
		_, of := c.Evidence["loading_ns"]
		return (of || loads[string(c.Region)]) && 2*gainOf(c) >= gain
	}) {
		return nil
	}
	of := words.Time(run)
	if a.Efficiency != nil {
		of = "the critical path"
	}
	c := cause.Cause{Kind: cause.DataLoading, SourceLine: field.SourceLine{Region: field.Name(loader)}, Ranks: []uint32{},
		Headline: "The program waits for input: data loading", Evidence: map[string]float64{"loading_ns": float64(gain)},
		Text: fmt.Sprintf("%s of %s pass in %s and what it calls (%s).", words.Time(gain), of, words.Brief(loader),
			words.Plural(int(visits), "visit", "visits"))}
	if a.Efficiency != nil || a.Trace.Processes <= 1 {
		c.GainNs, c.GainShare = &gain, &share
		c.Change = inputReady + fmt.Sprintf(", the run would be at most %s (%.1f %%) shorter.", words.Time(gain), 100*share)
	}
	return []cause.Cause{c}
}

// insideOf returns which share of their own time regions have inside of some regions, and of the latter the one with the most time.
func insideOf(a *analysis.Result, some map[string]bool) (share map[string]float64, most string, visits uint64) {
	within := make(map[field.Path]bool) // rows that call come before what they call
	in, all, time := make(map[string]int64), make(map[string]int64), make(map[string]int64)
	for _, p := range a.CallPaths {
		outer := within[p.Parent]
		within[p.ID] = outer || some[p.Region]
		all[p.Region] += p.ExclusiveNs
		if within[p.ID] {
			in[p.Region] += p.ExclusiveNs
		}
		if outer || !within[p.ID] {
			continue
		}
		visits += p.Count
		if time[p.Region] += p.InclusiveNs; most == "" || time[p.Region] > time[most] {
			most = p.Region
		}
	}
	share = make(map[string]float64, len(in))
	for name, ns := range in {
		share[name] = float64(ns) / float64(max(1, all[name]))
	}
	return share, most, visits
}
