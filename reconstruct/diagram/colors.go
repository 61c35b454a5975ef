package diagram

import (
	"tracekit/document/palette"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/trace"
)

// colors say which category of the diagram a region or a wait belongs to.
type colors struct {
	categories []plots.Category
	onHost     []int // category of each region; none: it is not drawn
	onDevice   []int // the same on the streams of devices
	byWait     []int // category of each kind of wait; nil: all waits look alike
	byOverhead []int // category of calls of MPI by overhead, those of unknown overhead last; nil: colors say something else
}

// none is the category of what is not drawn: annotations of streams, which do nothing themselves.
const none = -1

// of returns the category of a region on a location.
func (p *colors) of(r trace.RegionID, device bool) int {
	list := p.onHost
	if device {
		list = p.onDevice
	}
	if int(r) < len(list) {
		return list[r]
	}
	return 0
}

// wait returns the category of a kind of wait.
func (p *colors) wait(k waitstate.Kind) int {
	if int(k) < len(p.byWait) {
		return p.byWait[k]
	}
	return 0
}

func newColors(d *trace.Defs, by ColorBy) colors {
	n := len(d.Regions)
	p := colors{onHost: make([]int, n), onDevice: make([]int, n)}
	index := make(map[plots.Category]int)
	category := func(c plots.Category) int {
		i, ok := index[c]
		if !ok {
			i = len(p.categories)
			index[c] = i
			p.categories = append(p.categories, c)
		}
		return i
	}
	classes := palette.Of(d)
	for i := range d.Regions {
		id := trace.RegionID(i)
		p.onHost[i] = category(categoryOf(d, id, classes.Host[i], d.RegionLabel(id), by))
		if p.onDevice[i] = none; classes.Device[i] != palette.Annotation {
			p.onDevice[i] = category(categoryOf(d, id, classes.Device[i], words.KernelName(d.RegionLabel(id)), by))
		}
	}
	if len(p.categories) == 0 {
		category(inClass(palette.Measurement, "unknown"))
	}
	if by == ByWait {
		for k := range waitstate.Kinds {
			c := plots.Category{Name: k.String(), Class: palette.Waiting.String(), Color: palette.Waiting.Look().Light[palette.WaitShade(k)]}
			p.byWait = append(p.byWait, category(c))
		}
	}
	if by == ByOverhead {
		for k, name := range overheads {
			p.byOverhead = append(p.byOverhead, category(plots.Category{Name: name, Color: palette.Overheads[k]}))
		}
		p.byOverhead = append(p.byOverhead, category(unknownOverhead))
	}
	return p
}

// overheads name the categories of calls of MPI by the share of their time beyond what they need (DEFINITIONS 1.1).
var overheads = []string{"MPI, no overhead", "MPI, overhead below 1/2", "MPI, overhead 1/2 to 9/10", "MPI, overhead above 9/10"}

var unknownOverhead = plots.Category{Name: "MPI, overhead not known", Color: palette.Startup.Look().Light[0]}

// overhead returns the category of a call of MPI that takes so long, with so much overhead.
func (p *colors) overhead(overheadNs, timeNs int64, known bool) int {
	of := p.byOverhead
	switch {
	case !known:
		return of[len(overheads)]
	case overheadNs == 0:
		return of[0]
	case 2*overheadNs < timeNs:
		return of[1]
	case overheadNs <= timeNs-timeNs/10:
		return of[2]
	}
	return of[3]
}

func categoryOf(d *trace.Defs, r trace.RegionID, class palette.Class, name string, by ColorBy) plots.Category {
	paradigm := d.Regions[r].Paradigm
	switch {
	case by == ByParadigm:
		of := palette.OfParadigm(paradigm)
		return plots.Category{Name: paradigm.String(), Class: of.String(), Color: of.Look().Light[0]}
	case by == ByWait && paradigm == trace.ParadigmMPI:
		return plots.Category{Name: "MPI without a wait state", Color: palette.PointToPoint.Look().Light[0]}
	case by == ByOverhead && paradigm == trace.ParadigmMPI:
		return unknownOverhead
	case by == ByWait || by == ByOverhead:
		return plots.Category{Name: palette.Computing.String(), Color: palette.Computing.Look().Light[0]}
	}
	return inClass(class, name)
}

// inClass returns a category in the color of its class and name.
func inClass(c palette.Class, name string) plots.Category {
	return plots.Category{Name: name, Class: c.String(), Color: c.Look().Light[c.Shade(name)]}
}
