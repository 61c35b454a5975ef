package nest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
)

// delivered returns the events of all sub-tracks of a track, one line each: Enter, Leave and the records of collectives.
func delivered(t *testing.T, s *Set, l *Track) (lines []string) {
	t.Helper()
	if err := s.Spool.Finish(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := SurveyAll(t.Context(), 2, []*Set{s}, [][]*Track{{l}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	ids := &IDs{Regions: []trace.RegionID{0, 1, 2, 3}, Comms: []trace.CommID{7, 8}}
	for sub, count := range l.Survey.Events {
		var line []string
		events := uint64(0)
		s.Deliver(t.Context(), l, sub, ids, 0, 0, func(b *trace.Batch, err error) bool {
			if err != nil {
				t.Fatal(err)
			}
			events += uint64(b.Len())
			flow, coll := 0, 0
			for _, table := range b.Order {
				if table == trace.TableFlow {
					line = append(line, fmt.Sprintf("%s %d at %d", b.Flow.Kind[flow], b.Flow.Region[flow], b.Flow.Time[flow]))
					flow++
				} else {
					line = append(line, fmt.Sprintf("%s on %d at %d", b.Coll.Kind[coll], int32(b.Coll.Comm[coll]), b.Coll.Time[coll]))
					coll++
				}
			}
			return true
		})
		if events != count {
			t.Errorf("sub-track %d has %d events, the survey says %d", sub, events, count)
		}
		lines = append(lines, strings.Join(line, ", "))
	}
	return lines
}

// Slices in any order become stacks; what does not nest gets a sub-track, on an accelerator to the nanosecond.
func TestSlices(t *testing.T) {
	for _, c := range []struct {
		what string
		gpu  bool
		puts [][3]int64 // begin, duration, region
		want []string
	}{
		{"nested", false, [][3]int64{{10, 5, 1}, {0, 100, 0}, {10, 20, 2}},
			[]string{"Enter 0 at 0, Enter 2 at 10, Enter 1 at 10, Leave 1 at 15, Leave 2 at 30, Leave 0 at 100"}},
		{"clipped", false, [][3]int64{{0, 10_000, 0}, {5_000, 5_900, 1}},
			[]string{"Enter 0 at 0, Enter 1 at 5000, Leave 1 at 10000, Leave 0 at 10000"}},
		{"not clipped", true, [][3]int64{{0, 10_000, 0}, {5_000, 5_001, 1}},
			[]string{"Enter 0 at 0, Leave 0 at 10000", "Enter 1 at 5000, Leave 1 at 10001"}},
		{"overlap", false, [][3]int64{{0, 10_000, 0}, {5_000, 9_000, 1}},
			[]string{"Enter 0 at 0, Leave 0 at 10000", "Enter 1 at 5000, Leave 1 at 14000"}},
		{"way for the longer", false, [][3]int64{{0, 10_000, 0}, {5_000, 90_000, 1}},
			[]string{"Enter 1 at 5000, Leave 1 at 95000", "Enter 0 at 0, Leave 0 at 10000"}},
		{"open", false, [][3]int64{{0, OpenEnd, 0}, {5, 5, 1}}, []string{"Enter 0 at 0, Enter 1 at 5, Leave 1 at 10"}},
	} {
		s := NewSet(nil)
		l := &Track{GPU: c.gpu}
		s.Add(l)
		for _, p := range c.puts {
			l.Put(p[0], p[1], trace.RegionID(p[2]), Call{})
		}
		if got := delivered(t, s, l); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.what, got, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Collectives come as calls of slices, and as records of their own.
func TestCollectives(t *testing.T) {
	s := NewSet(nil)
	defer s.Close()
	l := &Track{}
	s.Add(l)
	l.Put(0, 10, 0, Call{Operation: Collective(trace.CollAllreduce), Comm: 1, Peer: trace.RootNone})
	l.Put(20, 10, 1, Call{})
	l.Stream.Tie = TieFile
	l.Stream.AddColl(trace.CollRow{Time: 30, Kind: trace.KindNonBlockingCollectiveComplete, Op: trace.CollBcast, Request: 4})
	l.Put(30, 5, 2, Call{})
	want := []string{"Enter 0 at 0, MpiCollectiveBegin on -1 at 0, MpiCollectiveEnd on 8 at 10, Leave 0 at 10, Enter 1 at 20, " +
		"NonBlockingCollectiveComplete on 7 at 30, Leave 1 at 30, Enter 2 at 30, Leave 2 at 35"}
	if got := delivered(t, s, l); !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
}

// A track that was followed while it was filled has the survey of one that was not, whatever came. Many are followed to the end.
func TestFollow(t *testing.T) {
	followed := 0
	for seed := range uint64(60) {
		var tracks [2]*Track
		var lines [2][]string
		for i := range tracks {
			random := rand.New(rand.NewPCG(seed, 0)) // the same for both
			s := NewSet(nil)
			l := &Track{GPU: seed%3 == 0, Async: seed%3 == 1}
			s.Add(l)
			if i == 1 {
				s.Follow(l)
			}
			time, deepest := int64(0), int(random.Int64N(800))
			for n := range []int{20, 2000, 5000}[seed%3] {
				time += int64(seed%2) + random.Int64N(50) // on odd seeds it goes on, on even ones events may have one time
				at := time
				if seed%4 == 3 && n == 1500 {
					at -= 1000 // not in order
				}
				switch k := random.IntN(10); {
				case k < 4:
					l.Put(at, 20+random.Int64N(4000), trace.RegionID(k), Call{})
				case k < 5 && seed%5 == 0:
					l.Put(at, OpenEnd, 1, Call{})
				case n < deepest || k < 7:
					l.Stack()
					l.Begin(at, 2)
				default:
					l.Stack()
					l.End(at, trace.None)
				}
			}
			tracks[i], lines[i] = l, delivered(t, s, l)
			if i == 1 && l.Stream.Observed() {
				followed++
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(lines[0], lines[1]) || tracks[0].Survey.count != tracks[1].Survey.count {
			t.Fatalf("seed %d: followed %+v, else %+v", seed, tracks[1].Survey.count, tracks[0].Survey.count)
		}
	}
	if followed < 5 {
		t.Errorf("%d tracks were followed to the end, want 5 or more", followed)
	}
}
