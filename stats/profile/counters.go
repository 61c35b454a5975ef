package profile

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"

	"tracekit/document"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// A counterSum adds up the samples of one counter in one call path. Whole numbers are
// added as such, in 128 bits, which cannot wrap around; floating-point ones in recorded order.
type counterSum struct {
	samples  uint64
	high     int64 // of the sum of whole numbers: the upper half in two's complement
	low      uint64
	real     float64
	min, max float64
	time     int64 // ticks in which the increments were counted
}

// merge adds the samples of another sum. Order matters for real only: parts are combined
// in order of locations.
func (c *counterSum) merge(o counterSum) {
	if o.samples == 0 {
		return
	}
	if c.samples == 0 || o.min < c.min {
		c.min = o.min
	}
	if c.samples == 0 || o.max > c.max {
		c.max = o.max
	}
	c.samples += o.samples
	var carry uint64
	c.low, carry = bits.Add64(c.low, o.low, 0)
	c.high += o.high + int64(carry)
	c.real += o.real
	c.time += o.time
}

// whole returns the sum of the whole numbers; fits is false if 64 bits do not hold it.
func (c *counterSum) whole() (sum float64, fits bool) {
	if c.high == int64(c.low)>>63 {
		return float64(int64(c.low)), true
	}
	return float64(c.high)*(1<<64) + float64(c.low), false
}

// counterState holds the last sample of each counter of a location, by metric member.
type counterState struct {
	last   []lastSample
	useful []counterSum  // increments in intervals that are useful from end to end
	bad    trace.Finding // of samples that cannot be
	falls  trace.Finding // of accumulating counters that fall; of a location that only samples, its series tells
}

// A lastSample is the last one of a counter; at the begin of a location there is none, but
// increments count from there.
type lastSample struct {
	has    bool
	bits   uint64 // of the value
	time   int64  // corrected
	useful int64  // useful time of the thread until then
}

// counter adds a sample to the innermost call path: of an accumulating counter what it has
// grown since its last sample, which is recorded with the event that entered that path.
func (w *walk) counter(m *trace.MetricValues, i int) {
	d := w.profiler.T.Defs
	member, ok := d.CounterOf(m.Metric[i], m.Member[i])
	if ok && member == w.profiler.running {
		w.threadRuns(m, i)
		return
	}
	if !ok || w.profiler.clipped(w.clock, m.Time[i]) {
		return
	}
	if w.counters.last == nil {
		w.beginCounters()
	}
	if t := w.corrected(m.Time[i]); t > w.now {
		w.advance(w.top, t)
	}
	if m.Type[i].IsReal() && !numbers.Finite(math.Float64frombits(m.Value[i])) {
		w.noteSample(&w.counters.bad, trace.CodeBadValue, m, i, "is", m.Value[i])
		return
	}
	value, before := m.Value[i], w.counters.last[member]
	w.counters.last[member] = lastSample{true, value, w.now, w.threadUseful()}
	mode := d.MetricMembers[member].Mode & trace.MetricProperty
	if mode == trace.MetricAccumulated {
		if !before.has {
			return
		}
		value = m.Type[i].Difference(value, before.bits)
		if falls(m.Type[i], value) {
			if d.Locations[w.location].Kind != trace.LocationMetric {
				w.noteSample(&w.counters.falls, trace.CodeCounterFalls, m, i, "grows by", value)
			}
			return
		}
	}
	s := sampleOf(m.Type[i], value)
	if mode != trace.MetricAbsolute {
		s.time = w.now - before.time
		if s.max > MostCounted(float64(s.time)/float64(d.Clock.Resolution)) && d.MetricMembers[member].Type == trace.MetricPAPI {
			w.noteSample(&w.counters.bad, trace.CodeBadValue, m, i, "grows at once by", value)
			return
		}
		if s.time == w.counters.last[member].useful-before.useful {
			w.counters.useful[member].merge(s)
		}
	}
	step := w.top
	if step.Counters == nil {
		step.Counters = make([]counterSum, len(d.MetricMembers))
	}
	step.Counters[member].merge(s)
}

