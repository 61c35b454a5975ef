package fit

import (
	"encoding/binary"
	"errors"
)

// errSample is returned for bytes that no MarshalBinary wrote.
var errSample = errors.New("fit: not an encoded sample")

// MarshalBinary encodes the sample, so that gob can carry it between
// processes: limit, shift, sum, min, max, number of runs, and the runs as
// varint pairs of distance and count. It never returns an error.
func (s *Sample) MarshalBinary() ([]byte, error) {
	s.settle()
	b := binary.AppendUvarint(nil, uint64(max(s.Limit, 0)))
	b = binary.AppendUvarint(b, uint64(s.shift))
	for _, v := range []int64{s.sum, s.min, s.max, int64(len(s.runs))} {
		b = binary.AppendVarint(b, v)
	}
	var last int64
	for _, r := range s.runs {
		b = binary.AppendUvarint(b, uint64(r.t-last))
		b = binary.AppendUvarint(b, uint64(r.n))
		last = r.t
	}
	return b, nil
}

// UnmarshalBinary decodes what MarshalBinary wrote and replaces the sample.
// Bytes that break an invariant of Sample give an error and leave it unchanged.
func (s *Sample) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	o := Sample{Limit: int(d.uvarint()), shift: uint(d.uvarint())}
	o.sum, o.min, o.max = d.varint(), d.varint(), d.varint()
	count := d.varint()
	// Each run takes two bytes at least: the count is believed no further.
	if d.bad || o.Limit < 0 || o.shift > 62 || count < 0 || count > int64(len(d.b))/2 {
		return errSample
	}
	var last int64
	for j := range count {
		t, n := last+int64(d.uvarint()), int64(d.uvarint())
		if d.bad || n <= 0 || t < last || (j > 0 && t == last) || t&(1<<o.shift-1) != 0 {
			return errSample
		}
		o.runs = append(o.runs, run{t, n})
		o.n += n
		last = t
	}
	if len(d.b) > 0 || !o.sound() {
		return errSample
	}
	*s = o
	return nil
}

// sound tells whether the exact figures agree with the runs.
func (s *Sample) sound() bool {
	if len(s.runs) == 0 {
		return s.n == 0 && s.sum == 0 && s.min == 0 && s.max == 0
	}
	first, last := s.runs[0].t, s.runs[len(s.runs)-1].t
	return s.n > 0 && len(s.runs) <= s.limit() && s.min <= s.max &&
		s.min>>s.shift<<s.shift == first && s.max>>s.shift<<s.shift == last
}

// A decoder reads varints; once bad it returns zeros.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	return take(d, v, n)
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	return take(d, v, n)
}

// take moves past n bytes that held v; n ≤ 0 marks a broken varint.
func take[T int64 | uint64](d *decoder, v T, n int) T {
	if d.bad = d.bad || n <= 0; d.bad {
		return 0
	}
	d.b = d.b[n:]
	return v
}
