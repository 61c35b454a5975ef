package scaling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
)

// A PlaceRow is a place of the program, a call path: what it takes of a process in the mean,
// without what it calls, in each size (0 where it is not visited).
type PlaceRow struct {
	Path   []string   `json:"path"` // regions, the innermost last; empty: the run
	File   field.Name `json:"file"` // with Line, where the innermost is called, if traces record that
	Line   field.Line `json:"line"`
	Metric string     `json:"metric"` // time_ns; of the run runtime_ns
	Values []float64  `json:"values"` // by size
}

// A PlaceModel is a place with a model of its growth. The formula is in the unit of Metric.
type PlaceModel struct {
	PlaceRow
	Formula   string   `json:"formula"`
	Growth    string   `json:"growth"` // for many processes: 1, log2(p), p …
	Constant  float64  `json:"constant"`
	Terms     []Term   `json:"terms"`
	R2        float64  `json:"r2"`
	SMAPE     float64  `json:"smape"`   // of leave-one-out cross-validation: 0 … 2
	P         float64  `json:"p_value"` // of growth like this by chance; 1 of a constant
	Predicted float64  `json:"predicted"`
	Low       *float64 `json:"low"` // of the interval of 95 % around it; null: as many coefficients as sizes
	High      *float64 `json:"high"`
	Share     *float64 `json:"share"` // of the predictions of all places; null of the run

	Model *Model `json:"-"`
}

// samePrograms judges by the regions that runs visit: a region counts by its time.
func samePrograms(analyses []*analysis.Result) Comparable {
	c := Comparable{Alike: true, Reasons: []string{}}
	for _, a := range analyses[1:] {
		if s := inCommon(analyses[0], a); s < 0.5 {
			c.Alike = false
			c.Reasons = append(c.Reasons, fmt.Sprintf("%s and %s look like different programs: only %.0f %% of their time in regions is in "+
				"regions that both have", words.TraceName(analyses[0].Trace.Path), words.TraceName(a.Trace.Path), 100*s))
		}
	}
	return c
}

// inCommon returns the share of time that two runs spend in regions which both visit: that of the
// run which has less. Functions of MPI, which all programs call, count only where a run has no other
// regions. Without any regions there is nothing that could differ.
func inCommon(a, b *analysis.Result) float64 {
	counts := func(r *document.ProfileRow) bool { return r.Paradigm != "mpi" }
	if !slices.ContainsFunc(a.Profile, func(r document.ProfileRow) bool {
		return counts(&r)
	}) || !slices.ContainsFunc(b.Profile, func(r document.ProfileRow) bool { return counts(&r) }) {
		counts = func(*document.ProfileRow) bool { return true }
	}
	least := 1.0
	for _, pair := range [][2]*analysis.Result{{a, b}, {b, a}} {
		known := make(map[string]bool)
		for i := range pair[1].Profile {
			known[pair[1].Profile[i].Region] = true
		}
		var common, all int64
		for i := range pair[0].Profile {
			if r := &pair[0].Profile[i]; counts(r) {
				if all += r.ExclusiveNs; known[r.Region] {
					common += r.ExclusiveNs
				}
			}
		}
		if all > 0 {
			least = min(least, float64(common)/float64(all))
		}
	}
	return least
}

// placeKey names a call path by that of its caller.
type placeKey struct {
	parent int
	region string
	file   field.Name
	line   field.Line
}

// places collects the call paths of all sizes, with their values, in order of the first run that
// has them.
type places struct {
	rows  []PlaceRow
	index map[placeKey]int
	sizes int
}

func (p *places) row(k placeKey) int {
	i, ok := p.index[k]
	if !ok {
		i = len(p.rows)
		p.index[k] = i
		row := PlaceRow{File: k.file, Line: k.line, Metric: "time_ns", Values: make([]float64, p.sizes)}
		if k.parent >= 0 {
			row.Path = slices.Clone(p.rows[k.parent].Path)
		}
		row.Path = append(row.Path, k.region)
		p.rows = append(p.rows, row)
	}
	return i
}

