package formulae_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// odd is a location with all that a tree may hold: loops, metrics, attributes.
const odd = `
attribute 0 x type=4
member 0 count
metric 0 members=0
location 0 rank=0
  0 Enter main
  1 Enter f attr=0:uint64:7 ; 2 Metric 0 uint64:5 attr=0:uint64:1 ; 3 Leave f ; 4 Enter g ; 5 Leave g
  6 Enter f attr=0:uint64:7 ; 7 Metric 0 uint64:6 attr=0:uint64:1 ; 8 Leave f ; 9 Enter g ; 10 Leave g
  11 Leave main
`

// find returns the first item that is wanted.
func find(t *formulae.Tree, want func(*formulae.Item) bool) *formulae.Item {
	for n := range t.Nodes {
		for k := range t.Nodes[n].Items {
			if i := &t.Nodes[n].Items[k]; want(i) {
				return i
			}
		}
	}
	return &formulae.Item{}
}

// A tree that is not one is refused, whatever is wrong with it.
func TestTreeCheck(t *testing.T) {
	t.Parallel()
	call := func(t *formulae.Tree) *formulae.Item {
		return find(t, func(i *formulae.Item) bool { return i.Kind == trace.KindEnter })
	}
	loop := func(t *formulae.Tree) *formulae.Item {
		return find(t, func(i *formulae.Item) bool { return i.Body != nil })
	}
	metric := func(t *formulae.Tree) *formulae.Item {
		return find(t, func(i *formulae.Item) bool { return i.Kind == trace.KindMetric })
	}
	for name, damage := range map[string]func(*formulae.Tree){
		"a node without a return":                  func(t *formulae.Tree) { t.Nodes[2].Items = nil },
		"a node that is its own parent":            func(t *formulae.Tree) { t.Nodes[1].Parent = 1 },
		"a parent behind its child":                func(t *formulae.Tree) { t.Nodes[1].Parent = 2 },
		"a parent that does not exist":             func(t *formulae.Tree) { t.Nodes[1].Parent = trace.None },
		"a call of itself":                         func(t *formulae.Tree) { call(t).Child = 0 },
		"a call of what does not exist":            func(t *formulae.Tree) { call(t).Child = trace.None },
		"a call of another's child":                func(t *formulae.Tree) { call(t).Child = 2 },
		"a leave":                                  func(t *formulae.Tree) { t.Nodes[1].Items[0].Kind = trace.KindLeave },
		"a loop of itself":                         func(t *formulae.Tree) { loop(t).Body = []uint32{3} },
		"a loop of what comes after it":            func(t *formulae.Tree) { loop(t).Body = []uint32{1, trace.None} },
		"a loop around a return":                   func(t *formulae.Tree) { loop(t).Body = []uint32{0} },
		"a shape that does not exist":              func(t *formulae.Tree) { loop(t).Shape = uint32(len(t.Shapes) + 1) },
		"the largest shape":                        func(t *formulae.Tree) { loop(t).Shape = math.MaxUint32 },
		"an attribute too many":                    func(t *formulae.Tree) { call(t).Values = make([]sequence.Formula, 1) },
		"an attribute too few":                     func(t *formulae.Tree) { metric(t).Values = nil },
		"a metric without members":                 func(t *formulae.Tree) { metric(t).Shape, metric(t).Values = 0, nil },
		"an attribute before the other fields":     func(t *formulae.Tree) { s := t.Shapes[metric(t).Shape-1]; s[0], s[1] = s[1], s[0] },
		"a metric of more members than there are":  func(t *formulae.Tree) { members(t, metric(t), 256) },
		"many members, and a value for one of all": func(t *formulae.Tree) { members(t, metric(t), 255); metric(t).Values = nil },
	} {
		_, p := learn(t, odd, formulae.Options{}) // which checks the tree
		tree := p.Locations[0].Tree
		if len(loop(tree).Body) != 2 || len(metric(tree).Values) != 1 || len(tree.Nodes) != 4 {
			t.Fatal("not the tree that is to be damaged")
		}
		if damage(tree); tree.Check() == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// members gives a metric's shape a number of members, and then its attribute.
func members(t *formulae.Tree, i *formulae.Item, n int) {
	s := t.Shapes[i.Shape-1]
	t.Shapes[i.Shape-1] = append(make([]formulae.Field, n), s[len(s)-1])
}

// So are times of another tree, and laws that nothing can have.
func TestTimesCheck(t *testing.T) {
	t.Parallel()
	laws := func(intervals ...uint64) (out []formulae.Law) {
		for _, i := range intervals {
			out = append(out, formulae.Law{Interval: i, Quantiles: make([]uint64, len(formulae.LawLevels()))})
		}
		return out
	}
	for name, c := range map[string]struct {
		damage func(*formulae.Times)
		sound  bool
	}{
		"laws of the first and the last": {func(x *formulae.Times) { x.Laws = laws(0, uint64(len(x.Means)-1)) }, true},
		"a node too many":                {func(x *formulae.Times) { x.Spent = append(x.Spent, 1) }, false},
		"an interval too few":            {func(x *formulae.Times) { x.Means = x.Means[1:] }, false},
		"a counter too many":             {func(x *formulae.Times) { x.Counters = append(x.Counters, 1) }, false},
		"a law behind the last interval": {func(x *formulae.Times) { x.Laws = laws(uint64(len(x.Means))) }, false},
		"a law of the largest number":    {func(x *formulae.Times) { x.Laws = laws(math.MaxUint64) }, false},
		"two laws of an interval":        {func(x *formulae.Times) { x.Laws = laws(1, 1) }, false},
		"laws in no order":               {func(x *formulae.Times) { x.Laws = laws(1, 0) }, false},
		"a law with a quantile too few":  {func(x *formulae.Times) { x.Laws = laws(0); x.Laws[0].Quantiles = x.Laws[0].Quantiles[1:] }, false},
		"a law of endless intervals":     {func(x *formulae.Times) { x.Laws = laws(0); x.Laws[0].Quantiles[3] = math.MaxUint64 }, false},
	} {
		_, p := learn(t, odd, formulae.Options{})
		c.damage(&p.Locations[0].Times)
		if err := p.Locations[0].Times.Check(p.Locations[0].Tree); (err == nil) != c.sound {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tree stands for all events of its location but the leaves of what was never entered.
func TestTreeEvents(t *testing.T) {
	t.Parallel()
	_, p := learn(t, odd, formulae.Options{})
	tree := p.Locations[0].Tree
	if got := tree.Events(); got != 12 {
		t.Errorf("%d events, want 12", got)
	}
	tree.Nodes[1].Items[1].Count = math.MaxUint64
	tree.Nodes[2].Items[1].Count = math.MaxUint64
	if got := tree.Events(); got != formulae.MostEvents {
		t.Errorf("%d events, want at most %d", got, uint64(formulae.MostEvents))
	}
}

// A mean is the largest multiple of its unit that is not above time/count, 0 if no number holds it.
func TestMean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ time, count, want uint64 }{
		{0, 0, 0}, {5, 0, 0}, {0, 7, 0}, {1, 1, 16}, {7, 2, 56}, {1, 3, 5}, {math.MaxUint64, math.MaxUint64, 16},
		{math.MaxUint64, 16, math.MaxUint64}, {math.MaxUint64, 15, 0}, {math.MaxUint64, 1, 0}, {1, math.MaxUint64, 0},
	} {
		if got := formulae.Mean(c.time, c.count); got != c.want {
			t.Errorf("the mean of %d in %d parts is %d/16, want %d/16", c.time, c.count, got, c.want)
		}
	}
}

// Readings that grow by a mean do not drift: after n steps the value has grown by n times the
// mean, but for the fraction of one.
func TestMetersDoNotDrift(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		base, mean := r.Uint64(), r.Int64N(4001)-2000
		m := formulae.NewMeters(&formulae.Times{Bases: []uint64{base, math.Float64bits(1.5)}})
		for n := range int64(100) {
			want := base + uint64(n*mean/formulae.MeanUnit)
			if got := m.Read(3, 1, trace.TypeUint64, uint64(mean)); got != want {
				t.Fatalf("%d steps of %d/16 from %d: %d, want %d", n, mean, base, got, want)
			}
			if got := math.Float64frombits(m.Read(3, 2, trace.TypeDouble, math.Float64bits(0.25))); got != 1.5+float64(n)/4 {
				t.Fatalf("%d steps of 0.25 from 1.5: %v", n, got)
			}
		}
	}
	m := formulae.NewMeters(&formulae.Times{Bases: []uint64{math.Float64bits(1)}})
	m.Read(0, 0, trace.TypeDouble, 0)
	if got := math.Float64frombits(m.Read(0, 0, trace.TypeDouble, math.Float64bits(math.Inf(1)))); math.IsInf(got, 0) || math.IsNaN(got) {
		t.Errorf("a reading of %v", got)
	}
	if got := m.Read(9, 9, trace.TypeUint64, 5); got != 0 {
		t.Errorf("a meter without a first value begins with %d", got)
	}
}
