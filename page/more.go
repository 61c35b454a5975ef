package page

import (
	"slices"

	"tracekit/document"
	"tracekit/readers"
	"tracekit/report"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
	"tracekit/stats/stragglers"
	"tracekit/topology"
	"tracekit/trace"
)

// More is what a page shows beside the analysis and its timeline.
type More struct {
	lines  []lineCalls
	grids  []grid
	files  []sourceFile
	lost   []string // files that were not found
	tables report.Shipped

	pipeline *stragglers.Pipeline
}

// NewMore gathers what a page shows of an analysis besides. Sources may be nil: the files that the
// trace names are not at hand. Of their text it takes so many bytes at most.
func NewMore(t *trace.Trace, a *analysis.Result, s *Sources, bytes int) *More {
	m := &More{lines: histograms(a), grids: gridsOf(t, a), tables: report.Ship(&a.Analysis), pipeline: a.Pipeline}
	m.tables.Writer = readers.WrittenBy(a.Trace.Format, a.Trace.Creator)
	if s != nil {
		m.files, m.lost = s.take(namedLines(t.Defs, a), bytes)
	}
	return m
}

// more is the block of the page.
type more struct {
	Lines   []lineCalls  `json:"lines"`
	LinesOf int          `json:"lines_of"` // how many there are: a part is kept
	Grids   []grid       `json:"grids"`
	Files   []sourceFile `json:"sources"`
	Lost    []string     `json:"lost"`
	Sought  bool         `json:"sought"` // whether files were looked for
	report.Shipped
	KernelsOf int                  `json:"kernels_of"`
	Pipeline  *stragglers.Pipeline `json:"pipeline,omitempty"`
}

// pack makes the block of so many bytes at most: histograms of the lines with the least time go
// first, then steps of the pipelines, files, topologies and kernels.
func (m *More) pack(z *packer, limit int64) (string, error) {
	if m == nil {
		m = &More{tables: report.Ship(&document.Analysis{})}
	}
	x := more{Lines: m.lines, LinesOf: len(m.lines), Grids: m.grids, Files: m.files, Lost: m.lost, Sought: m.files != nil || m.lost != nil,
		Shipped: m.tables, KernelsOf: len(m.tables.Kernels), Pipeline: m.pipeline}
	steps := 0
	if x.Pipeline != nil {
		x.Pipeline, steps = new(*m.pipeline), len(m.pipeline.Steps)
	}
	for {
		packed, err := z.json(&x)
		if err != nil || int64(len(packed)) <= limit || len(x.Lines)+steps+len(x.Files)+len(x.Grids)+len(x.Lost)+len(x.Kernels) == 0 {
			return packed, err
		}
		switch {
		case len(x.Lines) > 0:
			x.Lines = x.Lines[:len(x.Lines)/2]
		case steps > 0:
			steps = min(steps/2, steps*int(limit)/len(packed)) // they are most of it
			x.Pipeline.Keep(steps)
		case len(x.Files) > 0:
			x.Files = x.Files[:len(x.Files)/2]
		case len(x.Grids)+len(x.Lost) > 0:
			x.Grids, x.Lost = nil, nil
		default:
			x.Kernels = x.Kernels[:len(x.Kernels)/2]
		}
	}
}

// A grid is a topology as the page draws it.
type grid struct {
	Name  string  `json:"name"`
	Sizes []int   `json:"sizes"`
	At    [][]int `json:"at"` // rank, then its place by dimension

	Metrics map[string][]*float64 `json:"metrics"` // by rank; null: not known
}

// Bounds of what is drawn: more places than these are no picture.
const (
	gridsDrawn  = 8
	placesDrawn = 1 << 15
)

// gridsOf returns the topologies of a trace in which ranks have places.
func gridsOf(t *trace.Trace, a *analysis.Result) []grid {
	out := []grid{}
	for _, name := range topology.Names(t.Defs) {
		top := topology.OfTrace(t.Defs, name)
		if top == nil || len(out) == gridsDrawn {
			continue
		}
		g, places := grid{Name: shorten(name), Sizes: top.Dimensions()}, 1
		for _, n := range g.Sizes {
			if places > placesDrawn/n {
				places = placesDrawn + 1
				break
			}
			places *= n
		}
		if places > placesDrawn {
			continue
		}
		for rank := range t.World {
			if at := top.Coordinates(uint32(rank)); at != nil {
				g.At = append(g.At, append([]int{rank}, at...))
			}
		}
		if len(g.At) > 1 {
			g.Metrics = metricsOf(t, a, top)
			out = append(out, g)
		}
	}
	return out
}

// metricsOf returns the metrics of ranks that are known of any.
func metricsOf(t *trace.Trace, a *analysis.Result, top *topology.Topology) map[string][]*float64 {
	out := make(map[string][]*float64)
	for _, name := range analysis.RankMetrics() {
		values, err := a.ByRank(t, name, top.Hops)
		if err != nil || !slices.ContainsFunc(values, func(v float64) bool { return v >= 0 }) {
			continue
		}
		for _, v := range values {
			out[name] = append(out[name], numbers.Known(v))
		}
	}
	return out
}
