package oracle

import "tracekit/trace"

// A Row is a region's line of the flat profile, summed over all locations. Inclusive time
// counts a recursive region once.
type Row struct {
	Count     uint64
	Inclusive int64
	Exclusive int64
}

// profile walks through all locations with their open regions. Time between two events
// belongs to the innermost region that is open between them.
func (a *analysis) profile() {
	a.Profile = make(map[trace.RegionID]Row)
	for _, s := range a.streams {
		last := int64(0)
		a.walk(s, func(open []trace.RegionID, e event) {
			a.spend(open, e.time-last)
			last = e.time
			if e.kind.Enters() {
				row := a.Profile[e.region]
				row.Count++
				a.Profile[e.region] = row
			}
		})
	}
}

func (a *analysis) spend(open []trace.RegionID, time int64) {
	seen := make(map[trace.RegionID]bool)
	for i, r := range open {
		row := a.Profile[r]
		if i == len(open)-1 {
			row.Exclusive += time
		}
		if !seen[r] {
			row.Inclusive += time
		}
		seen[r] = true
		a.Profile[r] = row
	}
}

// walk visits the events of a location with the regions that are open before each.
func (a *analysis) walk(s *stream, visit func(open []trace.RegionID, e event)) {
	var open []trace.RegionID
	for _, e := range s.events {
		visit(open, e)
		switch e.kind {
		case trace.KindEnter, trace.KindCallingContextEnter:
			open = append(open, e.region)
		case trace.KindLeave, trace.KindCallingContextLeave:
			for i := len(open) - 1; i >= 0; i-- {
				if open[i] == e.region {
					open = open[:i]
					break
				}
			}
		}
	}
}
