package figure

import (
	"strings"

	"tracekit/document/outcome"
	"tracekit/plots"
)

// MeasuredRuns draws the run time over the number of processes, as recorded and with what measuring costs.
func MeasuredRuns(doc *outcome.Whatif) (*plots.Figure, error) {
	recorded, predicted := plots.Series{Name: "as recorded"}, plots.Series{Name: strings.Join(doc.Changes, ", ")}
	for _, r := range doc.Runs {
		p := float64(r.Processes)
		recorded.X, recorded.Y = append(recorded.X, p), append(recorded.Y, float64(r.Baseline))
		predicted.X, predicted.Y = append(predicted.X, p), append(predicted.Y, float64(r.Predicted))
	}
	return plots.Curves(plots.CurvesData{Title: "Run time and what measuring costs", X: processesAxis(),
		Y: plots.Axis{Label: "run time", Unit: plots.Nanoseconds}, Series: []plots.Series{recorded, predicted}})
}
