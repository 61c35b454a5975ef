package trace

import (
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
