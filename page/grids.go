package page

import (
	"tracekit/reduce/topology"
	"tracekit/trace"
)

// A grid is a topology as the page draws it.
type grid struct {
	Name  string  `json:"name"`
	Sizes []int   `json:"sizes"`
	At    [][]int `json:"at"` // rank, then its place by dimension
}

// Bounds of what is drawn: more places than these are no picture.
const (
	gridsDrawn  = 8
	placesDrawn = 1 << 15
)

// gridsOf returns the topologies of a trace in which ranks have places.
func gridsOf(t *trace.Trace) []grid {
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
			out = append(out, g)
		}
	}
	return out
}
