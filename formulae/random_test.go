package formulae_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/formulae"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// randomProgram is a location that calls, sends and counts at random, often the same several times, and sometimes leaves what it did not
// enter or leaves something open.
func randomProgram(r *rand.Rand, l int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "location %d rank=%d\n", l, l)
	at := 0
	var body func(seed uint64, depth int)
	body = func(seed uint64, depth int) {
		own := rand.New(rand.NewPCG(seed, 0)) // what is done; when is up to r
		for range own.IntN(5) {
			at += r.IntN(50)
			switch own.IntN(8) {
			case 0:
				fmt.Fprintf(&b, " %d MpiSend to=0 tag=%d bytes=%d\n", at, own.IntN(2), own.IntN(3))
			case 1:
				fmt.Fprintf(&b, " %d Metric 0 uint64:%d\n", at, at*3)
			case 2:
				fmt.Fprintf(&b, " %d Leave %c\n", at, 'f'+rune(own.IntN(3)))
			default:
				region, again, inner := 'f'+rune(own.IntN(3)), 1+own.IntN(4), own.Uint64()
				for range again {
					fmt.Fprintf(&b, " %d Enter %c\n", at, region)
					if depth > 0 {
						body(inner, depth-1)
					}
					if at += r.IntN(50); own.IntN(20) > 0 {
						fmt.Fprintf(&b, " %d Leave %c\n", at, region)
					}
				}
			}
		}
	}
	for range 4 {
		body(r.Uint64(), 3)
	}
	return b.String()
}

const regions = "region f\nregion g\nregion h\nmember 0 count\nmetric 0 members=0\n"

// The nodes of a tree are the call paths, each visited as often as a stack of regions says; what is in no call is the location's own.
func TestNodesAreCallPaths(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		text := regions + randomProgram(rand.New(rand.NewPCG(seed, 1)), 0)
		_, p := learn(t, text, formulae.Options{})
		visits, sends := make(map[string]uint64), make(map[string]uint64)
		var stack []string
		dropped := uint64(0)
		for line := range strings.Lines(text) {
			f := append(strings.Fields(line), "", "")
			path := strings.Join(stack, "/")
			switch f[1] {
			case "Enter":
				stack = append(stack, f[2])
				visits[strings.Join(stack, "/")]++
			case "Leave":
				at := len(stack) - 1
				for ; at >= 0 && stack[at] != f[2]; at-- {
				}
				if at < 0 {
					dropped++
				} else {
					stack = stack[:at]
				}
			case "MpiSend":
				sends[path]++
			}
		}
		gotVisits, gotSends := make(map[string]uint64), make(map[string]uint64)
		tree := p.Locations[0].Tree
		paths := make([]string, len(tree.Nodes))
		for n, node := range tree.Nodes {
			if n > 0 {
				paths[n] = strings.TrimPrefix(paths[node.Parent]+"/"+string('f'+rune(node.Region)), "/")
				gotVisits[paths[n]] += node.Visits
			}
			for _, i := range node.Items {
				if i.Kind == trace.KindMpiSend {
					gotSends[paths[n]] += i.Count
				}
			}
		}
		if d := cmp.Diff(visits, gotVisits) + cmp.Diff(sends, gotSends); d != "" || p.Report.DroppedEvents != dropped {
			t.Errorf("%d dropped events, want %d; paths differ:\n%s\n%s", p.Report.DroppedEvents, dropped, d, text)
		}
	}
}

