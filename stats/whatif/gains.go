package whatif

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A Gain is what one change, or several together, would gain.
type Gain struct {
	Place  string   `json:"place"`  // as Model.Place takes it; several are joined by " + "
	Change string   `json:"change"` // what is done there
	GainNs int64    `json:"gain_ns"`
	Share  *float64 `json:"gain_share"` // of the run time; null: that is 0

	name    name // of the place, whoever calls it
	changes []Change
}

// Together reports whether the gain is that of several changes made together.
func (g Gain) Together() bool { return len(g.changes) > 1 }

// tried is how many places are tried: that many of those that make others wait most, and as
// many of those with most time on the critical path.
const tried = 8

// combined is how many of the best changes are made together.
const combined = 3

// Gains tries the changes that promise most: places that make others wait or lie on the critical path are balanced, halved and left out; so
// they are for each of several callers; the network is made ideal; and the best changes of the first few places are made together. A change
// that gains hardly more than a smaller one is left out. Rows are sorted by gain.
func (m *Model) Gains(ctx context.Context, a *analysis.Result) ([]Gain, error) {
	var rows []Gain
	for _, n := range slices.DeleteFunc(candidates(a), m.waitsForDevice) {
		for _, caller := range append([]string{""}, m.callers(a, n)...) {
			place, text := m.calledFrom(n, caller), n.String()
			if caller != "" {
				text += "@" + caller
			}
			rows = append(rows, Gain{Place: text, Change: "balance", name: n, changes: []Change{Balance(place)}})
			for _, factor := range []float64{0.5, 0} {
				rows = append(rows, Gain{Place: text, Change: fmt.Sprintf("scale %v", factor), name: n, changes: []Change{Scale(place, factor)}})
			}
		}
	}
	if m.network.hull != nil {
		rows = append(rows, Gain{Change: "network ideal", changes: []Change{IdealNetwork()}})
	}
	if err := m.try(ctx, rows); err != nil {
		return nil, err
	}
	rows = enough(rows)
	if best := bestOf(rows); len(best) > 1 {
		var places, what []string
		var changes []Change
		for _, g := range best {
			places, what, changes = append(places, g.Place), append(what, g.Change), append(changes, g.changes...)
		}
		together := []Gain{{Place: strings.Join(places, " + "), Change: strings.Join(what, " + "), changes: changes}}
		if err := m.try(ctx, together); err != nil {
			return nil, err
		}
		if !Alike(together[0].GainNs, best[0].GainNs) {
			rows = append(rows, together...)
			sortGains(rows)
		}
	}
	return rows, nil
}

// Alike reports whether a gain is hardly more than another one: by less than a hundredth.
func Alike(gain, other int64) bool { return gain > 0 && gain-other < (other+99)/100 }

// enough returns the rows without those that a smaller change nearly equals: leaving a place out where
// halving it gains as much, or a place where one of its callers gains as much.
func enough(rows []Gain) []Gain {
	type part struct {
		name
		change string
	}
	half, called := make(map[string]int64), make(map[part]int64)
	for _, g := range rows {
		if g.Change == "scale 0.5" {
			half[g.Place] = g.GainNs
		}
		if of := (part{g.name, g.Change}); g.Place != g.name.String() {
			called[of] = max(called[of], g.GainNs)
		}
	}
	return slices.DeleteFunc(rows, func(g Gain) bool {
		return g.Change == "scale 0" && Alike(g.GainNs, half[g.Place]) ||
			g.Place == g.name.String() && Alike(g.GainNs, called[part{g.name, g.Change}])
	})
}

// try finds the gains of rows, and sorts them.
func (m *Model) try(ctx context.Context, rows []Gain) error {
	lists := make([][]Change, len(rows))
	for i := range rows {
		lists[i] = rows[i].changes
	}
	predictions, err := m.PredictAll(ctx, lists)
	if err != nil {
		return err
	}
	for i, p := range predictions {
		rows[i].GainNs = p.Gain()
		rows[i].Share = numbers.Ratio(p.Gain(), p.Baseline)
	}
	sortGains(rows)
	return nil
}

