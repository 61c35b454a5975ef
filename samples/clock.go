package samples

import (
	"math/rand/v2"

	"tracekit/trace"
)

// A localClock makes the local times of a process out of true ones.
type localClock struct {
	process ProcessClock
	offsets []trace.ClockOffset // right ones; nil: the clock is true
}

// clockSpan is the local time between the two offsets that are measured. Times after the
// second are extrapolated.
const clockSpan = 1_000_000_000

// newClock returns the clock of a process whose local time runs fast by drift parts per
// million. Such a clock has a tick for every true time, so that the correction by its
// offsets is exact.
func newClock(p ProcessClock) localClock {
	if p == (ProcessClock{}) {
		return localClock{}
	}
	first := startTime + p.Skew
	return localClock{process: p, offsets: []trace.ClockOffset{
		{Time: first, Offset: -p.Skew},
		{Time: first + clockSpan, Offset: -p.Skew - p.Drift*clockSpan/1e6},
	}}
}

// local returns the first local time that the offsets correct to the true time t.
func (c *localClock) local(t int64) int64 {
	if c.offsets == nil {
		return t
	}
	elapsed := t - startTime
	// The estimate is right but for rounding.
	l := t + c.process.Skew + int64(float64(elapsed)*float64(c.process.Drift)/(1e6-float64(c.process.Drift)))
	for trace.CorrectOffset(c.offsets, l) >= t {
		l--
	}
	for trace.CorrectOffset(c.offsets, l) < t {
		l++
	}
	return l
}

// makeClocks draws the clocks of all processes; the first one is true.
func makeClocks(o Options, r *rand.Rand) []localClock {
	clocks := make([]localClock, o.Ranks)
	for i := range clocks {
		if i == 0 || o.Plant.Skew == 0 && o.Plant.Drift == 0 {
			continue
		}
		p := ProcessClock{Skew: r.Int64N(2*o.Plant.Skew+1) - o.Plant.Skew, Drift: r.Int64N(o.Plant.Drift + 1)}
		clocks[i] = newClock(p)
	}
	return clocks
}

// recordedOffsets returns what the trace says about the clock of a rank.
func recordedOffsets(mode OffsetMode, clocks []localClock, rank int) []trace.ClockOffset {
	switch mode {
	case OffsetsNone:
		return nil
	case OffsetsWrong:
		// The times are its own, as the measurement would have them, the offsets another's.
		other := clocks[(rank+1)%len(clocks)].offsets
		var wrong []trace.ClockOffset
		for i, o := range clocks[rank].offsets {
			if o.Offset = 0; other != nil {
				o.Offset = other[i].Offset
			}
			wrong = append(wrong, o)
		}
		return wrong
	}
	return clocks[rank].offsets
}
