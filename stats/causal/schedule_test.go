package causal_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/spill"
	"tracekit/stats/causal"
	"tracekit/trace"
)

// A plan is a visitor whose steps are calls 0, 1, …
type plan struct {
	s     *causal.Schedule
	needs map[[2]int][]func() (int64, bool) // by location and call
	all   causal.Meeting                    // at which locations arrive with their first calls
	left  []string                          // the steps in the order in which they are left, with the waits
}

func (p *plan) Enter(l trace.LocationID, step int) int {
	if at := p.s.Enter(l, uint32(step)); step == 0 {
		p.s.Arrive(&p.all, at)
	}
	return len(p.needs[[2]int{int(l), step}])
}

func (p *plan) Need(l trace.LocationID, step, need int) (int64, bool) {
	return p.needs[[2]int{int(l), step}][need]()
}

func (p *plan) Leave(l trace.LocationID, step int, wait int64) error {
	p.left = append(p.left, fmt.Sprint(l, ".", step, "+", wait))
	return nil
}

// entered is the need that another location enters a call.
func (p *plan) entered(l, other trace.LocationID, call uint32) func() (int64, bool) {
	return func() (int64, bool) {
		if !p.s.Entered(l, other, call) {
			return 0, false
		}
		return p.s.At(other, call), true
	}
}

// newPlan starts locations of so many calls; call i of location l is entered 10·i + l ticks after its begin.
func newPlan(store *spill.Store, locations, calls int) *plan {
	p := &plan{needs: make(map[[2]int][]func() (int64, bool)), all: causal.Meeting{Expected: uint32(locations)}}
	p.s = causal.New(p, locations)
	for l := range locations {
		clocks := spill.NewTable[int64](store)
		for i := range calls {
			clocks.Append(int64(10*i + l))
		}
		p.s.Start(trace.LocationID(l), calls, clocks, 0)
	}
	return p
}

// TestSchedule: call 1 of location 0 needs call 2 of location 1; call 0 of location 1 needs that all have entered
// their first calls. So location 1 waits for location 2, which has entered its call at 2, for one tick; location 0 waits
// until location 1 has entered call 2 at 22.
func TestSchedule(t *testing.T) {
	p := newPlan(spill.NewStore(1<<20, t.TempDir()), 3, 3)
	p.needs[[2]int{0, 1}] = append(p.needs[[2]int{0, 1}], p.entered(0, 1, 2))
	p.needs[[2]int{1, 0}] = append(p.needs[[2]int{1, 0}], func() (int64, bool) { return p.s.All(1, &p.all) })
	if err := p.s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"0.0+0", "2.0+0", "2.1+0", "2.2+0", "1.0+1", "1.1+0", "1.2+0", "0.1+12", "0.2+0"}
	if !slices.Equal(p.left, want) {
		t.Errorf("steps are left in the order %v, want %v", p.left, want)
	}
	if got := p.s.Shift(0); got != 12 {
		t.Errorf("location 0 has waited %d ticks, want 12", got)
	}
}

// TestStuck: two locations wait for each other. Forced, both go on.
func TestStuck(t *testing.T) {
	p := newPlan(spill.NewStore(1<<20, t.TempDir()), 3, 2)
	p.needs[[2]int{0, 0}] = append(p.needs[[2]int{0, 0}], p.entered(0, 1, 1))
	p.needs[[2]int{1, 0}] = append(p.needs[[2]int{1, 0}], p.entered(1, 0, 1))
	for _, want := range []int{2, 0} {
		if err := p.s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		stuck := 0
		for _, step := range p.s.Stuck {
			stuck++
			if step != 0 {
				t.Errorf("a location is stuck at step %d, want 0", step)
			}
		}
		more, err := p.s.Force()
		if err != nil || stuck != want || more != (want > 0) {
			t.Errorf("%d are stuck, forced %v %v, want %d", stuck, more, err, want)
		}
	}
	if len(p.left) != 6 {
		t.Errorf("steps %v are left, want all 6", p.left)
	}
}

// TestBefore states that the members of a scan wait for the latest of those before them, and that this takes a number of
// steps in proportion to that of the members, in whatever order these arrive.
func TestBefore(t *testing.T) {
	for _, order := range []string{"ascending", "descending", "upper half first", "random"} {
		for _, n := range []int{16, 256, 4096} {
			rank := make([]uint32, n) // by location, which arrive in ascending order
			for i := range rank {
				switch rank[i] = uint32(i); order {
				case "descending":
					rank[i] = uint32(n - 1 - i)
				case "upper half first":
					rank[i] = uint32((i + n/2) % n)
				}
			}
			if order == "random" {
				rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { rank[i], rank[j] = rank[j], rank[i] })
			}
			checkScan(t, fmt.Sprint(order, " ", n), rank)
		}
	}
}

// checkScan replays one scan of members with ranks, by location.
func checkScan(t *testing.T, name string, rank []uint32) {
	store, n, steps := spill.NewStore(1<<24, t.TempDir()), len(rank), 0
	defer store.Close()
	at := make([]trace.LocationID, n) // by rank
	p := newPlan(store, n, 1)
	p.s.Scan(store, n, func(row uint32) (causal.Member, bool) {
		steps++
		return causal.Member{Location: at[row], Head: 3}, row%5 != 4
	})
	defer p.s.Release()
	c := &trace.Collective{Count: uint32(n)}
	want := make([]string, n)
	for l, r := range rank {
		at[r] = trace.LocationID(l)
		p.needs[[2]int{l, 0}] = append(p.needs[[2]int{l, 0}], func() (int64, bool) {
			steps++
			return p.s.Before(trace.LocationID(l), c, r)
		})
	}
	last := 0 // the latest member that arrives before
	for r, l := range at {
		want[l] = fmt.Sprint(l, ".0+", max(0, last-int(l)))
		if r%5 != 4 {
			last = max(last, int(l)+3)
		}
	}
	if err := p.s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(p.left)
	if !slices.Equal(p.left, want) {
		t.Errorf("%s: the members wait %v, want %v", name, p.left, want)
	}
	if steps > 5*n {
		t.Errorf("%s: %d steps for %d members", name, steps, n)
	}
}
