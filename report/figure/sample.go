package figure

import (
	"fmt"
	"maps"
	"slices"

	"tracekit/document/sample"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/stats/studies/sampling"
	"tracekit/trace"
)

// ranksPlot draws how many messages each sender has sampled: the paper's figure 9.
func ranksPlot(title string, results []*sampling.Result) (*plots.Figure, error) {
	d := plots.CurvesData{Title: "Messages sampled by sender: " + title, X: plots.Axis{Label: "rank"},
		Y: plots.Axis{Label: "messages sampled", Log: true}}
	for _, x := range results {
		s := plots.Series{Name: x.Configuration}
		for _, r := range x.Sampled.Ranks {
			if r.Rank != trace.None {
				s.X, s.Y = append(s.X, float64(r.Rank)), append(s.Y, float64(r.Sampled))
			}
		}
		d.Series = append(d.Series, s)
	}
	return plots.Curves(d)
}

// spacePlot draws the sample space, how many messages of each pair of ranks there are or were
// sampled: the paper's figure 11.
func spacePlot(title, scale string, x *sampling.Result, of func(*sample.CategoryRow) uint64) (*plots.Figure, error) {
	d := plots.MatrixData{Title: title, ScaleLabel: scale}
	for i := range x.Categories {
		c := &x.Categories[i]
		if c.From == trace.None || c.To == trace.None {
			continue
		}
		d.Ranks = max(d.Ranks, int(c.From)+1, int(c.To)+1)
		d.Entries = append(d.Entries, plots.MatrixEntry{From: int(c.From), To: int(c.To), Value: float64(of(c))})
	}
	return plots.CommMatrix(d)
}

// Most categories and configurations in the picture of categories, so that it can be read.
const (
	drawnCategories     = 12
	drawnConfigurations = 5
)

// categoriesPlot draws how often the most frequent categories are in the samples, and how often in truth.
func categoriesPlot(title string, results []*sampling.Result) (*plots.Figure, error) {
	results = results[:min(len(results), drawnConfigurations)]
	rows := results[0].Categories
	d := plots.BarsData{Title: "Categories of messages: " + title, XLabel: "sender→receiver, size", Y: plots.Axis{Label: "share of messages",
		Unit: plots.Share}, Categories: []plots.Category{{Name: "all messages"}}, Width: 1600, Height: 600}
	for _, x := range results {
		d.Categories = append(d.Categories, plots.Category{Name: x.Configuration})
	}
	for i := range rows[:min(len(rows), drawnCategories)] {
		bar := func(k int, v float64) []float64 {
			values := make([]float64, len(d.Categories))
			values[k] = v
			return values
		}
		c := &rows[i]
		g := plots.BarGroup{Name: words.Rank(c.From) + "→" + words.Rank(c.To) + ", " + words.Bytes(c.Bytes), Bars: [][]float64{bar(0, c.Share)}}
		for k, x := range results {
			share := 0.0
			if s := x.Categories[i].SampledShare; s != nil {
				share = *s
			}
			g.Bars = append(g.Bars, bar(k+1, share))
		}
		d.Groups = append(d.Groups, g)
	}
	if len(rows) > drawnCategories {
		d.Note = fmt.Sprintf("the %d of %d categories with the most messages", drawnCategories, len(rows))
	}
	return plots.Bars(d)
}

// Sample draws what all configurations have sampled.
func Sample(d *sampling.Document, add Add) error {
	title := words.TraceName(d.Trace.Path)
	results := d.Results()
	type drawing struct {
		name string
		draw func() (*plots.Figure, error)
	}
	figures := []drawing{
		{"ranks", func() (*plots.Figure, error) { return ranksPlot(title, results) }},
		{"categories", func() (*plots.Figure, error) { return categoriesPlot(title, results) }},
		{"space", func() (*plots.Figure, error) {
			return spacePlot("All messages: "+title, "messages", d.Result, func(c *sample.CategoryRow) uint64 { return c.Population })
		}},
	}
	for _, x := range results {
		figures = append(figures, drawing{"space-" + x.Configuration, func() (*plots.Figure, error) {
			return spacePlot(x.Configuration+", sample space: "+title, "messages sampled", x,
				func(c *sample.CategoryRow) uint64 { return c.Sampled })
		}})
	}
	if d.Sweep != nil {
		sweep := sweepPlots(title, d.Sweep)
		for _, name := range slices.Sorted(maps.Keys(sweep)) {
			figures = append(figures, drawing{name, func() (*plots.Figure, error) { return plots.Curves(sweep[name]) }})
		}
	}
	for _, f := range figures {
		figure, err := f.draw()
		if err != nil {
			return err
		}
		add(f.name, figure)
	}
	return nil
}
