package pack

import "tracekit/formulae/internal/coder"

// A textModel codes strings (names, properties, messages of findings) byte by byte in the
// contexts of the last one, two and three bytes.
type textModel struct {
	mix  *coder.Mixer
	last uint32 // the last four bytes
}

// textSlots is the logarithm of the largest number of chances for each context.
const textSlots = 16

func newTextModel(t *coder.Tables) *textModel {
	return &textModel{mix: coder.NewMixer(t, textSlots, 256)}
}

// byte codes a byte, highest bit first.
func (m *textModel) byte(c *coder.Coder, b byte) byte {
	l := m.last
	m.mix.Use()
	base := [coder.Contexts]uint32{coder.Hash(l&0xFF, 1), coder.Hash(l&0xFFFF, 2), coder.Hash(l&0xFFFFFF, 3)}
	node := uint32(1)
	at := m.mix.Seek(&base, node)
	for i := 7; i >= 0; i-- {
		if i == 3 { // a line holds the decisions about half a byte
			at = m.mix.Seek(&base, node)
		}
		place := node
		if i < 4 {
			place = 1<<(3-i) | node&(1<<(3-i)-1)
		}
		node = node<<1 | m.mix.Bit(c, &at, place, node, uint32(b)>>i&1)
	}
	m.last = l<<8 | node&0xFF
	return byte(node)
}

// string codes a string: its length in the current column, then its bytes.
func (p *packer) string(s string) string {
	if p.text == nil {
		p.text = newTextModel(p.tables)
	}
	b := []byte(s)
	n := p.bounded(len(b))
	if p.decoding {
		b = make([]byte, n)
	}
	for i := range b {
		b[i] = p.text.byte(&p.coder, b[i])
	}
	p.text.byte(&p.coder, 0) // so that the next string begins in a context of its own
	return string(b)
}
