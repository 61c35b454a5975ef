package pattern

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"tracekit/trace"
)

// A reduced trace carries its Repeats as text, in the property trace.PropertyRepeats: base64
// of the compressed bytes of varints, those of times as differences of differences.

// Encode returns the text of a description.
func (r *Repeats) Encode() string {
	var b packed
	put := b.put
	put(version)
	put(r.Clock.Resolution)
	put(uint64(r.Clock.GlobalOffset))
	put(uint64(r.Intervals))
	put(r.Events)
	put(uint64(r.Alike))
	put(uint64(len(r.Runs)))
	for _, n := range r.Runs {
		put(uint64(n))
	}
	put(uint64(r.Variants))
	for _, v := range r.Which {
		put(uint64(v))
	}
	put(uint64(r.Stride))
	put(uint64(len(r.Locations)))
	for l := range r.Locations {
		x := &r.Locations[l]
		put(uint64(len(x.Kept)))
		if len(x.Kept) == 0 {
			continue
		}
		put(uint64(x.Master))
		var times differences
		seq := uint64(0)
		for _, k := range x.Kept {
			put(k.First - seq)
			put(k.Events)
			put(times.of(k.Begin))
			put(times.of(k.End))
			for _, g := range k.Gaps {
				put(g)
			}
			seq = k.First + k.Events
		}
		for _, k := range x.Models {
			put(uint64(k))
		}
		seq = 0
		for _, at := range x.At {
			put(at - seq)
			seq = at
		}
		times = differences{}
		for _, t := range x.Times {
			put(times.of(t))
		}
	}
	return b.text()
}

// packed are the bytes of varints, which become text.
type packed []byte

func (b *packed) put(v uint64) { *b = binary.AppendUvarint(*b, v) }

func (b *packed) text() string {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic(err) // the level is right
	}
	w.Write(*b) // to memory
	w.Close()
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// unpack is the inverse of text.
func unpack(text string) ([]byte, error) {
	in := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	return io.ReadAll(io.LimitReader(in, most))
}

const version = 1

// differences turns times into differences of differences and back.
type differences struct{ last, step int64 }

func (d *differences) of(t int64) uint64 {
	step := t - d.last
	v := step - d.step
	d.last, d.step = t, step
	return uint64(v<<1) ^ uint64(v>>63)
}

func (d *differences) time(v uint64) int64 {
	d.step += int64(v>>1) ^ -int64(v&1)
	d.last += d.step
	return d.last
}

// most is the number of bytes of a description that are read.
const most = 64 << 20

// Decode reads the text of a description of a trace of so many locations. An error means that
// it is damaged, of a later version, or of another trace.
func Decode(text string, locations int) (*Repeats, error) {
	b, err := unpack(text)
	if err != nil {
		return nil, fmt.Errorf("what was cut of repeating patterns: %w", err)
	}
	d := &decoder{rest: b}
	r := d.repeats(locations)
	if d.failed || len(d.rest) > 0 {
		return nil, errors.New("what was cut of repeating patterns: the description is damaged, of a later version, or of another trace")
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("what was cut of repeating patterns: %w", err)
	}
	return r, nil
}

// A decoder reads varints; once it failed, all are 0.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) next() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || d.failed {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// count reads a number of things, of which each takes a byte or more.
func (d *decoder) count() int {
	n := d.next()
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return 0
	}
	return int(n)
}

// index reads a small number.
func (d *decoder) index() int { return int(min(d.next(), math.MaxInt32)) }

func (d *decoder) repeats(locations int) *Repeats {
	r := &Repeats{}
	if d.next() != version {
		d.failed = true
		return r
	}
	r.Clock.Resolution, r.Clock.GlobalOffset = d.next(), int64(d.next())
	r.Intervals, r.Events, r.Alike = d.index(), d.next(), Alike(min(d.next(), uint64(ByDistance)))
	cut := uint64(0)
	for range d.count() {
		n := d.index()
		r.Runs, cut = append(r.Runs, n), cut+uint64(n)
	}
	r.Variants = d.index()
	if cut > uint64(len(d.rest)) {
		d.failed = true
		return r
	}
	for range cut {
		r.Which = append(r.Which, d.index())
	}
	if r.Stride = d.index(); r.Stride == 0 || d.count() != locations {
		d.failed = true
		return r
	}
	r.Locations = make([]Location, locations)
	for l := range r.Locations {
		d.location(&r.Locations[l], trace.LocationID(l), r)
	}
	return r
}

func (d *decoder) location(x *Location, l trace.LocationID, r *Repeats) {
	kept := d.count()
	if kept == 0 {
		return
	}
	x.Master = trace.LocationID(d.index())
	var times differences
	seq := uint64(0)
	for range kept {
		k := Kept{First: seq + d.next(), Events: d.next()}
		k.Begin, k.End = times.time(d.next()), times.time(d.next())
		if k.Events >= uint64(len(d.rest)) {
			d.failed = true
			return
		}
		for range k.Events + 1 {
			k.Gaps = append(k.Gaps, d.next())
		}
		x.Kept = append(x.Kept, k)
		seq = k.First + k.Events
	}
	if r.Variants > len(d.rest) {
		d.failed = true
		return
	}
	for range r.Variants {
		x.Models = append(x.Models, d.index())
	}
	seq = 0
	for range r.Runs {
		seq += d.next()
		x.At = append(x.At, seq)
	}
	if x.Master != l {
		return
	}
	times = differences{}
	n := 0
	for _, k := range r.Runs {
		n += r.timesOf(k)
	}
	if n > len(d.rest) {
		d.failed = true
		return
	}
	for range n {
		x.Times = append(x.Times, times.time(d.next()))
	}
}

// check states what Regenerate relies on: models are there, and come before what repeats
// them; what is kept comes in order, with times that do not run backwards.
func (r *Repeats) check() error {
	if r.Clock.Resolution == 0 {
		return errors.New("a clock of no ticks")
	}
	for _, v := range r.Which {
		if v >= r.Variants {
			return fmt.Errorf("there is no variant %d", v)
		}
	}
	for l := range r.Locations {
		x := &r.Locations[l]
		if len(x.Kept) == 0 {
			continue
		}
		bad := func(what string) error { return fmt.Errorf("location %d: %s", l, what) }
		if int(x.Master) >= len(r.Locations) || r.Locations[x.Master].Times == nil && len(r.Runs) > 0 {
			return bad("there are no times")
		}
		seq := uint64(0)
		for _, k := range x.Kept {
			if k.First < seq || k.Events > math.MaxInt64 || k.First > math.MaxInt64 || k.End < k.Begin || k.End-k.Begin < 0 {
				return bad("what is kept is out of order")
			}
			seq = k.First + k.Events
		}
		next := r.Which
		for i, n := range r.Runs {
			if x.At[i] > math.MaxInt64 || i > 0 && x.At[i] < x.At[i-1] {
				return bad("what was cut is out of order")
			}
			for _, v := range next[:n] {
				if k := x.Models[v]; k >= len(x.Kept) || x.Kept[k].First+x.Kept[k].Events > x.At[i] {
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
