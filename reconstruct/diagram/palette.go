package diagram

import (
	"tracekit/document/waitstate"
	"tracekit/plots"
	"tracekit/trace"
)

// A palette says which category of the diagram a region or a wait belongs to.
type palette struct {
	categories []plots.Category
	byRegion   []int // category of each region
	byWait     []int // category of each kind of wait; nil: waits are white
}

// of returns the category of a region.
func (p *palette) of(r trace.RegionID) int {
	if int(r) < len(p.byRegion) {
		return p.byRegion[r]
	}
	return 0
}

// wait returns the category of a kind of wait.
func (p *palette) wait(k waitstate.Kind) int {
	if int(k) < len(p.byWait) {
		return p.byWait[k]
	}
	return 0
}

func newPalette(d *trace.Defs, by ColorBy) palette {
	p := palette{byRegion: make([]int, len(d.Regions))}
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
	for i, r := range d.Regions {
		p.byRegion[i] = category(categoryOf(d, trace.RegionID(i), r.Paradigm, by))
	}
	if len(p.categories) == 0 {
		category(plots.Category{Name: "unknown", Group: plots.System})
	}
	if by == ByWait {
		for k := range waitstate.Kinds {
			p.byWait = append(p.byWait, category(plots.Category{Name: waitstate.Kind(k).String(), Group: plots.MPI}))
		}
	}
	return p
}

func categoryOf(d *trace.Defs, r trace.RegionID, paradigm trace.Paradigm, by ColorBy) plots.Category {
	group := groupOf(paradigm)
	switch by {
	case ByParadigm:
		return plots.Category{Name: paradigm.String(), Group: group}
	case ByWait:
		if paradigm == trace.ParadigmMPI {
			return plots.Category{Name: "MPI without a wait state", Group: plots.System}
		}
		return plots.Category{Name: "computation", Group: plots.User}
	}
	return plots.Category{Name: d.RegionLabel(r), Group: group}
}

// groupOf returns the range of colors of a paradigm.
func groupOf(p trace.Paradigm) plots.Group {
	switch p.String() {
	case "mpi", "shmem", "gaspi", "upc":
		return plots.MPI
	case "openmp", "pthread", "ompss", "winthread", "qtthread", "acethread", "tbbthread", "mtapi", "kokkos":
		return plots.Threads
	case "cuda", "hip", "opencl", "openacc", "hmpp":
		return plots.GPU
	case "measurement", "hardware", "sampling", "none", "unknown":
		return plots.System
	}
	return plots.User
}