func sortGains(rows []Gain) {
	slices.SortStableFunc(rows, func(a, b Gain) int {
		return cmp.Or(cmp.Compare(b.GainNs, a.GainNs), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Change, b.Change))
	})
}

// bestOf returns, of the first places with a gain, the changes that a program can be expected to
// make: shared work, or half of the time, but not of MPI_Init and MPI_Finalize.
func bestOf(rows []Gain) (best []Gain) {
	for _, g := range rows {
		known := slices.ContainsFunc(best, func(b Gain) bool { return b.name == g.name })
		operation, _, _ := strings.Cut(g.Place, "@")
		class := trace.MPIFunctionOf(operation).Class
		if g.GainNs > 0 && !known && g.Place != "" && class != trace.ClassInit && class != trace.ClassFinalize && g.Change != "scale 0" &&
			len(best) < combined {
			best = append(best, g)
		}
	}
	return best
}

// someOf is what part of what a place costs a caller must have to be tried by itself.
const someOf = 0.1

// callers returns the regions that call a place outside MPI, if there are several: those with so
// much of its time on the critical path, or of the waits that it causes, that of most first.
func (m *Model) callers(a *analysis.Result, n name) (out []string) {
	type cost struct{ path, waits int64 }
	all, by := cost{}, make(map[string]cost)
	if n.operation != "" {
		return nil
	}
	for _, c := range a.PathCosts {
		slot := m.slot(c.Path)
		if slot >= len(m.names) || m.names[slot] != n {
			continue
		}
		x := by[m.caller(slot)]
		x.path, x.waits = x.path+c.CriticalNs, x.waits+c.Delay.TotalNs
		all.path, all.waits = all.path+c.CriticalNs, all.waits+c.Delay.TotalNs
		by[m.caller(slot)] = x
	}
	if len(by) < 2 {
		return nil
	}
	for caller, x := range by {
		if caller != "" && (float64(x.path) > someOf*float64(all.path) || float64(x.waits) > someOf*float64(all.waits)) {
			out = append(out, caller)
		}
	}
	slices.SortFunc(out, func(p, q string) int {
		return cmp.Or(cmp.Compare(by[q].path, by[p].path), cmp.Compare(by[q].waits, by[p].waits), cmp.Compare(p, q))
	})
	return out
}

// WaitsForDevices reports whether hosts call what does nothing but wait for an accelerator. The
// model has no accelerators: such calls keep their time, whatever hosts do before.
func (m *Model) WaitsForDevices() bool { return slices.ContainsFunc(m.names, m.waitsForDevice) }

// waitsForDevice reports whether a name is that of calls that only wait for an accelerator.
func (m *Model) waitsForDevice(n name) bool { return m.deviceWaits[n] }

// deviceWaits returns the names of call paths that only wait for an accelerator.
func deviceWaits(t *trace.Trace, names []name) map[name]bool {
	out, waits := make(map[name]bool), t.Defs.DeviceWaits()
	for path, node := range t.Tree.Nodes {
		if int(node.Region) < len(waits) && waits[node.Region] && names[path].operation == "" {
			out[names[path]] = true
		}
	}
	return out
}

// candidates returns the places that make others wait, and those on the critical path.
func candidates(a *analysis.Result) (out []name) {
	add := func(n name) {
		if !slices.Contains(out, n) && (n.operation != "" || !strings.HasPrefix(n.region, "(")) {
			out = append(out, n)
		}
	}
	for _, r := range a.Delays[:min(tried, len(a.Delays))] {
		add(nameOfRow(r.Operation, r.SourceLine))
	}
	if a.CriticalPath != nil {
		for _, r := range a.CriticalPath.Regions[:min(tried, len(a.CriticalPath.Regions))] {
			add(nameOfRow(r.Operation, r.SourceLine))
		}
	}
	return out
}
