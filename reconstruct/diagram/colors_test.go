package diagram

import (
	"testing"

	"tracekit/document/palette"
	"tracekit/document/waitstate"
	"tracekit/plots"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestColors(t *testing.T) {
	defs := tracetest.MustParseSplit(t, "region 0 main paradigm=1\nregion 1 MPI_Send paradigm=4\nregion 2 loop paradigm=3\nregion 3 main "+
		"paradigm=1\nregion 4 ProfilerStep paradigm=1 role=31\n").Defs()
	first := func(c palette.Class, name, class string) plots.Category {
		return plots.Category{Name: name, Class: class, Color: c.Look().Light[0]}
	}
	for _, c := range []struct {
		by   ColorBy
		want []plots.Category // of the regions in their order
	}{
		{ByRegion, []plots.Category{inClass(palette.Computing, "main"), inClass(palette.PointToPoint, "MPI_Send"),
			inClass(palette.Computing, "loop"), inClass(palette.Computing, "main")}},
		{ByParadigm, []plots.Category{first(palette.Computing, "user", "computing"), first(palette.PointToPoint, "mpi", "point-to-point"),
			first(palette.Threads, "openmp", "thread synchronization"), first(palette.Computing, "user", "computing")}},
		{ByWait, []plots.Category{first(palette.Computing, "computing", ""), first(palette.PointToPoint, "MPI without a wait state", ""),
			first(palette.Computing, "computing", ""), first(palette.Computing, "computing", "")}},
	} {
		p := newColors(defs, c.by)
		for i, want := range c.want {
			if got := p.categories[p.of(trace.RegionID(i), false)]; got != want {
				t.Errorf("%s: region %d is %v, want %v", c.by, i, got, want)
			}
		}
		if p.of(0, false) != p.of(3, false) {
			t.Errorf("%s: regions of one name have two colors", c.by)
		}
		if p.of(4, true) != none || p.of(4, false) == none {
			t.Errorf("%s: annotations are drawn on streams, or are not on hosts", c.by)
		}
		seen := make(map[plots.Category]bool)
		for _, category := range p.categories {
			if seen[category] {
				t.Errorf("%s: %v stands twice", c.by, category)
			}
			seen[category] = true
		}
	}
}

// What a damaged trace names without defining it has a color, too.
func TestColorsOfNothing(t *testing.T) {
	p := newColors(&trace.Defs{}, ByWait)
	for _, i := range []int{p.of(0, false), p.of(trace.None, true), p.wait(waitstate.Kinds + 1)} {
		if i < 0 || i >= len(p.categories) {
			t.Errorf("category %d of %d", i, len(p.categories))
		}
	}
	for k := range waitstate.Kinds {
		if got := p.categories[p.wait(k)].Name; got != k.String() {
			t.Errorf("%v is drawn as %s", k, got)
		}
	}
}
