package tkf

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"
	"math"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/sequence"
	"tracekit/spill"
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
	tables    *coder.Tables
	quantiser quantiser
	leader    trace.LocationID // from whose beginning the others learn of times; None: none
	begun     *locationEncoder // the leader's, behind what was learned from
	models    timeModels       // of the others
	values    valueModels      // of the others
	store     *spill.Store     // of blocks
	forest    *formulae.Forest // nil: no call trees are made beside
	form      sequence.Form    // of these
}

// A coded is a location's events as blocks, and the symbols that occur.
type coded struct {
	table     *symbols.Table
	digest    [sha256.Size]byte // equal for locations with the same sequence
	steps     [sha256.Size]byte // equal for locations with the same times
	structure blocks
	events    blocks
	sizes     eventSizes
	clock     roundedClock
	count     uint64
	tree      *formulae.Tree // if it was asked for
	unseen    uint64         // events that it has no place for
}

// eventSizes are the bytes of the parts of the event blocks.
type eventSizes struct{ times, values int64 }

// A locationEncoder codes the events of one location in one pass:
//
//	row ─ rows ─> symbol ─ symbols.Table ─> number ─ structureEncoder ─> structure blocks
//	          ├─> time ─ roundedClock ─> step ─ timeModel ──────────┐
//	          └─> values ─ valueModel ──────────────────────────────┴─> event blocks
//
// Its memory is bounded: by the table of symbols (see maxVariety), the models, the past that
// a sequence remembers and one block.
type locationEncoder struct {
	stage     *lossless
	out       coded
	rows      symbols.Rows
	structure *structureEncoder
	times     *timeModel // its event hashes are those of the symbols
	timeCoder coder.Coder
	values    valueCoder
	valCoder  coder.Coder
	context   valueContext
	digest    sequenceDigest
	steps     stepDigest
	inBlock   int    // events in the block that is being made
	common    uint64 // greatest common divisor of the steps behind the first one, while it is asked for
}

// newEncoder returns an encoder for a location.
func (s *lossless) newEncoder(times *timeModel) *locationEncoder {
	e := &locationEncoder{stage: s, times: times, digest: newSequenceDigest(), steps: stepDigest{hash: sha256.New()}}
	e.out.table = symbols.NewTable()
	e.out.clock.quantiser = s.quantiser
	e.out.structure.bytes, e.out.events.bytes = spill.NewTable[byte](s.store), spill.NewTable[byte](s.store)
	e.rows.Table, e.context.table = e.out.table, e.out.table
	e.structure = newStructureEncoder(s.tables, e.structureBlock)
	e.timeCoder.StartEncoding()
	e.valCoder.StartEncoding()
	return e
}

// code codes one location.
func (s *lossless) code(l trace.LocationID, batches engine.Batches) (*coded, error) {
	e, tree := s.begun, (*formulae.CallTree)(nil)
	if l != s.leader {
		e = s.newEncoder(s.models.get())
		defer func() {
			s.models.put(e.times)
			s.values.put(e.values)
		}()
	}
	if s.forest != nil {
		tree = formulae.NewCallTree(s.form)
	}
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		e.batch(b, math.MaxUint64)
		if tree != nil {
			tree.Add(b)
		}
	}
	if tree != nil {
		tree.Finish()
		e.out.tree, e.out.unseen = s.forest.Location(tree, l).Tree, tree.Dropped()
	}
	return e.end(), nil
}

// prepare learns from the beginning of a location how times are best coded: whether the clock is
// granular, in multiples or otherwise, and, if others are to start from it, the model. The lower bits are worth their time
// if they save a hundredth.
func (s *lossless) prepare(deep bool, events func() iter.Seq2[*trace.Batch, error]) error {
	s.models.tables, s.models.form = s.tables, timeForm{fine: true}
	s.values.tables, s.values.version = s.tables, versionLast
	for {
		probe := s.newEncoder(s.models.get())
		probe.times.steps.Weigh = true
		if err := probe.first(events(), weighedEvents); err != nil {
			return err
		}
		if g := probe.common; g > 1 && s.models.form.grain == 0 {
			s.models.form.grain = g
			continue
		}
		s.models.form.fine = probe.times.steps.Saved > float64(probe.out.count)/16
		break
	}
	s.models.form.deep = deep
	if s.leader == trace.None {
		return nil
	}
	s.begun = s.newEncoder(newTimeModel(s.tables, s.models.form))
	if err := s.begun.first(events(), learnedEvents); err != nil {
		return err
	}
	s.models.learn(s.begun.times)
	s.values.learn(s.begun.values)
	return nil
}

