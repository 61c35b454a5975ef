package diagram

import (
	"testing"

	"tracekit/document/waitstate"
	"tracekit/plots"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestPalettes(t *testing.T) {
	defs := tracetest.MustParseSplit(t, "region 0 main paradigm=1\nregion 1 MPI_Send paradigm=4\nregion 2 loop paradigm=3\nregion 3 main "+
		"paradigm=1\n").Defs()
	for _, c := range []struct {
		by   ColorBy
		want []plots.Category // of the regions in their order
	}{
		{ByRegion, []plots.Category{{Name: "main", Group: plots.User}, {Name: "MPI_Send", Group: plots.MPI},
			{Name: "loop", Group: plots.Threads}, {Name: "main", Group: plots.User}}},
		{ByParadigm, []plots.Category{{Name: "user", Group: plots.User}, {Name: "mpi", Group: plots.MPI},
			{Name: "openmp", Group: plots.Threads}, {Name: "user", Group: plots.User}}},
		{ByWait, []plots.Category{{Name: "computation", Group: plots.User}, {Name: "MPI without a wait state", Group: plots.System},
			{Name: "computation", Group: plots.User}, {Name: "computation", Group: plots.User}}},
	} {
		p := newPalette(defs, c.by)
		for i, want := range c.want {
			if got := p.categories[p.of(trace.RegionID(i))]; got != want {
				t.Errorf("%s: region %d is %v, want %v", c.by, i, got, want)
			}
		}
		if p.of(0) != p.of(3) {
			t.Errorf("%s: regions of one name have two colors", c.by)
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
func TestPaletteOfNothing(t *testing.T) {
	p := newPalette(&trace.Defs{}, ByWait)
	for _, i := range []int{p.of(0), p.of(trace.None), p.wait(waitstate.Kinds + 1)} {
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
