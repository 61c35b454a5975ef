package figure

import (
	"math"
	"slices"
	"strconv"

	"tracekit/document/training"
	"tracekit/plots"
)

// A slowGrid holds by how much workers slow the job down, by data-parallel rank and stage. Of one that is not recorded nothing is known.
type slowGrid struct {
	dps, stages []int
	loss        map[[2]int]float64
}

// Dims implements plots.Grid.
func (g *slowGrid) Dims() (rows, columns int) { return len(g.dps), len(g.stages) }

// Value implements plots.Grid.
func (g *slowGrid) Value(row, column int) float64 {
	if loss, ok := g.loss[[2]int{g.dps[row], g.stages[column]}]; ok {
		return loss
	}
	return math.NaN()
}

// Stragglers draws the slowdown of each worker of a training job: data-parallel ranks from top to bottom, stages from left to right.
func Stragglers(t *training.Job) (*plots.Figure, error) {
	g := &slowGrid{loss: make(map[[2]int]float64)}
	for _, w := range t.ByWorker {
		g.dps, g.stages = append(g.dps, w.DP), append(g.stages, w.Stage)
		g.loss[[2]int{w.DP, w.Stage}] = max(0, w.Slowdown-1)
	}
	names := func(numbers []int) ([]int, []string) {
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		texts := make([]string, len(numbers))
		for i, n := range numbers {
			texts[i] = strconv.Itoa(n)
		}
		return numbers, texts
	}
	d := plots.HeatMapData{Title: "Slowdown of the step by worker", Grid: g, RowLabel: "data-parallel rank", ColumnLabel: "pipeline stage",
		ScaleLabel: "slowdown beyond 1", Unit: plots.Share, Whole: true}
	g.dps, d.Rows = names(g.dps)
	g.stages, d.Columns = names(g.stages)
	return plots.HeatMap(d)
}
