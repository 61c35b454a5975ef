package arrowdir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// What the pages of a column hold, by the encodings that the writer uses: plain, indexes
// of a dictionary, and differences. Each function appends n values to out, or fails.

var errShort = errors.New("a page ends before its values")

// A plain reads values as they are.
type plain[E any] func(out []E, data []byte, n int) ([]E, error)

func plain32(out []uint32, data []byte, n int) ([]uint32, error) {
	if len(data)/4 < n {
		return nil, errShort
	}
	for i := range n {
		out = append(out, binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out, nil
}

func plain64(out []uint64, data []byte, n int) ([]uint64, error) {
	if len(data)/8 < n {
		return nil, errShort
	}
	for i := range n {
		out = append(out, binary.LittleEndian.Uint64(data[8*i:]))
	}
	return out, nil
}

// plainBytes shares the memory of the page.
func plainBytes(out [][]byte, data []byte, n int) ([][]byte, error) {
	for range n {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return nil, errShort
		}
		end := 4 + binary.LittleEndian.Uint32(data)
		out, data = append(out, data[4:end]), data[end:]
	}
	return out, nil
}

func plainBools(out []bool, data []byte, n int) ([]bool, error) {
	if len(data) < (n+7)/8 {
		return nil, errShort
	}
	for i := range n {
		out = append(out, data[i/8]>>(i%8)&1 != 0)
	}
	return out, nil
}

// deltas reads differences (DELTA_BINARY_PACKED): blocks of 128 in four parts, each of
// numbers of a width, as the library writes them.
func deltas[E uint32 | uint64](out []E, data []byte, n int) ([]E, error) {
	r := thriftReader{data: data[:len(data):len(data)]}
	const block, parts = 128, 4
	if n == 0 {
		return out, nil
	}
	size, in, count, last := r.varint(), r.varint(), r.varint(), E(zigzag(r.varint()))
	if size != block || in != parts || count != uint64(n) {
		return nil, fmt.Errorf("%d differences in blocks of %d in %d parts, want %d", count, size, in, n)
	}
	out = append(out, last)
	var unpacked [block / parts]uint64
	for n--; n > 0; {
		least := E(zigzag(r.varint()))
		widths := r.data
		r.skip(parts)
		for _, width := range widths[:parts] {
			if n == 0 {
				break
			}
			packed := r.data
			if width > 64 {
				return nil, fmt.Errorf("differences of %d bits", width)
			}
			r.skip(uint64(width) * uint64(len(unpacked)) / 8)
			unpack(unpacked[:], packed[:cap(packed)], uint(width))
			for _, v := range unpacked[:min(n, len(unpacked))] {
				last += least + E(v)
				out = append(out, last)
			}
			n -= min(n, len(unpacked))
		}
	}
	return out, nil
}

// unpack reads numbers of a width of at most 64 bits, from the lowest bit on.
func unpack[E uint32 | uint64](out []E, data []byte, width uint) {
	if width == 0 {
		clear(out)
		return
	}
	mask := ^uint64(0) >> (64 - width)
	for i := range out {
		bit := uint(i) * width
		at, shift := bit/8, bit%8
		v := uint64At(data, at) >> shift
		if shift+width > 64 {
			v |= uint64(data[at+8]) << (64 - shift)
		}
		out[i] = E(v & mask)
	}
}

// uint64At is for the last bytes of a page, too, behind which others may not lie.
func uint64At(data []byte, at uint) (v uint64) {
	if at+8 <= uint(len(data)) {
		return binary.LittleEndian.Uint64(data[at:])
	}
	for i, b := range data[min(at, uint(len(data))):] {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// runs reads numbers of a width in runs (RLE), which is how levels and indexes are written.
func runs(out []uint32, data []byte, width uint, n int) ([]uint32, error) {
	if width > 32 {
		return nil, fmt.Errorf("numbers of %d bits", width)
	}
	r := thriftReader{data: data}
	for n > 0 {
		if len(r.data) == 0 {
			return nil, errShort
		}
		head := r.varint()
		at := r.data
		if head&1 == 0 { // one number, again and again
			r.skip(uint64(width+7) / 8)
			v := uint32(uint64At(at, 0) & (1<<width - 1))
			k := int(min(head>>1, uint64(n)))
			if k == 0 {
				return nil, errShort
			}
			for range k {
				out = append(out, v)
			}
			n -= k
			continue
		}
		groups := min(head>>1, uint64(n+7)/8) // of eight numbers
		r.skip(min(groups*uint64(width), uint64(len(r.data))))
		k := min(int(groups)*8, n)
		if k == 0 || (k*int(width)+7)/8 > len(at) {
			return nil, errShort
		}
		out = append(out, make([]uint32, k)...)
		unpack(out[len(out)-k:], at, width)
		n -= k
	}
	return out, nil
}

// levels reads the levels at the beginning of a page, and what is behind them.
func levels(out []uint32, data []byte, most uint32, n int) (_ []uint32, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, errShort
	}
	end := 4 + binary.LittleEndian.Uint32(data)
	out, err = runs(out, data[4:end], uint(bits.Len32(most)), n)
	return out, data[end:], err
}

// levels reads the levels of a page, and returns what is behind them and how many values that is. None may be missing.
func (p *pages) levels(data []byte) (_ []byte, n int, err error) {
	if p.lists {
		if p.repeat, data, err = levels(p.repeat, data, 1, p.n); err != nil {
			return nil, 0, err
		}
	}
	if p.most == 0 {
		return data, p.n, nil
	}
	before := len(p.def)
	if p.def, data, err = levels(p.def, data, p.most, p.n); err != nil {
		return nil, 0, err
	}
	for i, level := range p.def[before:] {
		switch {
		case level == p.most:
			n++
			p.def[before+i] = 2
		case p.lists && level == p.none:
			p.def[before+i] = 0
		default:
			return nil, 0, fmt.Errorf("value %d is missing", before+i)
		}
	}
	if !p.lists {
		p.def = p.def[:0]
	}
	return data, n, nil
}

// indexes is memory for those of a page.
var indexes = sync.Pool{New: func() any { return new([]uint32) }}

// decode returns the values of all pages of a column, and leaves the levels of a column of
// lists in the pages.
func decode[E any](p *pages, plain plain[E], encoding int, other plain[E]) ([]E, error) {
	values := make([]E, 0, p.values)
	var dictionary []E
	scratch := indexes.Get().(*[]uint32)
	defer indexes.Put(scratch)
	for {
		ok, err := p.next()
		if err != nil || !ok {
			return values, err
		}
		if p.kind == dictionaryPage {
			if dictionary, err = plain(nil, p.data, p.n); err != nil {
				return nil, err
			}
			continue
		}
		data, n, err := p.levels(p.data)
		if err != nil {
			return nil, err
		}
		switch {
		case p.encoding == encodingPlain:
			values, err = plain(values, data, n)
		case p.encoding == encoding && other != nil:
			values, err = other(values, data, n)
		case p.encoding == encodingDict && len(data) > 0:
			if *scratch, err = runs(slices.Grow((*scratch)[:0], n), data[1:], uint(data[0]), n); err == nil {
				values, err = pick(values, dictionary, *scratch)
			}
		case n > 0:
			err = fmt.Errorf("a page of encoding %d", p.encoding)
		}
		if err != nil {
			return nil, err
		}
	}
}

// runBools decodes truth values in runs, behind their length.
func runBools(out []bool, data []byte, n int) ([]bool, error) {
	if len(data) < 4 {
		return nil, errShort
	}
	values, err := runs(nil, data[4:], 1, n)
	for _, v := range values {
		out = append(out, v == 1)
	}
	return out, err
}

// pick appends elements of a dictionary.
func pick[E any](out, dictionary []E, from []uint32) ([]E, error) {
	for _, i := range from {
		if int(i) >= len(dictionary) {
			return nil, fmt.Errorf("element %d of a dictionary of %d", i, len(dictionary))
		}
		out = append(out, dictionary[i])
	}
	return out, nil
}
