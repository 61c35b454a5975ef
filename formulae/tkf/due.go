package tkf

import "tracekit/formulae/internal/coder"

// Some values say how long something lasts that begins: the time of a later event is that of theirs and the
// value. Dues learns after which symbols this comes true.
type dues struct {
	now     uint64 // sum of the steps
	at      uint64 // when the next event is due, if after now
	of      uint32 // after which symbol
	symbols map[uint32]*due
	recent  [dueSlots]uint32 // by hash of a time: the symbol whose value says so, plus 1
	mix     *coder.Mixer
	history uint32 // whether the last ones came true
}

// A due is what is known of a symbol.
type due struct {
	at    uint64 // what its last value says
	met   bool   // an event came then
	score int    // how often an event came lately
}

const (
	dueSlots = 64
	dueTrust = 4 // score from which on a symbol is believed
	dueMost  = 16
)

// begin notes the first value after a symbol, at an event that the last step led to.
func (d *dues) begin(t *coder.Tables, symbol uint32, value uint64) {
	if d.symbols == nil {
		d.symbols, d.mix = make(map[uint32]*due), coder.NewMixer(t, 10, 1)
	}
	s := d.symbols[symbol]
	if s == nil {
		s = &due{met: true}
		d.symbols[symbol] = s
	}
	if s.met {
		s.score = min(s.score+1, dueMost)
	} else {
		s.score = max(s.score-1, 0)
	}
	s.at, s.met = d.now+value, false
	if value == 0 {
		return
	}
	d.recent[dueSlot(s.at)] = symbol + 1
	if s.score >= dueTrust && (d.at <= d.now || s.at < d.at) {
		d.at, d.of = s.at, symbol
	}
}

func dueSlot(at uint64) uint32 { return fold(at) % dueSlots }

// code codes whether the next event comes when it is due.
func (d *dues) code(c *coder.Coder, step uint64, event uint32) (due uint64, met bool) {
	due = d.at - d.now
	if d.at <= d.now {
		return 0, false
	}
	d.mix.Use()
	at := d.mix.Seek(&[coder.Contexts]uint32{coder.Hash(event, d.of), coder.Hash(event, d.history&15), coder.Hash(d.history, d.of)}, 0)
	b := d.mix.Bit(c, &at, 0, 0, coder.Bit(step == due))
	d.history = d.history<<1 | b
	return due, b != 0
}

// pass moves on by a step.
func (d *dues) pass(step uint64) {
	if d.now += step; d.symbols == nil || step == 0 {
		return
	}
	if i := d.recent[dueSlot(d.now)]; i > 0 {
		if s := d.symbols[i-1]; s.at == d.now {
			s.met = true
		}
	}
}
