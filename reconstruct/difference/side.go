package difference

import (
	"fmt"

	"tracekit/stats/scope"
	"tracekit/trace"
)

// A side is one of the two traces that are compared. Two traces number their definitions
// differently; the numbers of names in a side are those of both.
type side struct {
	t       *trace.Trace
	start   int64 // corrected tick of the first event
	regions []uint32
	comms   []uint32
	metrics []uint32
}

// numbering gives equal names equal numbers.
type numbering map[string]uint32

func (n numbering) of(name string) uint32 {
	i, ok := n[name]
	if !ok {
		i = uint32(len(n))
		n[name] = i
	}
	return i
}

func newSide(t *trace.Trace, names numbering) *side {
	s := &side{t: t}
	s.start, _ = scope.Run(t)
	for i := range t.Defs.Regions {
		s.regions = append(s.regions, names.of(t.Defs.RegionName(trace.RegionID(i))))
	}
	groups := make([]uint32, len(t.Defs.Groups))
	for i := range groups {
		groups[i] = names.of(fmt.Sprint(t.Defs.Groups[i].Members))
	}
	for _, c := range t.Defs.Comms { // known by their members: names are not always recorded
		s.comms = append(s.comms, names.of(fmt.Sprint(numberOf(groups, c.Group), numberOf(groups, c.Remote))))
	}
	for i := range t.Defs.Metrics {
		s.metrics = append(s.metrics, names.of(metricName(t.Defs, trace.MetricID(i))))
	}
	return s
}

// metricName returns the names of a metric's counters.
func metricName(d *trace.Defs, id trace.MetricID) string {
	var names []string
	for _, k := range d.CountersOf(id) {
		if int(k) < len(d.MetricMembers) {
			names = append(names, d.String(d.MetricMembers[k].Name))
		}
	}
	return fmt.Sprintf("%q", names)
}

// ns returns a corrected tick in ns after the first event.
func (s *side) ns(tick int64) int64 { return s.t.Defs.Clock.Nanoseconds(tick - s.start) }

// A role is what a location is in its trace, however it is numbered: the n-th location of
// its rank, or of those outside MPI.
type role struct {
	rank uint32
	n    int
}

// roles returns the role of each location.
func (s *side) roles() []role {
	count := make(map[uint32]int)
	out := make([]role, len(s.t.Defs.Locations))
	for l := range out {
		rank := s.t.Rank[l]
		out[l] = role{rank, count[rank]}
		count[rank]++
	}
	return out
}
