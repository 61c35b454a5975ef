package figure

import (
	"math"
	"strconv"

	"tracekit/document/outcome"
	"tracekit/document/palette"
	"tracekit/plots"
	"tracekit/reconstruct/difference"
	"tracekit/report/text"
	"tracekit/stats/compare"
)

// changesDrawn is how many changes have bars.
const changesDrawn = 6

// changes draws what the places with the largest changes take on both sides.
func changes(title string, changes []compare.Change) plots.BarsData {
	d := plots.BarsData{Title: "What changed, " + title, XLabel: "place", Y: plots.Axis{Label: "sum over ranks", Unit: plots.Nanoseconds},
		Categories: []plots.Category{{Name: "own time", Color: palette.Computing.Look().Light[0]},
			{Name: "wait", Color: palette.Waiting.Look().Light[0]}},
		Note: "Left of each pair: A, right: B. * more than noise.", Width: 1200}
	for i := range changes {
		c := &changes[i]
		if len(d.Groups) == changesDrawn || c.A == c.B {
			continue
		}
		bar := func(v float64) []float64 {
			if c.Kind == compare.KindWait {
				return []float64{0, v}
			}
			return []float64{v, 0}
		}
		name := string(c.Region)
		if c.Operation != "" {
			name = string(c.Operation)
		}
		if c.Line != 0 {
			name += ":" + strconv.Itoa(int(c.Line))
		}
		name = text.Shorten(name, 18)
		if c.BeyondNoise() {
			name += " *"
		}
		d.Groups = append(d.Groups, plots.BarGroup{Name: name, Bars: [][]float64{bar(math.Max(0, c.A)), bar(math.Max(0, c.B))}})
	}
	return d
}

// histograms draws the differences.
func histograms(r *outcome.Records, title string) (*plots.Figure, error) {
	return plots.DifferenceHistograms(plots.DifferencesData{Title: title,
		Position: differencesPlot(r.Differences.Position), Block: differencesPlot(r.Differences.Block), LogY: true})
}

// differencesPlot shows what lies within two spreads of the mean.
func differencesPlot(d *difference.Distribution) plots.Differences {
	const windows = 200
	half := math.Max(2*d.Spread(), 1)
	edges, counts, beyond := d.Histogram(d.Mean()-half, d.Mean()+half, windows)
	return plots.Differences{Edges: edges, Counts: counts, Beyond: beyond, Mean: d.Mean(), Spread: d.Spread()}
}

// Compare draws the bars of what changed and, if records are paired, the histograms of their differences.
func Compare(doc *outcome.Compare, title string, add Add) error {
	picture, err := plots.Bars(changes(title, doc.Changes))
	if err != nil {
		return err
	}
	add("changes", picture)
	if doc.Paired == nil {
		return nil
	}
	if picture, err = histograms(&doc.Records, title); err == nil {
		add("differences", picture)
	}
	return err
}
