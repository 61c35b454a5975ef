package formulae

// A structureModel codes a course of symbols (docs/TKF.md, Courses): how many foretold
// symbols came true, then the one that did not come as foretold, and so on. A run of
// foretold symbols is a reference to the past, so many symbols back; one that is no shorter
// than this distance is a loop, and what lies inside a loop body may again be a reference,
// that is, a nested loop.
type structureModel struct {
	runs   *numbers
	names  *numbers
	loops  *mixer    // whether a run is a loop, and how often it is repeated
	before [2]uint32 // the last symbols that were written out
	run    uint32    // length of the last run
}

const structureSlots = 12

func newStructureModel(t *tables) *structureModel {
	return &structureModel{runs: newNumbers(t, structureSlots, false), names: newNumbers(t, structureSlots, false),
		loops: newMixer(t, structureSlots, 1+countBits/4*16)}
}

// codeRun codes a number of symbols foretold from so many symbols back; foretold is the first
// of them. A loop is told as what its last iteration lacks, and the number of iterations.
func (m *structureModel) codeRun(c *coder, run uint64, foretold uint32, back uint64) uint64 {
	base := [contexts]uint32{hash32(uint32(min(back, 64)), 4), hash32(m.before[0], 5), hash32(foretold, 6)}
	m.loops.use()
	at := m.loops.seek(&base, 0)
	if m.loops.bit(c, &at, 0, 0, bit(run >= back)) == 0 {
		run = m.runs.code(c, run, [contexts]uint32{
			hash32(m.before[0], 2), hash32(foretold, 3), hash32(m.run, hash32(m.before[0], m.before[1])),
		})
	} else {
		lacks := m.runs.code(c, back-1-run%back, base)
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
func (m *structureModel) codeCount(c *coder, n uint64, base *[contexts]uint32) uint64 {
	short, prefix := uint32(min(n, countMost)), uint32(1)
	for shift := countBits - 4; shift >= 0; shift -= 4 {
		at, k := m.loops.seek(base, prefix), uint32(1)
		for i := shift + 3; i >= shift; i-- {
			k = k<<1 | m.loops.bit(c, &at, k, uint32(shift)*4+k, short>>i&1)
		}
		prefix = prefix<<4 | k&15
	}
	if short = prefix & countMost; short < countMost {
		return uint64(short)
	}
	return countMost + m.runs.code(c, n-countMost, *base)
}

// codeName codes the name of a symbol that was not foretold, in the contexts of what was
// written out last and of wrong, the one that was foretold.
func (m *structureModel) codeName(c *coder, name uint64, last, wrong uint32) uint64 {
	name = m.names.code(c, name, [contexts]uint32{
		1, hash32(last, hash32(wrong, 3)), hash32(last, hash32(m.before[0], 4)),
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

// A structureEncoder writes the course of a location, block by block as it comes. What is
// written depends on the numbers of the symbols alone, so locations with equal courses have
// equal blocks. A token is written when its run has ended: memory does not grow with runs.
type structureEncoder struct {
	model  *structureModel
	course *course
	coder  coder
	runs   bool   // a run may come before the next name
	first  uint32 // symbol that was foretold when the run began,
	back   uint64 // from so many symbols back
	run    uint64
	last   uint32
	known  uint32 // symbols that occurred
	tokens uint64 // in this block
	flush  func(tokens uint64, block []byte) error
}

// structureBlock is the size at which a block ends.
const structureBlock = 1 << 16

func newStructureEncoder(t *tables, flush func(uint64, []byte) error) *structureEncoder {
	e := &structureEncoder{model: newStructureModel(t), course: newCourse(), flush: flush}
	e.coder.startEncoding()
	return e
}

// add appends a symbol.
func (e *structureEncoder) add(symbol uint32) error {
	foretold, ok := e.course.foretold()
	if ok && foretold == symbol {
		e.run++
		e.course.follow(symbol, true)
		return nil
	}
	name := uint64(symbol) + firstName
	if symbol == e.known {
		name = nameNew
		e.known++
	}
	e.token(foretold, name)
	e.course.follow(symbol, false)
	e.last = symbol
	e.first, e.runs = e.course.foretold()
	e.back = e.course.back()
	if len(e.coder.buf) < structureBlock {
		return nil
	}
	return e.flushBlock()
}

// end ends the location.
func (e *structureEncoder) end() error {
	foretold, _ := e.course.foretold()
	e.token(foretold, nameEnd)
	return e.flushBlock()
}

// token codes a run and the name that ends it.
func (e *structureEncoder) token(foretold uint32, name uint64) {
	if e.runs {
		e.model.codeRun(&e.coder, e.run, e.first, e.back)
	}
	e.run = 0
	e.model.codeName(&e.coder, name, e.last, foretold)
	e.tokens++
}

func (e *structureEncoder) flushBlock() error {
	err := e.flush(e.tokens, e.coder.finish())
	e.tokens = 0
	e.coder.startEncoding()
	return err
}

// A structureDecoder reads what a structureEncoder wrote. It believes nothing: symbols are
// below the number of those that occurred, runs end where nothing is foretold.
type structureDecoder struct {
	model  *structureModel
	course *course
	coder  coder
	tokens uint64 // left in this block
	inside bool   // a token has been begun: its run is known
	run    uint64 // foretold symbols left of it
	last   uint32
	known  uint32
	fetch  func() (tokens uint64, block []byte, err error)
}

func newStructureDecoder(t *tables, fetch func() (uint64, []byte, error)) *structureDecoder {
	return &structureDecoder{model: newStructureModel(t), course: newCourse(), fetch: fetch}
}

// next returns the next symbol; more is false at the end of the location.
func (d *structureDecoder) next() (symbol uint32, more bool, err error) {
	if !d.inside {
		if err := d.begin(); err != nil {
			return 0, false, err
		}
	}
	foretold, ok := d.course.foretold()
	if d.run > 0 {
		if !ok {
			return 0, false, errDamaged
		}
		d.run--
		d.course.follow(foretold, true)
		return foretold, true, nil
	}
	d.inside = false
	d.tokens--
	switch name := d.model.codeName(&d.coder, 0, d.last, foretold); {
	case name == nameEnd:
		return 0, false, nil
	case name == nameNew:
		symbol = d.known
		d.known++
	case name-firstName < uint64(d.known):
		symbol = uint32(name - firstName)
	default:
		return 0, false, errDamaged
	}
	if d.coder.overrun() {
		return 0, false, errDamaged
	}
	d.course.follow(symbol, false)
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
		d.coder.startDecoding(block)
	}
	d.inside = true
	if foretold, ok := d.course.foretold(); ok {
		d.run = d.model.codeRun(&d.coder, 0, foretold, d.course.back())
	}
	return nil
}
