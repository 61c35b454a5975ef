package tkf

import (
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
)

// A structureModel codes a sequence of symbols (docs/internals/TKF.md, Sequences): how many predicted
// symbols came true, then the one that did not come as predicted, and so on. A run of
// predicted symbols is a reference to the past, so many symbols back; one that is no shorter
// than this distance is a loop, and what lies inside a loop body may again be a reference,
// that is, a nested loop.
type structureModel struct {
	runs   *coder.Numbers
	names  *coder.Numbers
	loops  *coder.Mixer // whether a run is a loop, and how often it is repeated
	before [2]uint32    // the last symbols that were written out
	run    uint32       // length of the last run
}

const structureSlots = 12

func newStructureModel(t *coder.Tables) *structureModel {
	return &structureModel{runs: coder.NewNumbers(t, structureSlots, false), names: coder.NewNumbers(t, structureSlots, false),
		loops: coder.NewMixer(t, structureSlots, 1+countBits/4*16)}
}

// codeRun codes a number of symbols predicted from so many symbols back; predicted is the first
// of them. A loop is told as what its last iteration lacks, and the number of iterations.
func (m *structureModel) codeRun(c *coder.Coder, run uint64, predicted uint32, back uint64) uint64 {
	base := [coder.Contexts]uint32{coder.Hash(uint32(min(back, 64)), 4), coder.Hash(m.before[0], 5), coder.Hash(predicted, 6)}
	m.loops.Use()
	at := m.loops.Seek(&base, 0)
	if m.loops.Bit(c, &at, 0, 0, coder.Bit(run >= back)) == 0 {
		run = m.runs.Code(c, run, [coder.Contexts]uint32{
			coder.Hash(m.before[0], 2), coder.Hash(predicted, 3), coder.Hash(m.run, coder.Hash(m.before[0], m.before[1])),
		})
	} else {
		lacks := m.runs.Code(c, back-1-run%back, base)
		run = m.codeCount(c, run/back, &base)*back + back - 1 - lacks
	}
	m.run = uint32(min(run, 1<<16))
	return run
}

// countBits is the width at which iterations are counted: fixed, so that the space that a
// loop takes does not grow with the run. All ones say that more follow.
const (
	countBits = 16
	countMost = 1<<countBits - 1
)

// codeCount codes the number of iterations of a loop.
func (m *structureModel) codeCount(c *coder.Coder, n uint64, base *[coder.Contexts]uint32) uint64 {
	short, prefix := uint32(min(n, countMost)), uint32(1)
	for shift := countBits - 4; shift >= 0; shift -= 4 {
		at, k := m.loops.Seek(base, prefix), uint32(1)
		for i := shift + 3; i >= shift; i-- {
			k = k<<1 | m.loops.Bit(c, &at, k, uint32(shift)*4+k, short>>i&1)
		}
		prefix = prefix<<4 | k&15
	}
	if short = prefix & countMost; short < countMost {
		return uint64(short)
	}
	return countMost + m.runs.Code(c, n-countMost, *base)
}

// codeName codes the name of a symbol that was not predicted, in the contexts of what was
// written out last and of wrong, the one that was predicted.
func (m *structureModel) codeName(c *coder.Coder, name uint64, last, wrong uint32) uint64 {
	name = m.names.Code(c, name, [coder.Contexts]uint32{
		1, coder.Hash(last, coder.Hash(wrong, 3)), coder.Hash(last, coder.Hash(m.before[0], 4)),
	})
	m.before = [2]uint32{uint32(name), m.before[0]}
	return name
}

// Names of symbols begin with these; others are the symbol's number plus firstName.
const (
	nameEnd   = 0 // the location has no more events
	nameNew   = 1 // the next number
	firstName = 2
)

// A structureEncoder writes the sequence of a location, block by block as it comes. What is
// written depends on the numbers of the symbols alone, so locations with equal sequences have
// equal blocks. A token is written when its run has ended: memory does not grow with runs.
type structureEncoder struct {
	model     *structureModel
	predictor *predictor
	coder     coder.Coder
	runs      bool   // a run may come before the next name
	first     uint32 // symbol that was predicted when the run began,
	back      uint64 // from so many symbols back
	run       uint64
	last      uint32
	known     uint32 // symbols that occurred
	tokens    uint64 // in this block
	flush     func(tokens uint64, block []byte)
}

