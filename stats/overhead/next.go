package overhead

import (
	"cmp"
	"maps"
	"slices"

	"tracekit/stats/fit"
	"tracekit/trace"
)

// An Unmeasured is a point (p, b) of which a profile has no entry: its t_max lies between those of measured points, or beyond them.
// Low and high are the ends of where it may lie if T_f(p, b) does not turn around between measured points: the least and the largest
// t_max of those around it. Beyond them, the nearest one and what the last two points promise if T_f goes on as it did.
type Unmeasured struct {
	fit.Key
	Calls          int64  `json:"calls"`
	Extrapolated   bool   `json:"extrapolated"`
	TMaxNs         int64  `json:"t_max_ns"` // that the profile gives
	LowNs          int64  `json:"low_ns"`
	HighNs         int64  `json:"high_ns"`
	OverheadNs     int64  `json:"overhead_ns"`      // of its calls, beyond TMaxNs
	LowOverheadNs  int64  `json:"low_overhead_ns"`  // beyond HighNs
	HighOverheadNs int64  `json:"high_overhead_ns"` // beyond LowNs
	Verdict        string `json:"verdict"`          // of all messages together: who is late, by the overhead of senders and receivers
	IfLow          string `json:"verdict_if_low"`   // if its t_max were LowNs
	IfHigh         string `json:"verdict_if_high"`
}

// Swing is how much overhead depends on where t_max lies.
func (u *Unmeasured) Swing() int64 { return u.HighOverheadNs - u.LowOverheadNs }

// NextPoints returns the points of the calls' durations, wait states included, that a profile has to interpolate: those first whose
// overhead depends most on that. A benchmark should measure them.
func NextPoints(samples map[fit.Key]*fit.Sample, p *fit.Profile) []Unmeasured {
	out := []Unmeasured{}
	var sides [2]int64 // overhead of senders and of receivers
	for _, k := range slices.SortedFunc(maps.Keys(samples), fit.CompareKeys) {
		at, known := p.Limit(k)
		if !known {
			continue
		}
		s := samples[k]
		_, overhead := s.Above(at.TMax)
		if side, ok := sideOf(k); ok {
			sides[side] += overhead
		}
		low, high, exact := p.Around(k)
		if exact {
			continue
		}
		u := Unmeasured{Key: k, Calls: s.Len(), Extrapolated: at.Extrapolated, TMaxNs: at.TMax, LowNs: min(low, at.TMax),
			HighNs: max(high, at.TMax), OverheadNs: overhead}
		_, u.HighOverheadNs = s.Above(u.LowNs)
		_, u.LowOverheadNs = s.Above(u.HighNs)
		out = append(out, u)
	}
	for i := range out {
		u := &out[i]
		with := func(overhead int64) string {
			all := sides
			if side, ok := sideOf(u.Key); ok {
				all[side] += overhead - u.OverheadNs
			}
			if all[0]+all[1] == 0 {
				return verdictNone
			}
			return dominant(all[0], all[1])
		}
		u.Verdict, u.IfLow, u.IfHigh = with(u.OverheadNs), with(u.HighOverheadNs), with(u.LowOverheadNs)
	}
	slices.SortStableFunc(out, func(a, b Unmeasured) int { return cmp.Compare(b.Swing(), a.Swing()) })
	return out
}

// sideOf says whether calls of a key send (0) or receive (1); ok is false for all others.
func sideOf(k fit.Key) (side int, ok bool) {
	switch class := trace.MPIFunctionOf(k.Operation).Class; {
	case k.Role == "sends" || class == trace.ClassSend:
		return 0, true
	case k.Role == "receives" || class == trace.ClassRecv:
		return 1, true
	}
	return 0, false
}
