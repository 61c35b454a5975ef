package trace

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCallStackRepairs: what ends with each Leave, the innermost region first. Upper case
// enters a region, lower case leaves it, a question mark leaves whatever is innermost.
func TestCallStackRepairs(t *testing.T) {
	for events, want := range map[string]string{
		"AaBb":   "a b",
		"ABba":   "b a",
		"ABCca":  "c ba",  // B is never left
		"ABca":   "ba",    // C was not entered, and B is never left
		"aA":     "",      // left before it is entered
		"AAaBba": "a b a", // the inner of two visits ends first
		"AB?a":   "b a",
		"?":      "",
	} {
		var s CallStack[byte]
		var got []string
		for _, e := range []byte(events) {
			upper := e &^ 0x20
			if e == upper && e != '?' {
				s.Enter(RegionID(e), e|0x20)
				continue
			}
			region := RegionID(upper)
			if e == '?' {
				region = None
			}
			var ended []byte
			if v, ok := s.LeaveInnermost(region); ok {
				ended = append(ended, v)
			} else {
				for range s.Leave(region) {
					ended = append(ended, s.Pop())
				}
			}
			if ended != nil {
				got = append(got, string(ended))
			}
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s ends %v, want %s", events, got, want)
		}
	}
}

// TestDeepCallStack: a stack of any depth is the one that a list makes of the same rule, and is bounded.
func TestDeepCallStack(t *testing.T) {
	for _, depth := range []int{searched, MaxDepth} {
		rng := rand.New(rand.NewPCG(1, uint64(depth)))
		var s CallStack[RegionID]
		var list []RegionID
		enter := func(region RegionID) {
			s.Enter(region, region)
			list = append(list[:min(len(list), MaxDepth-1)], region)
		}
		for range depth - 5 {
			enter(0)
		}
		deeper := 0
		for i := range 20000 {
			if region := RegionID(rng.IntN(30)); rng.IntN(8) < 6 {
				enter(region)
			} else if v, ok := s.LeaveInnermost(region); ok {
				if v != region {
					t.Fatalf("step %d: %d is the value of %d", i, v, region)
				}
				list = list[:len(list)-1]
			} else if region > 0 { // which all else is inside of
				n := s.Leave(region)
				if at := lastIndex(list, region); at < 0 && n != 0 || at >= 0 && n != len(list)-at {
					t.Fatalf("step %d: leaving %d ends %d regions; it is at %d of %d", i, region, n, at, len(list))
				}
				for range n {
					s.Pop()
				}
				list = list[:len(list)-n]
			}
			if len(list) >= depth {
				deeper++
			}
			if n := len(list); s.Len() != n || s.Region(n-1) != list[n-1] || *s.Top() != list[n-1] {
				t.Fatalf("step %d: %d is the innermost of %d, want %d of %d", i, *s.Top(), s.Len(), list[n-1], n)
			}
		}
		if deeper < 1000 {
			t.Errorf("the stack was %d times deeper than %d", deeper, depth)
		}
		for range s.Len() {
			s.Pop()
		}
		if len(s.deep) > 0 || s.counted > 0 {
			t.Errorf("of no region, %v are counted down to %d", s.deep, s.counted)
		}
	}
}

func lastIndex(list []RegionID, region RegionID) int {
	for i := len(list) - 1; i >= max(0, len(list)-20000); i-- {
		if list[i] == region {
			return i
		}
	}
	return -1
}

// TestPatterns: every operation of MPI has a pattern, the management of communicators none.
func TestPatterns(t *testing.T) {
	for op := CollBarrier; op <= CollDestroyHandleAndDeallocate+1; op++ {
		if known := op.Pattern() != PatternNone; known != (op <= CollReduceScatterBlock) {
			t.Errorf("%v has pattern %v", op, op.Pattern())
		}
	}
}

// TestEvents: the iterator finds each event where it was added.
func TestEvents(t *testing.T) {
	var b Batch
	b.Reset(0, 7)
	b.AddFlow(1, KindEnter, 0)
	b.AddMetric(2, 0, []ValueType{TypeUint64, TypeUint64}, []uint64{5, 6})
	b.AddOther(3, KindInstant)
	b.AddMetric(4, 0, nil, nil)
	b.AddFlow(5, KindLeave, 0)
	b.AddMetric(6, 0, []ValueType{TypeUint64}, []uint64{7})
	want := []Row{{TableFlow, 0, 1}, {TableMetric, 0, 2}, {TableOther, 0, 1}, {TableMetric, 2, 3}, {TableFlow, 1, 2}, {TableMetric, 3, 4}}
	var i int
	for seq, r := range b.Events {
		if at := b.Time(r); seq != uint64(7+i) || r != want[i] || at != int64(i+1) {
			t.Errorf("event %d is %v at %d, want %v", seq, r, at, want[i])
		}
		i++
	}
	if err := b.Check(); err != nil || i != b.Len() {
		t.Errorf("%d events of %d: %v", i, b.Len(), err)
	}
}