// The times of the calls of a location are all of its time: none is lost or counted twice, in its means and in the annotated tree.
func TestTimesAddUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		defs, p := learn(t, regions+randomProgram(r, 0)+randomProgram(r, 1), formulae.Options{})
		for l := range p.Locations {
			sum := uint64(0)
			for _, s := range p.Locations[l].Sums {
				sum += s.Time
			}
			if length := p.Locations[l].Length; sum != uint64(length) {
				t.Errorf("the intervals of location %d last %d ticks, it lasts %d", l, sum, length)
			}
		}
		for _, tree := range formulae.Annotate(defs, p.Locations) {
			for k, l := range tree.Locations {
				own, visits := int64(0), int64(0)
				below := make([]int64, len(tree.Nodes))
				for i := len(tree.Nodes) - 1; i >= 0; i-- {
					n := &tree.Nodes[i]
					own, visits = own+n.ExclusiveNs[k], visits+int64(n.Visits)
					if rest := n.InclusiveNs[k] - n.ExclusiveNs[k] - below[i]; rest < -int64(len(tree.Nodes)) || rest > int64(len(tree.Nodes)) {
						t.Errorf("node %d: %d with what is below, %d without, %d below", i, n.InclusiveNs[k], n.ExclusiveNs[k], below[i])
					}
					if n.Parent != nil {
						below[*n.Parent] += n.InclusiveNs[k]
					}
				}
				// A mean is cut to 1/16 tick a visit.
				if length := p.Locations[l].Length; own > length || length-own > visits/formulae.MeanUnit+int64(len(tree.Nodes)) {
					t.Errorf("the nodes of location %d last %d ticks, it lasts %d", l, own, length)
				}
			}
		}
	}
}

// sequenceOf delivers the events of a location.
func sequenceOf(src *trace.MemorySource, l int) formulae.Sequence {
	return func() func() (*trace.Batch, error) {
		batches := src.Batches[l]
		return func() (b *trace.Batch, err error) {
			if len(batches) > 0 {
				b, batches = batches[0], batches[1:]
			}
			return b, nil
		}
	}
}

// The skeleton of a location's events is its tree without formulae, and walking through it meets each item as often as it took place.
func TestSkeletonIsTheBareTree(t *testing.T) {
	t.Parallel()
	skeletons := formulae.NewSkeletons()
	for seed := range uint64(60) {
		text := regions + randomProgram(rand.New(rand.NewPCG(seed, 3)), 0)
		_, p := learn(t, text, formulae.Options{Durations: formulae.Laws})
		src := tracetest.MustParse(t, text)
		tree, err := skeletons.Tree(t.Context(), sequenceOf(src, 0))
		if err != nil {
			t.Fatal(err)
		}
		bare := p.Locations[0].Bare(nil)
		for n := range bare.Tree.Nodes {
			bare.Tree.Nodes[n].Branch = tree.Nodes[n].Branch // how much was learned is kept
		}
		if d := cmp.Diff(bare.Tree, tree); d != "" {
			t.Fatalf("the skeleton differs from the bare tree:\n%s", d)
		}
		if again, _ := skeletons.Tree(t.Context(), sequenceOf(src, 0)); again != tree {
			t.Error("equal trees are kept twice")
		}
		// Of each interval the same is known.
		sum := func(l *formulae.Location) (out []formulae.Sum) {
			for _, f := range l.Far {
				out = append(out, l.Sums[f.Interval])
			}
			for _, law := range l.Times.Laws {
				out = append(out, l.Sums[law.Interval])
			}
			return out
		}
		if !slices.Equal(sum(&bare), sum(&p.Locations[0])) || bare.Times.Check(bare.Tree) != nil {
			t.Errorf("the bare tree's times are others: %v", bare.Times.Check(bare.Tree))
		}
		count, want := make(map[uint32]uint64), make(map[uint32]uint64)
		walk := formulae.Walk(tree)
		for _, b := range src.Batches[0] {
			walk.Visit(b, func(_ trace.Row, item uint32) { count[item]++ })
		}
		number := uint32(0)
		for n := range tree.Nodes {
			for k, i := range tree.Nodes[n].Items {
				if i.Count > 0 && k > 0 {
					want[number] = i.Count
				}
				delete(count, map[bool]uint32{true: number, false: formulae.NoItem}[k == 0]) // returns are counted by the node's visits
				number++
			}
		}
		if d := cmp.Diff(want, count); d != "" {
			t.Errorf("items are met otherwise than they took place:\n%s", d)
		}
	}
	failing, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := skeletons.Tree(failing, sequenceOf(tracetest.MustParse(t, regions+"location 0 rank=0\n 1 Enter f"), 0)); err == nil {
		t.Error("a tree of what was given up")
	}
}

