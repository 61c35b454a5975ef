package pattern

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tracekit/partial"
	"tracekit/trace"
)

// A reduced trace carries its Repeats as text, in the property trace.PropertyRepeats: base64
// of the compressed bytes of varints, those of times as differences of differences.

const version = 1

// errDescription is the error of a text that is no description of the trace.
var errDescription = errors.New("the description is damaged, of a later version, or of another trace")

// Encode returns the text of a description.
func (r *Repeats) Encode() string {
	c := partial.ToMemory(nil)
	r.code(c, len(r.Locations))
	return pack(c.Data())
}

// Decode reads the text of a description of a trace of so many locations. An error means that
// it is damaged, of a later version, or of another trace.
func Decode(text string, locations int) (*Repeats, error) {
	r := &Repeats{}
	b, err := unpack(text)
	if err == nil {
		c := partial.FromMemory(b)
		if r.code(c, locations); c.Close() != nil {
			err = errDescription
		} else {
			err = r.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("what was cut of repeating patterns: %w", err)
	}
	return r, nil
}

// pack turns bytes into text.
func pack(b []byte) string {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // the level is right
	}
	w.Write(b) // to memory
	w.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// most is the number of bytes of a description that are read.
const most = 64 << 20

// unpack is the inverse of pack.
func unpack(text string) ([]byte, error) {
	in := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	return io.ReadAll(io.LimitReader(in, most))
}

// small bounds numbers of things.
var small = partial.Within("number", 0, math.MaxInt32)

// code codes the description of a trace of so many locations.
func (r *Repeats) code(c *partial.Coder, locations int) {
	v, runs, cut := version, len(r.Runs), 0
	partial.Unsigned(c, &v, partial.Within("version", version, version))
	codeClock(c, &r.Clock)
	partial.Unsigned(c, &r.Intervals, small)
	partial.Unsigned(c, &r.Events)
	partial.Unsigned(c, &r.Alike, partial.Within("comparison", 0, ByDistance))
	partial.Unsigned(c, &runs, small)
	partial.Items(c, &r.Runs, runs, func(n *int) {
		partial.Unsigned(c, n, small)
		cut += *n
	})
	partial.Unsigned(c, &r.Variants, small)
	variants := partial.Below("variant", r.Variants)
	partial.Items(c, &r.Which, cut, func(v *int) { partial.Unsigned(c, v, variants) })
	partial.Unsigned(c, &r.Stride, partial.Within("stride", 1, math.MaxInt32))
	partial.Unsigned(c, &locations, partial.Within("locations", locations, locations))
	if c.Reading() && c.Err() == nil {
		r.Locations = make([]Location, locations)
	}
	for l := range r.Locations {
		r.Locations[l].code(c, trace.LocationID(l), r)
	}
}

// codeClock codes what times refer to.
func codeClock(c *partial.Coder, clock *trace.ClockProperties) {
	partial.Unsigned(c, &clock.Resolution, partial.Within[uint64]("ticks per second", 1, math.MaxUint64))
	partial.Unsigned(c, &clock.GlobalOffset)
}

// code codes what is kept and cut of a location.
func (x *Location) code(c *partial.Coder, l trace.LocationID, r *Repeats) {
	kept := len(x.Kept)
	if partial.Unsigned(c, &kept, small); kept == 0 {
		return
	}
	partial.Unsigned(c, &x.Master, partial.Below("location", len(r.Locations)))
	var at place
	var time differences
	partial.Items(c, &x.Kept, kept, func(k *Kept) {
		at.code(c, &k.First)
		partial.Unsigned(c, &k.Events, partial.Within("events", 0, min(math.MaxInt32, math.MaxInt64-k.First)))
		time.code(c, &k.Begin)
		time.code(c, &k.End)
		partial.Items(c, &k.Gaps, int(k.Events)+1, func(gap *uint64) { partial.Unsigned(c, gap) })
		at = place(k.First + k.Events)
	})
	models := partial.Below("interval", kept)
	partial.Items(c, &x.Models, r.Variants, func(k *int) { partial.Unsigned(c, k, models) })
	at = 0
	partial.Items(c, &x.At, len(r.Runs), func(seq *uint64) { at.code(c, seq) })
	if x.Master != l {
		return
	}
	times := 0
	for _, n := range r.Runs {
		times += r.timesOf(n)
	}
	time = differences{}
	partial.Items(c, &x.Times, times, func(t *int64) { time.code(c, t) })
}

// A place is the sequence number after which the next one is counted.
type place uint64

func (p *place) code(c *partial.Coder, seq *uint64) {
	n := *seq - uint64(*p)
	if partial.Unsigned(c, &n, partial.Within("records", 0, math.MaxInt64-uint64(*p))); c.Reading() {
		*seq = uint64(*p) + n
	}
	*p = place(*seq)
}

// differences codes times as differences of differences.
type differences struct{ last, step int64 }

func (d *differences) code(c *partial.Coder, t *int64) {
	v := c.Varint(*t - d.last - d.step)
	if c.Reading() {
		*t = d.last + d.step + v
	}
	*d = differences{last: *t, step: *t - d.last}
}

// check states what Regenerate relies on besides: models come before what repeats them, and times do
// not run backwards.
func (r *Repeats) check() error {
	for l := range r.Locations {
		x := &r.Locations[l]
		if len(x.Kept) == 0 {
			continue
		}
		bad := func(what string) error { return fmt.Errorf("location %d: %s", l, what) }
		if r.Locations[x.Master].Times == nil && len(r.Runs) > 0 {
			return bad("there are no times")
		}
		for _, k := range x.Kept {
			if k.End < k.Begin || k.End-k.Begin < 0 {
				return bad("what is kept is out of order")
			}
		}
		next := r.Which
		for i, n := range r.Runs {
			for _, v := range next[:n] {
				if k := x.Models[v]; x.Kept[k].First+x.Kept[k].Events > x.At[i] {
					return bad("a model that is not kept before it is needed")
				}
			}
			next = next[n:]
		}
		for _, t := range r.times(trace.LocationID(l)) {
			for k := range len(t.at) - 1 {
				if t.at[k+1] < t.at[k] || t.at[k+1]-t.at[k] < 0 {
					return bad("times run backwards")
				}
			}
		}
	}
	return nil
}
