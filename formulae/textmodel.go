package formulae

// A textModel codes strings (names, properties, messages of findings) byte by byte in the
// contexts of the last one, two and three bytes.
type textModel struct {
	mix  *mixer
	last uint32 // the last four bytes
}

// textSlots is the logarithm of the largest number of chances for each context.
const textSlots = 16

func newTextModel(t *tables) *textModel {
	return &textModel{mix: newMixer(t, textSlots, 256)}
}

// byte codes a byte, highest bit first.
func (m *textModel) byte(c *coder, b byte) byte {
	l := m.last
	m.mix.use()
	base := [contexts]uint32{hash32(l&0xFF, 1), hash32(l&0xFFFF, 2), hash32(l&0xFFFFFF, 3)}
	node := uint32(1)
	var at [contexts]*line
	for i := 7; i >= 0; i-- {
		if i == 7 || i == 3 { // a line holds the decisions about half a byte
			at = m.mix.seek(&base, node)
		}
		place := node
		if i < 4 {
			place = 1<<(3-i) | node&(1<<(3-i)-1)
		}
		node = node<<1 | m.mix.bit(c, &at, place, node, uint32(b)>>i&1)
	}
	m.last = l<<8 | node&0xFF
	return byte(node)
}
