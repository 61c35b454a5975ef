package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/plots"
	"tracekit/stats/analysis"
	"tracekit/topology"
	"tracekit/trace"
)

// Bounds of what is drawn.
const mostPlaces = 1 << 22

// Topology draws metrics of ranks at their places in a topology, a picture each: the last two dimensions down and across, and a plane for
// each place in the others. Names of pictures are topology_METRIC.
func Topology(title string, t *trace.Trace, a *analysis.Result, top *topology.Topology, metrics []string, add Add) error {
	for _, metric := range metrics {
		values, err := a.ByRank(t, metric, top.Hops)
		if err != nil {
			return err
		}
		picture, err := Places(title, metric, top, values)
		if err != nil {
			return err
		}
		add("topology_"+metric, picture)
	}
	return nil
}

// scales says what a metric of ranks is on the scale of a picture.
var scales = map[string]struct {
	label string
	unit  plots.Unit
}{
	analysis.Useful: {"useful time", plots.Nanoseconds}, analysis.Waits: {"wait states", plots.Nanoseconds},
	analysis.Hops: {"hops of a byte sent", plots.Count}, analysis.Bytes: {"bytes sent", plots.Bytes},
}

// Places draws a value of each rank at its place. Where ranks share a place, the largest shows.
func Places(title, metric string, top *topology.Topology, values []float64) (*plots.Figure, error) {
	p, err := newPlanes(top.Dimensions())
	if err != nil {
		return nil, err
	}
	for rank, v := range values {
		if at := top.Coordinates(uint32(rank)); at != nil {
			row, column := p.cell(at)
			if x := &p.values[row*p.columns+column]; !(*x >= v) { // or it is NaN
				*x = v
			}
		}
	}
	scale := scales[metric]
	n := len(p.sizes)
	d := plots.HeatMapData{Title: fmt.Sprintf("%s on %s, %s", strings.ToUpper(scale.label[:1])+scale.label[1:], top, title), Grid: p,
		Whole: true, Gap: p.gap,
		RowLabel: fmt.Sprintf("dimension %d", max(0, n-2)), ColumnLabel: fmt.Sprintf("dimension %d", n-1), ScaleLabel: scale.label,
		Unit: scale.unit,
		Rows: make([]string, p.rows), Columns: make([]string, p.columns), Width: min(max(220+90*p.columns, 720), 960),
		Height: min(max(150+28*p.rows, 260), 1200)}
	if n == 1 {
		d.RowLabel = ""
	}
	if p.planes > 1 {
		d.ColumnLabel += fmt.Sprintf("; a plane for each place in dimension %s", dimensions(n-2))
	}
	for row := range d.Rows {
		if y := row % (p.down + 1); y < p.down && n > 1 {
			d.Rows[row] = fmt.Sprint(y)
		}
	}
	for column := range d.Columns {
		switch x := column % (p.across + 1); {
		case p.planes == 1:
			d.Columns[column] = fmt.Sprint(x)
		case p.beside == p.planes && x == p.across/2: // planes in one row have names
			d.Columns[column] = p.name(column / (p.across + 1))
		}
	}
	return plots.HeatMap(d)
}

// dimensions names the first n dimensions.
func dimensions(n int) string {
	var names []string
	for k := range n {
		names = append(names, fmt.Sprint(k))
	}
	return strings.Join(names, ", ")
}

// planes lays the planes of a grid out, with gaps between them, so that the whole is about as wide as high.
type planes struct {
	sizes         []int
	down, across  int // of a plane
	planes        int
	beside        int // planes in a row
	rows, columns int
	values        []float64
}

func newPlanes(sizes []int) (*planes, error) {
	n := len(sizes)
	p := &planes{sizes: sizes, across: sizes[n-1], down: 1, planes: 1}
	if n > 1 {
		p.down = sizes[n-2]
	}
	for k := range max(0, n-2) {
		p.planes = min(p.planes*sizes[k], mostPlaces+1)
	}
	p.beside = p.planes
	if p.planes*(p.across+1) > 4*(p.down+1) { // wider than four to one
		p.beside = max(1, min(p.planes, int(math.Ceil(math.Sqrt(2*float64(p.planes)*float64(p.down+1)/float64(p.across+1))))))
	}
	stacked := (p.planes + p.beside - 1) / p.beside
	p.rows, p.columns = stacked*(p.down+1)-1, p.beside*(p.across+1)-1
	if p.planes > mostPlaces || p.rows > mostPlaces/p.columns {
		return nil, fmt.Errorf("a topology of %v has too many places for a picture", sizes)
	}
	p.values = slices.Repeat([]float64{math.NaN()}, p.rows*p.columns)
	return p, nil
}

// cell returns where a place is drawn.
func (p *planes) cell(at []int) (row, column int) {
	n, plane := len(at), 0
	for k := range max(0, n-2) {
		plane = plane*p.sizes[k] + at[k]
	}
	row, column = plane/p.beside*(p.down+1), plane%p.beside*(p.across+1)+at[n-1]
	if n > 1 {
		row += at[n-2]
	}
	return row, column
}

// name names a plane.
func (p *planes) name(plane int) string {
	var at []string
	for k := len(p.sizes) - 3; k >= 0; k-- {
		at = append(at, fmt.Sprint(plane%p.sizes[k]))
		plane /= p.sizes[k]
	}
	slices.Reverse(at)
	return "(" + strings.Join(at, ", ") + ", ·, ·)"
}

// gap reports whether a cell lies between planes, or behind the last.
func (p *planes) gap(row, column int) bool {
	y, x := row%(p.down+1), column%(p.across+1)
	return y == p.down || x == p.across || row/(p.down+1)*p.beside+column/(p.across+1) >= p.planes
}

func (p *planes) Dims() (rows, columns int) { return p.rows, p.columns }

func (p *planes) Value(row, column int) float64 { return p.values[row*p.columns+column] }
