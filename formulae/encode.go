package formulae

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"

	"tracekit/engine"
	"tracekit/trace"
)

// blockEvents is the number of events in a block of times and values.
const blockEvents = 1 << 16

// learnedEvents is the number of events of the leader from which other locations learn. A
// reader of another location decodes so many events more, so it is as small as it can be
// without files getting larger.
const learnedEvents = 1 << 13

// weighedEvents is the number of events that tell whether the clock is granular.
const weighedEvents = 1 << 11

// A lossless is the stage that codes locations without loss (of times as far as the
// quantiser says).
type lossless struct {
	tables    *tables
	quantiser quantiser
	leader    trace.LocationID // from whose beginning the others learn of times; None: none
	begun     *locationEncoder // the leader's, behind what was learned from
	models    timeModels       // of the others
	store     *store
	terms     int // to make call trees beside; 0: none are made
}

// A coded is a location's events as blocks, and the symbols that occur.
type coded struct {
	table     *symbolTable
	course    [sha256.Size]byte // equal for locations with the same course
	structure []blockRef
	events    []blockRef
	sizes     eventSizes
	clock     roundedClock
	count     uint64
	tree      *callTree // if it was asked for
}

// eventSizes are the bytes of the parts of the event blocks.
type eventSizes struct{ times, values int64 }

// A locationEncoder codes the events of one location in one pass:
//
//	row ─ rows ─> symbol ─ symbolTable ─> number ─ structureEncoder ─> structure blocks
//	          ├─> time ─ roundedClock ─> step ─ timeModel ──────────┐
//	          └─> values ─ valueModel ──────────────────────────────┴─> event blocks
//
// Its memory is bounded: by the table of symbols (see maxVariety), the models, the past that
// a course remembers and one block.
type locationEncoder struct {
	stage     *lossless
	out       coded
	rows      rows
	structure *structureEncoder
	times     *timeModel // its event hashes are those of the symbols
	timeCoder coder
	values    *valueModel
	valCoder  coder
	digest    hash.Hash
	inBlock   int // events in the block that is being made
}

// newEncoder returns an encoder for a location.
func (s *lossless) newEncoder(times *timeModel) *locationEncoder {
	e := &locationEncoder{stage: s, times: times, digest: sha256.New()}
	e.out.table = newSymbolTable()
	e.out.clock.quantiser = s.quantiser
	e.rows.table = e.out.table
	e.structure = newStructureEncoder(s.tables, e.structureBlock)
	e.timeCoder.startEncoding()
	e.valCoder.startEncoding()
	return e
}

// Map codes one location.
func (s *lossless) Map(_ context.Context, _ *trace.Defs, l trace.LocationID, batches engine.Batches) (*coded, error) {
	e, tree := s.begun, (*callTree)(nil)
	if l != s.leader {
		e = s.newEncoder(s.models.get())
		defer s.models.put(e.times)
	}
	if s.terms > 0 {
		tree = newCallTree(s.terms)
		e.out.tree = tree
	}
	done := int(e.out.count)
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		if done < len(b.Order) {
			if err := e.batch(b, done, len(b.Order)); err != nil {
				return nil, err
			}
		}
		done = max(done-len(b.Order), 0)
		if tree != nil {
			tree.batch(b)
		}
	}
	return e.end()
}

// learn learns from the beginning of a location how times are best coded: whether the clock is
// granular, and, if others are to start from it, the model. The lower bits are worth their time
// if they save a hundredth.
func (s *lossless) learn(events func() iter.Seq2[*trace.Batch, error]) error {
	probe := s.newEncoder(newTimeModel(s.tables, true))
	probe.times.steps.weigh = true
	if err := probe.first(events(), weighedEvents); err != nil {
		return err
	}
	s.models.tables, s.models.fine = s.tables, probe.times.steps.saved > float64(probe.out.count)/16
	if s.leader == trace.None {
		return nil
	}
	s.begun = s.newEncoder(newTimeModel(s.tables, s.models.fine))
	if err := s.begun.first(events(), learnedEvents); err != nil {
		return err
	}
	s.models.learn(s.begun.times)
	return nil
}

// first codes the first n events of a location.
func (e *locationEncoder) first(batches iter.Seq2[*trace.Batch, error], n int) error {
	for b, err := range batches {
		if err != nil {
			return err
		}
		to := min(len(b.Order), n)
		if err := e.batch(b, 0, to); err != nil {
			return err
		}
		if n -= to; n == 0 {
			break
		}
	}
	return nil
}

// batch codes the events of a batch from one place to another.
func (e *locationEncoder) batch(b *trace.Batch, from, to int) error {
	e.rows.begin(b, from)
	for i := from; i < to; i++ {
		s, t := e.rows.read(b, i)
		if err := e.event(s, t); err != nil {
			return err
		}
	}
	return nil
}

// event codes an event: its symbol, then its time, which depends on the course, then the
// values that no symbol holds.
func (e *locationEncoder) event(s symbol, t int64) error {
	id := e.number(s)
	if err := e.structure.add(id); err != nil {
		return err
	}
	code := e.out.clock.encode(t)
	c := e.structure.course
	e.times.code(&e.timeCoder, code, e.out.table.hashes[id], c.step())
	c.setStep(code)
	if len(e.rows.values) > 0 {
		if e.values == nil {
			e.values = newValueModel(e.stage.tables)
		}
		e.values.code(&e.valCoder, id, e.rows.values)
	}
	e.out.count++
	if e.inBlock++; e.inBlock == blockEvents {
		return e.eventBlock()
	}
	return nil
}

// number returns the number of a symbol, which may become open for it (docs/TKF.md, Symbols).
// The foretold one is tried first: comparing is cheaper than looking up.
func (e *locationEncoder) number(s symbol) uint32 {
	t := e.out.table
	if f, ok := e.structure.course.foretold(); ok && t.symbols[f] == s {
		return f
	}
	if id, ok := t.number(&s); ok {
		return id
	}
	if !s.open && !t.admits(&s) {
		s = e.rows.open(s)
		if id, ok := t.number(&s); ok {
			return id
		}
	}
	return t.add(s)
}

// structureBlock stores a block of the course; all blocks make the digest, by which equal
// courses are found.
func (e *locationEncoder) structureBlock(tokens uint64, block []byte) error {
	out := append(binary.AppendUvarint(nil, tokens), block...)
	e.digest.Write(binary.AppendUvarint(nil, uint64(len(out))))
	e.digest.Write(out)
	r, err := e.stage.store.put(out)
	e.out.structure = append(e.out.structure, r)
	return err
}

// eventBlock ends a block: the size of the times, the times, the values.
func (e *locationEncoder) eventBlock() error {
	e.inBlock = 0
	times, values := e.timeCoder.finish(), e.valCoder.finish()
	out := append(binary.AppendUvarint(nil, uint64(len(times))), times...)
	out = append(out, values...)
	e.out.sizes.times += int64(len(out) - len(values))
	e.out.sizes.values += int64(len(values))
	e.timeCoder.startEncoding()
	e.valCoder.startEncoding()
	r, err := e.stage.store.put(out)
	e.out.events = append(e.out.events, r)
	return err
}

func (e *locationEncoder) end() (*coded, error) {
	if e.inBlock > 0 {
		if err := e.eventBlock(); err != nil {
			return nil, err
		}
	}
	if err := e.structure.end(); err != nil {
		return nil, err
	}
	if e.out.tree != nil {
		e.out.tree.finish()
	}
	e.out.course = [sha256.Size]byte(e.digest.Sum(nil))
	return &e.out, nil
}