// first codes the first n events of a location.
func (e *locationEncoder) first(batches iter.Seq2[*trace.Batch, error], n uint64) error {
	for b, err := range batches {
		if err != nil {
			return err
		}
		if e.batch(b, n); e.out.count == n {
			break
		}
	}
	return nil
}

// batch codes the events of a batch that are not coded yet, up to a sequence number.
func (e *locationEncoder) batch(b *trace.Batch, end uint64) {
	e.rows.Begin(b, e.out.count)
	for seq, at := range b.Events {
		if seq == end {
			break
		}
		if seq >= e.out.count {
			guess, guessed := e.structure.predictor.predicted()
			e.event(e.rows.Read(b, seq, at, guess, guessed))
		}
	}
}

// event codes an event: the number of its symbol, then its time, which depends on the sequence, then the
// values that no symbol holds.
func (e *locationEncoder) event(id uint32, t int64) {
	e.structure.add(id)
	code := e.out.clock.encode(t)
	e.steps.add(code)
	if e.out.count > 0 && e.times.deep == nil && e.times.steps.Weigh {
		e.common = divisor(e.common, code)
	}
	p := e.structure.predictor
	e.times.code(&e.timeCoder, code, e.out.table.Hash(id), p.step())
	p.setStep(code)
	e.context.pass(code, e.out.table.Hash(id))
	if len(e.rows.Values) > 0 {
		if e.values == nil {
			e.values = e.stage.values.get()
		}
		e.times.due.begin(e.stage.tables, id, e.rows.Values[0])
		e.context.symbol = id
		e.values.code(&e.valCoder, &e.context, e.rows.Values)
	}
	e.out.count++
	if e.inBlock++; e.inBlock == blockEvents {
		e.eventBlock()
	}
}

// structureBlock stores a block of the sequence; all blocks make the digest, by which equal
// sequences are found.
func (e *locationEncoder) structureBlock(tokens uint64, block []byte) {
	out := append(binary.AppendUvarint(nil, tokens), block...)
	e.digest.add(out)
	e.out.structure.add(out)
}

// A sequenceDigest is a hash of the blocks of a sequence.
type sequenceDigest struct{ hash hash.Hash }

func newSequenceDigest() sequenceDigest { return sequenceDigest{sha256.New()} }

func (d sequenceDigest) add(block []byte) {
	d.hash.Write(binary.AppendUvarint(nil, uint64(len(block))))
	d.hash.Write(block)
}

func (d sequenceDigest) sum() [sha256.Size]byte { return [sha256.Size]byte(d.hash.Sum(nil)) }

// eventBlock ends a block: the size of the times, the times, the values.
func (e *locationEncoder) eventBlock() {
	e.inBlock = 0
	times, values := e.timeCoder.Finish(), e.valCoder.Finish()
	out := append(binary.AppendUvarint(nil, uint64(len(times))), times...)
	out = append(out, values...)
	e.out.sizes.times += int64(len(out) - len(values))
	e.out.sizes.values += int64(len(values))
	e.timeCoder.StartEncoding()
	e.valCoder.StartEncoding()
	e.out.events.add(out)
}

// divide divides a block of events.
func divide(block []byte) (times, values []byte, ok bool) {
	size, n := binary.Uvarint(block)
	if n <= 0 || size > uint64(len(block)-n) {
		return nil, nil, false
	}
	return block[n : n+int(size)], block[n+int(size):], true
}

func (e *locationEncoder) end() *coded {
	if e.inBlock > 0 {
		e.eventBlock()
	}
	e.structure.end()
	e.out.table.Freeze()
	e.out.digest, e.out.steps = e.digest.sum(), e.steps.sum()
	out := e.out // alone: the models of the encoder are large
	return &out
}