// beginCounters makes room for the counters of a location. What is first counted was counted
// from the begin of the location or, in a selection, at its begin.
func (w *walk) beginCounters() {
	n := len(w.profiler.T.Defs.MetricMembers)
	w.counters.last, w.counters.useful = make([]lastSample, n), make([]counterSum, n)
	for i := range w.counters.last {
		w.counters.last[i].time = w.profiler.Scope.Clamp(w.profiler.T.Span[w.location].First)
	}
}

// MostCounted returns more than any event of a processor happens in so many seconds: 10⁴ a
// nanosecond. Counters that were not ready hold values far above that.
func MostCounted(seconds float64) float64 {
	const perSecond, shortest = 1e13, 1e-6
	return perSecond * max(shortest, seconds)
}

// falls reports whether what an accumulating counter grew by is below 0: it was set back, or
// wraps around at less than 64 bits.
func falls(t trace.ValueType, grown uint64) bool {
	if t.IsReal() {
		return math.Float64frombits(grown) < 0
	}
	return int64(grown) < 0
}

// noteSample counts a sample that is left out: it would make nothing of all sums.
func (w *walk) noteSample(f *trace.Finding, code trace.Code, m *trace.MetricValues, i int, what string, bits uint64) {
	if f.Count == 0 {
		d := w.profiler.T.Defs
		member, _ := d.CounterOf(m.Metric[i], m.Member[i])
		value := strconv.FormatInt(int64(bits), 10)
		if m.Type[i].IsReal() {
			value = strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
		}
		*f = trace.Finding{Code: code, First: trace.Place{Location: w.location, Seq: m.Seq[i], Offset: -1},
			Text: fmt.Sprintf("counter %s %s %s", d.String(d.MetricMembers[member].Name), what, value)}
	}
	f.Count++
}

// sampleOf makes the sum of one sample of its bits.
func sampleOf(t trace.ValueType, v uint64) counterSum {
	if t.IsReal() {
		f := math.Float64frombits(v)
		return counterSum{samples: 1, real: f, min: f, max: f}
	}
	if t == trace.TypeUint64 {
		return counterSum{samples: 1, low: v, min: float64(v), max: float64(v)}
	}
	n := int64(v)
	return counterSum{samples: 1, high: n >> 63, low: v, min: float64(n), max: float64(n)}
}

// CounterRows returns the counters of one region, in order of their definition, and notes those
// that have counted more than fits into 64 bits.
func CounterRows(d *trace.Defs, region string, sums []counterSum, ledger *trace.Ledger) []document.CounterRow {
	var rows []document.CounterRow
	r := numbers.Rate{Resolution: d.Clock.Resolution}
	for i, c := range sums {
		if c.samples == 0 {
			continue
		}
		m := d.MetricMembers[i]
		unit := m.Scale()
		whole, fits := c.whole()
		sum := (whole + c.real) * unit
		row := document.CounterRow{Name: d.String(m.Name), Unit: d.String(m.Unit), Samples: c.samples, TimeNs: r.Ns(c.time)}
		absolute := m.Mode&trace.MetricProperty == trace.MetricAbsolute
		switch {
		case !numbers.Finite(sum):
			ledger.Add(trace.CodeCounterOverflow, trace.Nowhere(), fmt.Sprintf("the sum of %s in %s is too large for any "+
				"number", row.Name, region))
		case !fits && !absolute:
			ledger.Add(trace.CodeCounterOverflow, trace.Nowhere(), fmt.Sprintf("%s in %s sums up to %.4g", row.Name, region, sum))
		}
		if absolute {
			row.Mean, row.Min, row.Max = numbers.Known(sum/float64(c.samples)), numbers.Known(c.min*unit), numbers.Known(c.max*unit)
		} else {
			row.Sum = numbers.Known(sum)
		}
		rows = append(rows, row)
	}
	return rows
}
