package pack

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"tracekit/formulae/internal/coder"
)

// A textModel codes strings (names, properties, messages of findings) byte by byte.
type textModel interface {
	byte(c *coder.Coder, b byte) byte
}

func (f Form) texts() textModel {
	if f.Early {
		return &earlyText{mix: coder.NewMixer(f.Tables, textSlots, 256)}
	}
	return known().copy()
}

// textSlots is the logarithm of the largest number of chances for each context.
const textSlots = 16

// An earlyText codes a byte as files before version 11 have it, in the contexts of the last one, two and three bytes.
type earlyText struct {
	mix  *coder.Mixer
	last uint32 // the last four bytes
}

func (m *earlyText) byte(c *coder.Coder, b byte) byte {
	l := m.last
	b = m.mix.Byte(c, &[coder.Contexts]uint32{coder.Hash(l&0xFF, 1), coder.Hash(l&0xFFFF, 2), coder.Hash(l&0xFFFFFF, 3)}, b)
	m.last = l<<8 | uint32(b)
	return b
}

// words are texts that many traces have: names of MPI functions, what recorders and readers write into every trace. Files depend on each
// of its bytes: whoever changes it makes a new version of the format.
//
//go:embed words.txt
var words string

// A pastText codes a byte in the contexts of the last one to four bytes, of the string so far, and of what came where the text was the same
// before. It has coded the words first.
type pastText struct {
	mix    *coder.Panel
	past   []byte
	begun  uint32 // hash of the string so far
	places [reaches]place
}

// A place is one in the past that the text is expected to go on from: the last one where it was the same for reach bytes or more.
type place struct {
	reach int
	index []int32 // by hash of the last bytes: where they ended last
	at    int     // 0: none
	same  int     // bytes before it that are the same
}

const (
	reaches  = 3
	textBits = 14
	mostSame = 31
)

// known is a model that has learned the words.
var known = sync.OnceValue(func() *pastText {
	m := &pastText{mix: coder.NewPanel(coder.NewTables(), textSlots, 256), past: make([]byte, 4, 2*len(words))}
	for i, reach := range [reaches]int{3, 5, 8} {
		m.places[i] = place{reach: reach, index: make([]int32, 1<<textBits)}
	}
	var nowhere coder.Coder
	nowhere.StartEncoding()
	for word := range strings.Lines(words) {
		for _, b := range []byte(strings.TrimSuffix(word, "\n")) {
			m.byte(&nowhere, b)
		}
		m.byte(&nowhere, 0)
	}
	return m
})

// copy returns a copy that learns on its own.
func (m *pastText) copy() *pastText {
	out := *m
	out.mix, out.past = &coder.Panel{}, slices.Clone(m.past)
	m.mix.CopyTo(out.mix)
	for i := range out.places {
		out.places[i].index = slices.Clone(out.places[i].index)
	}
	return &out
}

// add moves on by a byte.
func (m *pastText) add(b byte) {
	m.past = append(m.past, b)
	if m.begun = coder.Hash(m.begun, uint32(b)); b == 0 {
		m.begun = 0
	}
	for i := range m.places {
		m.places[i].pass(m.past)
	}
}

// pass moves on to the end of the past, whose last byte is new.
func (p *place) pass(past []byte) {
	n := len(past)
	if n < p.reach {
		return
	}
	hash := uint32(0)
	for _, b := range past[n-p.reach:] {
		hash = (hash ^ uint32(b)) * 0x01000193
	}
	seen := &p.index[hash*0x9E3779B1>>(32-textBits)]
	if p.at > 0 && past[p.at] == past[n-1] {
		p.at, p.same = p.at+1, min(p.same+1, mostSame)
	} else {
		p.at, p.same = int(*seen), 0
		for p.same < min(mostSame, p.at) && past[p.at-1-p.same] == past[n-1-p.same] {
			p.same++
		}
		if p.same < p.reach {
			p.at, p.same = 0, 0
		}
	}
	*seen = int32(n)
}

func (m *pastText) byte(c *coder.Coder, b byte) byte {
	last := uint32(0)
	for _, b := range m.past[len(m.past)-4:] {
		last = last<<8 | uint32(b)
	}
	base := [coder.Experts]uint32{coder.Hash(last&0xFF, 1), coder.Hash(last&0xFFFF, 2), coder.Hash(last&0xFFFFFF, 3), coder.Hash(last, 4),
		coder.Hash(m.begun, 5)}
	for i, p := range m.places {
		expected := uint32(0)
		if p.at > 0 {
			expected = uint32(m.past[p.at])<<8 | uint32(p.same)
		}
		base[coder.Experts-reaches+i] = coder.Hash(expected, uint32(6+i))
	}
	b = m.mix.Byte(c, &base, uint32(m.places[0].same), b)
	m.add(b)
	return b
}