// add adds one of so many runs of a size.
func (p *places) add(a *analysis.Result, size, runs int) {
	paths := slices.Clone(a.CallPaths)
	slices.SortFunc(paths, func(x, y document.CallPathRow) int { return cmp.Compare(x.ID, y.ID) }) // callers first
	at := make(map[field.Path]int, len(paths))
	processes := float64(max(1, a.Trace.Processes) * runs)
	rest := float64(threads(a)) * float64(runOf(a).RuntimeNs)
	for i := range paths {
		r := &paths[i]
		parent, ok := at[r.Parent]
		if !ok {
			parent = -1
		}
		k := p.row(placeKey{parent, r.Region, r.File, r.Line})
		at[r.ID] = k
		p.rows[k].Values[size] += float64(r.ExclusiveNs) / processes
		rest -= float64(r.ExclusiveNs)
	}
	if rest > 0 {
		p.rows[p.row(placeKey{-1, field.OutsideRegions, "", 0})].Values[size] += rest / processes
	}
}

// model makes the models of all places and of the run.
func (s *Scaling) model(ctx context.Context, bySize [][]*analysis.Result, opts Options) error {
	p := &places{index: make(map[placeKey]int), sizes: len(bySize)}
	x := make([]float64, len(bySize))
	run := PlaceRow{Path: []string{}, Metric: "runtime_ns"}
	for i, same := range bySize {
		for _, a := range same {
			p.add(a, i, len(same))
		}
		x[i] = s.Sizes[i].scaled(s.Sizes)
		run.Values = append(run.Values, float64(s.Sizes[i].RuntimeNs))
	}
	if s.At = opts.At; s.At == 0 {
		s.At = int(2 * x[len(x)-1])
	}
	present := func(r *PlaceRow) (n int) {
		for _, v := range r.Values {
			if v > 0 {
				n++
			}
		}
		return n
	}
	models, err := engine.Map(ctx, opts.Jobs, len(p.rows), func(_ context.Context, i int) (*Model, error) {
		if r := &p.rows[i]; present(r) >= leastSizes {
			return Fit(x, r.Values, float64(s.At)), nil
		}
		return nil, nil
	})
	if err != nil {
		return fmt.Errorf("finding models: %w", err)
	}
	sum := 0.0
	for i, row := range p.rows {
		switch m := models[i]; {
		case m != nil:
			s.Models = append(s.Models, placeModel(row, m, float64(s.At)))
			sum += m.At(float64(s.At))
		case present(&row) > 0:
			s.Unmodelled = append(s.Unmodelled, row)
		}
	}
	for i := range s.Models {
		s.Models[i].Share = numbers.Known(s.Models[i].Predicted / sum)
	}
	last := len(x) - 1
	slices.SortStableFunc(s.Models, func(a, b PlaceModel) int { return cmp.Compare(b.Predicted, a.Predicted) })
	slices.SortStableFunc(s.Unmodelled, func(a, b PlaceRow) int { return cmp.Compare(b.Values[last], a.Values[last]) })
	if m := Fit(x, run.Values, float64(s.At)); m != nil {
		s.Runtime = new(PlaceModel)
		*s.Runtime = placeModel(run, m, float64(s.At))
	}
	return nil
}

// scaled is what models take for p: the processes, or where these have different numbers of
// threads, all threads.
func (s *Size) scaled(sizes []Size) float64 {
	for i := range sizes {
		if sizes[i].Threads*sizes[0].Processes != sizes[0].Threads*sizes[i].Processes {
			return s.processors()
		}
	}
	return float64(s.Processes)
}

func placeModel(row PlaceRow, m *Model, at float64) PlaceModel {
	out := PlaceModel{PlaceRow: row, Formula: m.Formula(1, ""), Growth: m.growth(), Constant: m.Constant, Terms: slices.Clone(m.Terms),
		R2: m.R2, SMAPE: m.SMAPE, P: m.P, Predicted: math.Max(0, m.At(at)), Model: m}
	if out.Terms == nil {
		out.Terms = []Term{}
	}
	if low, high, ok := m.Interval(at); ok {
		out.Low, out.High = numbers.Known(low), numbers.Known(high)
	}
	return out
}

// Name names a call path by its regions, the innermost last.
func (r *PlaceRow) Name() string {
	name := strings.Join(r.Path, " > ")
	if r.File != "" && r.Line != 0 {
		name += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
	}
	return name
}