// Locations share a tree if, and only if, they do the same: times, places of messages and counts of loops may tell them apart.
func TestEqualTreesAreShared(t *testing.T) {
	t.Parallel()
	const base = " 0 Enter f ; 1 MpiSend to=1 tag=1 bytes=8 ; 2 Leave f ; 3 Enter f ; 4 MpiSend to=1 tag=1 bytes=8 ; 5 Leave f\n"
	for name, c := range map[string]struct {
		other  string
		shared bool
	}{
		"the same":          {base, true},
		"other times":       {strings.NewReplacer("1 Mpi", "2 Mpi", "5 Leave", "900 Leave").Replace(base), true},
		"another size":      {strings.Replace(base, "bytes=8", "bytes=9", 1), false},
		"another tag":       {strings.ReplaceAll(base, "tag=1", "tag=2"), false},
		"another region":    {strings.NewReplacer("Enter f", "Enter g", "Leave f", "Leave g").Replace(base), false},
		"once more":         {base + " 10 Enter f ; 11 MpiSend to=1 tag=1 bytes=8 ; 12 Leave f\n", false},
		"another one after": {base + " 10 Enter g ; 12 Leave g\n", false},
		"a receive":         {strings.ReplaceAll(base, "MpiSend to", "MpiRecv from"), false},
		"nothing":           {"", false},
	} {
		_, p := learn(t, regions+"location 0 rank=0\n"+strings.ReplaceAll(base, "to=1", "to=0")+"location 1 rank=1\n"+c.other, formulae.Options{})
		if (p.Locations[0].Tree == p.Locations[1].Tree) != c.shared {
			t.Errorf("%s: shared is %v", name, !c.shared)
		}
	}
}

// Where one thing follows no rule, that category alone is not learned, at its place; all others are.
func TestEachCategoryFailsAlone(t *testing.T) {
	t.Parallel()
	const n = 200
	for category, line := range map[string]string{
		"send_receivers": "MpiSend to=%d tag=1 bytes=8",
		"send_tags":      "MpiSend to=0 tag=%d bytes=8",
		"recv_senders":   "MpiRecv from=%d tag=1 bytes=8",
		"recv_tags":      "MpiRecv from=0 tag=%d bytes=8",
		"sizes":          "MpiSend to=0 tag=1 bytes=%d",
		"roots":          "MpiCollectiveEnd Bcast root=%d",
		"fields":         "ThreadFork %d",
		"":               "MpiSend to=0 tag=1 bytes=8 attr=0:uint64:7",
	} {
		r := rand.New(rand.NewPCG(4, 5))
		var b strings.Builder
		b.WriteString("attribute 0 x type=4\nlocation 0 rank=0\nlocation 1 rank=1\n")
		for i := range n {
			at := i * 10
			event := line
			if category != "" {
				event = fmt.Sprintf(line, r.IntN(100))
			}
			fmt.Fprintf(&b, " %d Enter f ; %d %s ; %d Leave f\n", at, at+1, event, at+2)
		}
		_, p := learn(t, b.String(), formulae.Options{})
		for _, s := range p.Learned.All() {
			failed := s.Constructs - s.Learned
			if failed != map[bool]uint64{true: 1}[s.Name == category] || failed > 0 && s.ValuesByKind.Failed != n {
				t.Errorf("%s: %d of %s are not learned, %d values", category, failed, s.Name, s.ValuesByKind.Failed)
			}
		}
		if category == "" {
			if len(p.Unlearned) != 0 || len(formulae.Approximations(p.Unlearned)) != 0 {
				t.Errorf("not learned: %+v", p.Unlearned)
			}
			continue
		}
		if len(p.Unlearned) != 1 {
			t.Fatalf("%s: not learned %+v", category, p.Unlearned)
		}
		u := p.Unlearned[0]
		if u.Category != category || !slices.Equal(u.CallPath, []string{"f"}) || !slices.Equal(u.Locations, []uint32{1}) ||
			u.Sequences != 1 || u.Values != n || len(formulae.Approximations(p.Unlearned)) != 1 {
			t.Errorf("%s: not learned %+v", category, u)
		}
	}
}
