package oracle

import "tracekit/trace"

// Options says how to analyze.
type Options struct {
	Offsets bool // correct times by the measured clock offsets
}

// A Result is what is true of a trace. Times are in ticks; waits have their call.
type Result struct {
	Calls       [][]*Call // by location
	Sends       []*Send   // by location, then in recorded order
	Recvs       []*Recv
	Collectives []*Collective
	Waits       []Wait
	Profile     map[trace.RegionID]Row
	Efficiency  Efficiency
	Path        CriticalPath
	First, Last int64 // of all events
}

// An analysis is a result on its way.
type analysis struct {
	Result
	defs           *trace.Defs
	rank           []uint32
	streams        []*stream
	sendAt, recvAt []position
}

// Analyze analyses a trace in memory.
func Analyze(m *trace.MemorySource, o Options) *Result {
	a := &analysis{defs: m.Definitions, rank: m.Definitions.Ranks()}
	for l, loc := range a.defs.Locations {
		clock := func(t int64) int64 { return t }
		if o.Offsets {
			clock = func(t int64) int64 { return trace.CorrectOffset(loc.ClockOffsets, t) }
		}
		s := readStream(m, trace.LocationID(l), a.rank[l], clock)
		a.streams = append(a.streams, s)
		a.Calls = append(a.Calls, s.calls)
	}
	a.span()
	a.findMessages()
	a.matchMessages()
	a.findCollectives()
	a.messageWaits()
	a.collectiveWaits()
	a.profile()
	a.efficiency()
	a.criticalPath()
	return &a.Result
}

// span finds the first and the last event.
func (a *analysis) span() {
	found := false
	for _, s := range a.streams {
		for _, e := range s.events {
			if !found {
				a.First, a.Last, found = e.time, e.time, true
			}
			a.First, a.Last = min(a.First, e.time), max(a.Last, e.time)
		}
	}
}

// master returns the stream of a rank's master thread.
func (a *analysis) master(rank int) *stream { return a.streams[a.defs.World()[rank]] }
