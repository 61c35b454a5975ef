package jsontrace

import (
	"math"

	"tracekit/readers/internal/nest"
)

// A sorting tells how far the events of a file are from being in order of time. Writers note a slice when it begins, or when it ends.
type sorting struct {
	first        int64
	begins, ends backward
}

// A backward is how far times go back at most.
type backward struct {
	last int64
	most uint64
}

func newSorting() sorting {
	never := backward{last: math.MinInt64}
	return sorting{math.MaxInt64, never, never}
}

func (b *backward) note(t int64) {
	if t >= b.last {
		b.last = t
	} else {
		b.most = max(b.most, uint64(b.last)-uint64(t)) // right even if the signed difference is not
	}
}

// note takes an event, with its time.
func (s *sorting) note(ev *event) {
	s.first = min(s.first, ev.time)
	s.begins.note(ev.time)
	end := ev.time
	if ev.phase == 'X' && ev.hasDur && ev.dur > 0 {
		end = nest.AddTime(end, ev.dur)
	}
	s.ends.note(end)
}

// unsorted is the part of a file's time by which events may go back in a file that is in order of time, for the threads that write it.
const unsorted = 0.01

// anywhere reports whether events that are missing at the end of the file may lie anywhere in its time.
func (s *sorting) anywhere() bool {
	return float64(min(s.begins.most, s.ends.most)) > unsorted*(float64(s.ends.last)-float64(s.first))
}
