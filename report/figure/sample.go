package figure

import (
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
func spacePlot(title, scale string, x *sampling.Result, of func(*sampling.CategoryRow) uint64) (*plots.Figure, error) {
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

// categoriesPlot draws how often each category is in the samples, and how often in truth, the most
// frequent first.
func categoriesPlot(title string, results []*sampling.Result) (*plots.Figure, error) {
	d := plots.CurvesData{Title: "Categories of messages: " + title, X: plots.Axis{Label: "category, by its share of all messages"},
		Y: plots.Axis{Label: "share of messages", Unit: plots.Share}}
	truth := plots.Series{Name: "all messages"}
	for i, c := range results[0].Categories {
		truth.X, truth.Y = append(truth.X, float64(i+1)), append(truth.Y, c.Share)
	}
	for _, x := range results {
		s := plots.Series{Name: x.Configuration, X: truth.X}
		for _, c := range x.Categories {
			if c.SampledShare != nil {
				s.Y = append(s.Y, *c.SampledShare)
			}
		}
		if len(s.Y) > 0 {
			d.Series = append(d.Series, s)
		}
	}
	d.Series = append(d.Series, truth)
	return plots.Curves(d)
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
			return spacePlot("All messages: "+title, "messages", d.Result, func(c *sampling.CategoryRow) uint64 { return c.Population })
		}},
	}
	for _, x := range results {
		figures = append(figures, drawing{"space-" + x.Configuration, func() (*plots.Figure, error) {
			return spacePlot(x.Configuration+", sample space: "+title, "messages sampled", x,
				func(c *sampling.CategoryRow) uint64 { return c.Sampled })
		}})
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
