package figure

import (
	"cmp"
	"slices"
	"strings"

	"tracekit/document/palette"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/studies/headers"
)

// A ViewGroup is a column of the table by size, and a color of the picture (palette): metrics of one kind.
type ViewGroup struct {
	Title   string
	Derived bool // a model made it: the trace does not tell it
	class   palette.Class
	metrics []string // names, or kinds of regions; nil: what ranks do themselves
}

// ViewGroups returns the groups, from the bottom of a bar to its top. Only a run that calls the
// runtime of an accelerator has a group of such calls; what delays messages has one where it does.
func ViewGroups(p *headers.Profile) []ViewGroup {
	groups := []ViewGroup{
		{"compute", false, palette.Computing, nil},
		{"accelerator", false, palette.Runtime, []string{headers.Accelerator}},
		{"copy", true, palette.IO, []string{"copy"}},
		{"wire", true, palette.Threads, []string{"wire"}},
		{"overhead", false, palette.PointToPoint, []string{"send overhead", "receive overhead"}},
		{"collective", false, palette.Collective, []string{"collective"}},
		{"other MPI", false, palette.Startup, []string{"startup", "other MPI"}},
		{"late, queued", true, palette.Management, []string{"late progress", "queued"}},
		{"system", true, palette.Runtime, []string{"system", "network or system"}},
		{"unexplained", true, palette.Measurement, []string{"unexplained"}},
		{"waiting", false, palette.Waiting, []string{"wait"}},
	}
	rows := slices.Concat(p.Host, p.Message)
	for _, s := range p.Sizes {
		rows = append(rows, s.Message...)
	}
	return slices.DeleteFunc(groups, func(g ViewGroup) bool {
		seldom := slices.Contains([]palette.Class{palette.Runtime, palette.Management}, g.class)
		return seldom && !slices.ContainsFunc(rows, g.Holds)
	})
}

// Holds reports whether a row is in the group; one without names has all regions of the program.
func (g ViewGroup) Holds(row headers.MetricRow) bool {
	kind, _, _ := headers.Region(row.Metric)
	if g.metrics == nil {
		return kind == headers.Compute || row.Metric == headers.OutsideRegions || row.Metric == headers.NotRecorded
	}
	return slices.Contains(g.metrics, cmp.Or(kind, row.Metric))
}

// Grouped adds up rows by group.
func Grouped(groups []ViewGroup, rows []headers.MetricRow) []float64 {
	out := make([]float64, len(groups))
	for _, row := range rows {
		at := max(0, slices.IndexFunc(groups, func(g ViewGroup) bool { return g.Holds(row) }))
		if row.Share != nil {
			out[at] += *row.Share
		}
	}
	return out
}

// Views draws both views of the run and of each class of sizes: the paper's second figure.
func Views(title string, p *headers.Profile) (*plots.Figure, error) {
	d := plots.BarsData{Title: "What hosts do, and what messages wait for: " + title, XLabel: "bytes of a message",
		Y: plots.Axis{Label: "share of the time", Unit: plots.Share},
		Note: "Left of each pair: the hosts; right: the path that led to the message (run: to its end). Copy, wire, and what delays messages " +
			"are derived."}
	groups := ViewGroups(p)
	for _, g := range groups {
		d.Categories = append(d.Categories, plots.Category{Name: g.Title, Color: g.class.Look().Light[0]})
	}
	add := func(name string, host, message []headers.MetricRow) {
		d.Groups = append(d.Groups, plots.BarGroup{Name: name, Bars: [][]float64{Grouped(groups, host), Grouped(groups, message)}})
	}
	add("run", p.Host, p.Message)
	for _, s := range p.Sizes {
		add(SizeName(s.From, s.To), s.Host, s.Message)
	}
	return plots.Bars(d)
}

// SizeName names a class of sizes by its least size.
func SizeName(from, to uint64) string {
	if to <= from+1 {
		return words.Bytes(from)
	}
	number, unit, _ := strings.Cut(words.Bytes(from), " ")
	number, _, _ = strings.Cut(number, ".") // a power of two
	return "≥ " + number + " " + unit
}
