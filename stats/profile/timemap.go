package profile

import (
	"tracekit/spill"
	"tracekit/trace"
)

// A TimeMap sums time by call path, in ticks.
type TimeMap struct {
	times []int64        // by slot
	met   []trace.PathID // that have time
}

// slots is the number of paths that are none of the tree.
const slots = 5

// NewTimeMap returns a map for so many call paths.
func NewTimeMap(paths int) TimeMap { return TimeMap{times: make([]int64, paths+slots)} }

// Of returns the time in a path. Paths that are none of the tree, the last ones, come round to
// the begin.
func (m *TimeMap) Of(p trace.PathID) *int64 { return &m.times[uint32(p)+slots] }

// Clear sets all times to 0.
func (m *TimeMap) Clear() {
	for _, p := range m.met {
		*m.Of(p) = 0
	}
	m.met = m.met[:0]
}

// AddRows adds the times of some rows of segments, in their Rows or BlockSums.
func (m *TimeMap) AddRows(s *Segments, rows *spill.Table[Row], first, end int) {
	for first < end {
		beside := rows.From(first)
		beside = beside[:min(len(beside), end-first)]
		for i := range beside {
			x := s.Of(beside[i])
			m.Add(x.Path, x.Time)
		}
		first += len(beside)
	}
}

// Add adds a time to that of a path.
func (m *TimeMap) Add(p trace.PathID, time int64) {
	t := m.Of(p)
	if *t == 0 && time > 0 {
		m.met = append(m.met, p)
	}
	*t += time
}

// Undo takes back what was added last.
func (m *TimeMap) Undo(last Segment) {
	t := m.Of(last.Path)
	if *t -= last.Time; *t == 0 && last.Time > 0 {
		m.met = m.met[:len(m.met)-1]
	}
}

// Excess appends by how much each time but that in waits is larger than in another map.
func (m *TimeMap) Excess(o *TimeMap, to []Segment) []Segment {
	for _, p := range m.met {
		if more := *m.Of(p) - *o.Of(p); more > 0 && p != PathWait {
			to = append(to, Segment{Path: p, Time: more})
		}
	}
	return to
}
