package profile

import (
	"tracekit/trace"
)

// waitsForDevice reports whether a region is a call that only waits for an accelerator.
func (p *Profiler) waitsForDevice(region trace.RegionID) bool {
	return int(region) < len(p.waits) && p.waits[region]
}

// A Startup is the part of a rank's run between the end of MPI_Init and the begin of MPI_Finalize, clipped to the selection. Where one of
// the two is not recorded or not selected, the part reaches to the end of the rank on that side.
type Startup struct {
	Rank           uint32
	Location       trace.LocationID
	From, To       int64
	Useful         int64 // in between
	Init, Finalize bool  // the bound is there
}

// Startups finds the parts of the selected ranks. It must be called before the replay,
// which overwrites the useful times.
func (p *Profiler) Startups() []Startup {
	var out []Startup
	for r, l := range p.T.World {
		if !p.Scope.HasRank(uint32(r)) || int(l) >= len(p.T.Span) || p.T.Span[l].Events == 0 {
			continue
		}
		out = append(out, p.startupOf(uint32(r), l, p.Useful[l]))
	}
	return out
}

func (p *Profiler) startupOf(rank uint32, l trace.LocationID, useful int64) Startup {
	span := p.T.Span[l]
	s := Startup{Rank: rank, Location: l, From: p.Scope.Clamp(span.First), To: p.Scope.Clamp(span.Last), Useful: useful}
	calls := p.T.Calls[l]
	if i := trace.FindStartup(calls, trace.ClassFinalize); i >= 0 {
		if c := calls.At(i); c.Enter <= p.Scope.To {
			s.To, s.Useful, s.Finalize = p.Scope.Clamp(c.Enter), p.clocks[l].At(i), true
		}
	}
	if i := trace.FindStartup(calls, trace.ClassInit); i >= 0 {
		if c := calls.At(i); c.Leave > p.Scope.From {
			s.From, s.Useful, s.Init = p.Scope.Clamp(c.Leave), s.Useful-p.clocks[l].At(i), true
		}
	}
	return s
}