// structureBlock is the size at which a block ends.
const structureBlock = 1 << 16

func newStructureEncoder(t *coder.Tables, flush func(uint64, []byte)) *structureEncoder {
	e := &structureEncoder{model: newStructureModel(t), predictor: newPredictor(), flush: flush}
	e.coder.StartEncoding()
	return e
}

// add appends a symbol.
func (e *structureEncoder) add(symbol uint32) {
	predicted, ok := e.predictor.predicted()
	if ok && predicted == symbol {
		e.run++
		e.predictor.follow(symbol, true)
		return
	}
	name := uint64(symbol) + firstName
	if symbol == e.known {
		name = nameNew
		e.known++
	}
	e.token(predicted, name)
	e.predictor.follow(symbol, false)
	e.last = symbol
	e.first, e.runs = e.predictor.predicted()
	e.back = e.predictor.back()
	if e.coder.Len() >= structureBlock {
		e.flushBlock()
	}
}

// end ends the location.
func (e *structureEncoder) end() {
	predicted, _ := e.predictor.predicted()
	e.token(predicted, nameEnd)
	e.flushBlock()
}

// token codes a run and the name that ends it.
func (e *structureEncoder) token(predicted uint32, name uint64) {
	if e.runs {
		e.model.codeRun(&e.coder, e.run, e.first, e.back)
	}
	e.run = 0
	e.model.codeName(&e.coder, name, e.last, predicted)
	e.tokens++
}

func (e *structureEncoder) flushBlock() {
	e.flush(e.tokens, e.coder.Finish())
	e.tokens = 0
	e.coder.StartEncoding()
}

// A structureDecoder reads what a structureEncoder wrote. It believes nothing: symbols are
// below the number of those that occurred, runs end where nothing is predicted.
type structureDecoder struct {
	model     *structureModel
	predictor *predictor
	coder     coder.Coder
	tokens    uint64 // left in this block
	inside    bool   // a token has been begun: its run is known
	run       uint64 // predicted symbols left of it
	last      uint32
	known     uint32
	fetch     func() (tokens uint64, block []byte, err error)
}

func newStructureDecoder(t *coder.Tables, fetch func() (uint64, []byte, error)) *structureDecoder {
	return &structureDecoder{model: newStructureModel(t), predictor: newPredictor(), fetch: fetch}
}

// next returns the next symbol; more is false at the end of the location.
func (d *structureDecoder) next() (symbol uint32, more bool, err error) {
	if !d.inside {
		if err := d.begin(); err != nil {
			return 0, false, err
		}
	}
	predicted, ok := d.predictor.predicted()
	if d.run > 0 {
		if !ok {
			return 0, false, pack.ErrDamaged
		}
		d.run--
		d.predictor.follow(predicted, true)
		return predicted, true, nil
	}
	d.inside = false
	d.tokens--
	switch name := d.model.codeName(&d.coder, 0, d.last, predicted); {
	case name == nameEnd:
		return 0, false, nil
	case name == nameNew:
		symbol = d.known
		d.known++
	case name-firstName < uint64(d.known):
		symbol = uint32(name - firstName)
	default:
		return 0, false, pack.ErrDamaged
	}
	if d.coder.Overrun() {
		return 0, false, pack.ErrDamaged
	}
	d.predictor.follow(symbol, false)
	d.last = symbol
	return symbol, true, nil
}

// begin reads the run of a token, if it can have one, from the next block if need be.
func (d *structureDecoder) begin() error {
	for d.tokens == 0 {
		tokens, block, err := d.fetch()
		if err != nil {
			return err
		}
		d.tokens = tokens
		d.coder.StartDecoding(block)
	}
	d.inside = true
	if predicted, ok := d.predictor.predicted(); ok {
		d.run = d.model.codeRun(&d.coder, 0, predicted, d.predictor.back())
	}
	return nil
}
