package pattern

import (
	"maps"
	"math"
	"math/bits"

	"tracekit/codec"
	"tracekit/trace"
)

// A Stretch is a time of a location, in ticks as recorded.
type Stretch struct {
	Location   trace.LocationID
	Begin, End int64
}

// Stretches returns when what was cut took place, in order of locations, then of time.
func (r *Repeats) Stretches() (out []Stretch) {
	for l := range r.Locations {
		for run, t := range r.times(trace.LocationID(l)) {
			begin, end := r.ends(t, trace.LocationID(l), run)
			out = append(out, Stretch{trace.LocationID(l), begin, end})
		}
	}
	return out
}

// Marked returns the stretches that a property of a trace names, trace.PropertyCut or
// trace.PropertyRegenerated, in ticks of its own clock; none if it has no such property, or
// one that is damaged.
func Marked(about trace.Info, defs *trace.Defs, property string) []Stretch {
	text := about.Properties[property]
	if text == "" {
		return nil
	}
	b, err := unpack(text)
	if err != nil {
		return nil
	}
	var clock trace.ClockProperties
	var out []Stretch
	c := codec.FromMemory(b)
	if codeStretches(c, &clock, &out, len(defs.Locations)); c.Err() != nil {
		return nil
	}
	for i := range out {
		for _, t := range []*int64{&out[i].Begin, &out[i].End} {
			*t = defs.Clock.GlobalOffset + scaled(*t-clock.GlobalOffset, defs.Clock.Resolution, clock.Resolution)
		}
	}
	return out
}

// scaled returns t·to/from, or the nearest int64.
func scaled(t int64, to, from uint64) int64 {
	if t < 0 {
		return -scaled(-max(t, -math.MaxInt64), to, from)
	}
	hi, lo := bits.Mul64(uint64(t), to)
	if hi >= from {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, from)
	return int64(min(q, math.MaxInt64))
}

// encodeStretches returns the text of a property that names stretches.
func encodeStretches(clock trace.ClockProperties, stretches []Stretch) string {
	c := codec.ToMemory(nil)
	codeStretches(c, &clock, &stretches, math.MaxInt32)
	return pack(c.Data())
}

// codeStretches codes stretches of a trace of so many locations.
func codeStretches(c *codec.Coder, clock *trace.ClockProperties, stretches *[]Stretch, locations int) {
	codeClock(c, clock)
	n, location := len(*stretches), codec.Below("location", locations)
	codec.Unsigned(c, &n, small)
	var time differences
	codec.Items(c, stretches, n, func(s *Stretch) {
		codec.Unsigned(c, &s.Location, location)
		time.code(c, &s.Begin)
		time.code(c, &s.End)
	})
}

// Moved returns a source with corrected times, which is made of t, that marks what was cut and
// made again at these times. How what was cut is made again is about recorded times, and left
// out.
func Moved(corrected trace.Source, t *trace.Trace) trace.Source {
	about := corrected.Info()
	before := trace.Info{Properties: about.Properties}
	about.Properties = maps.Clone(about.Properties)
	delete(about.Properties, trace.PropertyRepeats)
	for _, property := range []string{trace.PropertyCut, trace.PropertyRegenerated} {
		if stretches := Marked(before, t.Defs, property); stretches != nil {
			for i, s := range stretches {
				clock := &t.Clock.Maps[s.Location]
				stretches[i].Begin, stretches[i].End = clock.At(s.Begin), clock.At(s.End)
			}
			about.Properties[property] = encodeStretches(corrected.Defs().Clock, stretches)
		}
	}
	return &moved{corrected, about}
}

// A moved is a source with other properties.
type moved struct {
	trace.Source
	about trace.Info
}

// Info implements trace.Source.
func (m *moved) Info() trace.Info { return m.about }
