package merge_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/readers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// realTrace opens an archive of the folder of real traces.
func realTrace(t testing.TB, name string) trace.Source {
	t.Helper()
	src, err := readers.Open(t.Context(), tracetest.Shared(t, "otf2", name), readers.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

// A reality is what is known of a real trace. The numbers of events, messages and
// collective records are those of the reference library's tool; the violations after the
// measured offsets in npb-lu-S-4, npb-mg-W-8 and npb-bt-S-16 are Scalasca's, except that it
// counts a 24th collective in npb-mg-W-8: a Reduce that some senders leave before its root
// enters, which MPI allows.
type reality struct {
	name        string
	method      trace.ClockMethod
	events      uint64
	messages    uint64
	members     int
	raw, offset [2]uint64 // violations: messages, collectives
}

var realities = []reality{
	{"pipit-pingpong", trace.ClockOffsets, 120, 16, 0, [2]uint64{}, [2]uint64{}},
	{"sst-macro-test", trace.ClockOffsets, 22_180, 1440, 1200, [2]uint64{248, 190}, [2]uint64{}},
	{"tracer-stencil4d-32", trace.ClockOffsets, 4324, 512, 96, [2]uint64{64, 3}, [2]uint64{}},
	{"npb-lu-S-4", trace.ClockNone, 28_810, 4520, 84, [2]uint64{}, [2]uint64{347, 1}},
	{"npb-mg-W-8", trace.ClockNone, 48_224, 4992, 808, [2]uint64{}, [2]uint64{247, 23}},
	{"npb-mg-S-4-user-run1", trace.ClockNone, 41_552, 1776, 404, [2]uint64{}, [2]uint64{74, 10}},
	{"npb-mg-S-4-user-run2", trace.ClockNone, 41_552, 1776, 404, [2]uint64{}, [2]uint64{1, 0}},
	{"npb-cg-W-8-run1", trace.ClockNone, 212_096, 23_552, 16, [2]uint64{}, [2]uint64{1048, 0}},
	{"npb-cg-W-8-run2", trace.ClockNone, 212_096, 23_552, 16, [2]uint64{}, [2]uint64{826, 0}},
	{"npb-bt-S-16", trace.ClockNone, 261_312, 23_520, 160, [2]uint64{}, [2]uint64{938, 1}},
	{"npb-ft-W-4", trace.ClockOffsets, 322, 0, 68, [2]uint64{}, [2]uint64{}},
	{"lulesh-8x2", trace.ClockNone, 1_168_666, 1676, 128, [2]uint64{}, [2]uint64{50, 1}},
}

func TestRealTraces(t *testing.T) {
	for _, want := range realities {
		t.Run(want.name, func(t *testing.T) {
			tr := merged(t, realTrace(t, want.name), merge.Options{})
			c := count(tr)
			got := reality{want.name, tr.Clock.Method, c.Events, c.Messages, tr.Members.Len(),
				[2]uint64{tr.Clock.Messages.Raw, tr.Clock.Collectives.Raw},
				[2]uint64{tr.Clock.Messages.Offsets, tr.Clock.Collectives.Offsets}}
			if got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if c.UnmatchedSends+c.UnmatchedReceives+c.Cancelled > 0 || tr.Clock.Messages.After+tr.Clock.Collectives.After > 0 {
				t.Errorf("%+v, %+v", c, tr.Clock)
			}
		})
	}
}

// TestRealFindings: the one archive that is damaged. One region is left although it was
// not entered, because the region that it lies in was left before (so one more is open).
func TestRealFindings(t *testing.T) {
	got := make(map[trace.Code]uint64)
	for _, f := range merged(t, realTrace(t, "tracer-stencil4d-32"), merge.Options{}).Findings {
		got[f.Code] = f.Count
	}
	want := map[trace.Code]uint64{trace.CodeOpenRegion: 3, trace.CodeUnmatchedLeave: 1, trace.CodeRecordingOff: 64,
		trace.CodeIncompleteByWriter: 1}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestRealClocks: the logical clock repairs what the offsets get wrong, and with a least
// latency what is faster than that. Then no message and no barrier takes less.
func TestRealClocks(t *testing.T) {
	for _, want := range realities {
		for _, latency := range []int64{0, 1000} {
			t.Run(want.name, func(t *testing.T) {
				tr := merged(t, realTrace(t, want.name), merge.Options{Clock: merge.ClockCLC, MinLatency: latency})
				c := tr.Clock
				if c.Messages.After+c.Collectives.After > 0 || c.MaxShift < max(c.Messages.Max, c.Collectives.Max) {
					t.Errorf("%s: %+v %+v, largest shift %d", c.Method, c.Messages, c.Collectives, c.MaxShift)
				}
				repaired := c.Messages.Offsets+c.Collectives.Offsets > 0
				if latency == 0 && repaired != (want.offset != [2]uint64{}) || repaired != (c.Method == trace.ClockOffsetsCLC) {
					t.Errorf("%s: %+v %+v", c.Method, c.Messages, c.Collectives)
				}
				if least := fastest(tr); least < latency {
					t.Errorf("something takes %d only", least)
				}
			})
		}
	}
}

// fastest returns the least time that a message takes, or that a barrier takes a member after
// the last has come.
func fastest(t *trace.Trace) int64 {
	least := int64(math.MaxInt64)
	for _, recvs := range t.Recvs {
		for i := range recvs.Len() {
			if r := recvs.At(i); r.State == trace.Matched {
				least = min(least, r.Time-t.Sends[r.SendLoc].At(int(r.Send)).Time)
			}
		}
	}
	for i := range t.Collectives.Len() {
		c := t.Collectives.At(i)
		last, first := int64(math.MinInt64), int64(math.MaxInt64)
		for k := range c.Count {
			m := t.Members.At(int(c.First + k))
			last, first = max(last, m.Begin), min(first, m.End)
		}
		if c.Op == trace.CollBarrier && c.Count > 1 {
			least = min(least, first-last)
		}
	}
	return least
}
