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
	"slices"
	"strings"

	"tracekit/codec"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// A reduced trace carries its Repeats as text, in the property trace.PropertyRepeats: base64
// of the compressed bytes of varints, those of times as differences of differences. The variants of a run that repeat themselves are
// written once. Texts of version 1 have all variants, and no laws; laws of version 2 were others, and are refused.

const version = 3

// errDescription is the error of a text that is no description of the trace.
var errDescription = errors.New("the description of the patterns is damaged, newer than this program, or of another trace")

// Encode returns the text of a description.
func (r *Repeats) Encode() string {
	c := codec.ToMemory(nil)
	r.code(c, len(r.Locations))
	return pack(c.Data())
}

// Decode reads the text of a description of a trace of so many locations. An error means that
// it is damaged, of a later version, or of another trace.
func Decode(text string, locations int) (*Repeats, error) {
	r := &Repeats{}
	b, err := unpack(text)
	if err == nil {
		c := codec.FromMemory(b)
		if r.code(c, locations); c.Close() != nil {
			err = errDescription
		} else {
			err = r.check()
		}
	}
	if err != nil {
		return nil, fmt.Errorf("patterns that were cut: %w", err)
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
var small = codec.Within("number", 0, math.MaxInt32)

// code codes the description of a trace of so many locations.
func (r *Repeats) code(c *codec.Coder, locations int) {
	v, runs, cut := version, len(r.Runs), 0
	codec.Unsigned(c, &v, codec.Within("version", 1, version))
	codeClock(c, &r.Clock)
	codec.Unsigned(c, &r.Intervals, small)
	codec.Unsigned(c, &r.Events)
	codec.Unsigned(c, &r.Alike, codec.Within("comparison", 0, ByDistance))
	codec.Unsigned(c, &runs, small)
	codec.Items(c, &r.Runs, runs, func(n *int) {
		codec.Unsigned(c, n, small)
		cut += *n
	})
	codec.Unsigned(c, &r.Variants, small)
	variants := codec.Below("variant", r.Variants)
	if v == 1 {
		codec.Items(c, &r.Which, cut, func(v *int) { codec.Unsigned(c, v, variants) })
	} else {
		r.codeWhich(c, variants)
	}
	codec.Unsigned(c, &r.Stride, codec.Within("stride", 1, math.MaxInt32))
	codec.Unsigned(c, &locations, codec.Within("locations", locations, locations))
	if c.Reading() && c.Err() == nil {
		r.Locations = make([]Location, locations)
	}
	if modelled := r.Laws != nil; v > 1 {
		if codec.Flag(c, &modelled); modelled && v == 2 {
			c.Refuse("the laws are of an earlier version")
		} else if modelled && c.Reading() {
			r.Laws = &Laws{}
		}
	}
	for l := range r.Locations {
		r.Locations[l].code(c, trace.LocationID(l), r)
	}
	if r.Laws != nil {
		r.Laws.code(c, r)
	}
}

// codeWhich codes the variants of each run up to where they begin to repeat themselves.
func (r *Repeats) codeWhich(c *codec.Coder, variants *codec.Bound) {
	which := r.Which
	var all []int
	for _, n := range r.Runs {
		var period int
		if !c.Reading() {
			period = periodOf(which[:n])
		}
		codec.Unsigned(c, &period, codec.Within("period", min(n, 1), n))
		if c.Reading() {
			if len(all)+n > maxIntervals {
				c.Refuse("there are too many intervals")
			}
			var part []int
			codec.Items(c, &part, period, func(v *int) { codec.Unsigned(c, v, variants) })
			if c.Err() != nil {
				return
			}
			for i := range n {
				all = append(all, part[i%period])
			}
			continue
		}
		part := which[:period]
		codec.Items(c, &part, period, func(v *int) { codec.Unsigned(c, v, variants) })
		which = which[n:]
	}
	if c.Reading() {
		r.Which = all
	}
}

// periodOf returns the smallest number above 0 that values of a list come again after, its length if they do not; 0 of an empty one.
func periodOf(list []int) int {
	if len(list) == 0 {
		return 0
	}
	border := make([]int, len(list)) // of each beginning: the longest beginning that it also ends with
	for i, k := 1, 0; i < len(list); i++ {
		for k > 0 && list[i] != list[k] {
			k = border[k-1]
		}
		if list[i] == list[k] {
			k++
		}
		border[i] = k
	}
	return len(list) - border[len(list)-1]
}

// code codes laws, but those of locations.
func (x *Laws) code(c *codec.Coder, r *Repeats) {
	codec.Unsigned(c, &x.Seed)
	last, rows := -1, len(x.Rows)
	codec.Unsigned(c, &rows, codec.Within("rows", 0, len(r.Which)))
	codec.Items(c, &x.Rows, rows, func(g *int) {
		step := *g - last
		codec.Unsigned(c, &step, codec.Within("instances", 1, len(r.Which)))
		if *g = last + step; *g >= len(r.Which) {
			c.Refuse("a row is of no instance")
		}
		last = *g
	})
	if c.Err() != nil {
		return
	}
	byVariant := r.byVariant()
	for _, rows := range byVariant {
		if len(rows) < 1 || len(rows) > math.MaxUint8+1 {
			c.Refuse("a variant has %d rows", len(rows))
			return
		}
	}
	n, columns := 0, len(r.masters())
	codec.Items(c, &x.Joint, rows*columns, func(rank *uint8) {
		codec.Unsigned(c, rank, codec.Below("rank", len(byVariant[r.Which[x.Rows[n/columns]]])))
		n++
	})
}

// mostTicks bounds a time of a law.
const mostTicks = 1 << 61

// code codes a law.
func (x *Law) code(c *codec.Coder) {
	families := fit.Families()
	family := slices.Index(families, x.Family) + 1
	if codec.Unsigned(c, &family, codec.Within("family", 0, len(families))); family > 0 && family <= len(families) {
		x.Family = families[family-1]
	}
	last := int64(0)
	for i := range x.At {
		step := x.At[i] - last
		codec.Unsigned(c, &step, codec.Within("ticks", 0, mostTicks-last))
		x.At[i] = last + step
		last = x.At[i]
	}
}

// bound returns how many bytes a description with laws takes at most, for any number of intervals whose variants come in this order.
func (r *Repeats) bound() int {
	const fixed, law = 12, 2 + len(lawShares)
	numbers, which := fixed+len(r.Runs)+(stretches*stretch+r.Variants)*(1+len(r.masters())), r.Which
	for _, n := range r.Runs {
		numbers += 1 + periodOf(which[:n])
		which = which[n:]
	}
	for l := range r.Locations {
		x := &r.Locations[l]
		numbers += 2 + r.Variants + len(r.Runs) + (4+1)*len(x.Kept)
		for _, k := range x.Kept {
			numbers += int(k.Events)
		}
		if len(x.Own) > 0 {
			numbers += anchors + 5*len(r.Runs) + law*r.Variants
		}
	}
	return numbers * binary.MaxVarintLen64 * 4 / 3
}

// codeClock codes what times refer to.
func codeClock(c *codec.Coder, clock *trace.ClockProperties) {
	codec.Unsigned(c, &clock.Resolution, codec.Within[uint64]("ticks per second", 1, math.MaxUint64))
	codec.Unsigned(c, &clock.GlobalOffset)
}

// code codes what is kept and cut of a location.
func (x *Location) code(c *codec.Coder, l trace.LocationID, r *Repeats) {
	kept := len(x.Kept)
	if codec.Unsigned(c, &kept, small); kept == 0 {
		return
	}
	codec.Unsigned(c, &x.Master, codec.Below("location", len(r.Locations)))
	var at place
	var time differences
	codec.Items(c, &x.Kept, kept, func(k *Kept) {
		at.code(c, &k.First)
		codec.Unsigned(c, &k.Events, codec.Within("events", 0, min(math.MaxInt32, math.MaxInt64-k.First)))
		time.code(c, &k.Begin)
		time.code(c, &k.End)
		codec.Items(c, &k.Gaps, int(k.Events)+1, func(gap *uint64) { codec.Unsigned(c, gap) })
		at = place(k.First + k.Events)
	})
	models := codec.Below("interval", kept)
	codec.Items(c, &x.Models, r.Variants, func(k *int) { codec.Unsigned(c, k, models) })
	at = 0
	codec.Items(c, &x.At, len(r.Runs), func(seq *uint64) { at.code(c, seq) })
	if x.Master != l {
		return
	}
	times := 0
	for _, n := range r.Runs {
		times += r.timesOf(n)
	}
	time = differences{}
	codec.Items(c, &x.Times, times, func(t *int64) { time.code(c, t) })
	if r.Laws != nil {
		codec.Items(c, &x.Own, r.Variants, func(law *Law) { law.code(c) })
		time = differences{}
		codec.Items(c, &x.Ends, 2*len(r.Runs), func(t *int64) { time.code(c, t) })
	}
}

// A place is the sequence number after which the next one is counted.
type place uint64

func (p *place) code(c *codec.Coder, seq *uint64) {
	n := *seq - uint64(*p)
	if codec.Unsigned(c, &n, codec.Within("records", 0, math.MaxInt64-uint64(*p))); c.Reading() {
		*seq = uint64(*p) + n
	}
	*p = place(*seq)
}

// differences codes times as differences of differences.
type differences struct{ last, step int64 }

func (d *differences) code(c *codec.Coder, t *int64) {
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
		if master := &r.Locations[x.Master]; len(r.Runs) > 0 && (master.Times == nil || r.Laws != nil && master.Own == nil) {
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
		for run, t := range r.times(trace.LocationID(l)) {
			for k := range len(t.at) - 1 {
				if t.at[k+1] < t.at[k] || t.at[k+1]-t.at[k] < 0 {
					return bad("times run backwards")
				}
			}
			if begin, end := r.ends(t, trace.LocationID(l), run); end < begin || end-begin < 0 {
				return bad("a run ends before it begins")
			}
		}
	}
	return nil
}
