package tkf

import (
	"encoding/binary"

	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/partners"
	"tracekit/spill"
	"tracekit/trace"
)

// A sequenceEncoder codes the events of one location without times and metrics: what stat mode keeps exactly.
type sequenceEncoder struct {
	tables    *coder.Tables
	rows      symbols.Rows
	structure *structureEncoder
	digest    sequenceDigest
	values    valueCoder // nil: no event has any so far
	valCoder  coder.Coder
	context   valueContext
	inBlock   int
	unfit     bool // an event has more values than can be left out
	out       exact
}

// An exact is the sequence of a location as blocks.
type exact struct {
	coded
	events uint64
}

func newSequenceEncoder(t *coder.Tables, store *spill.Store) *sequenceEncoder {
	e := &sequenceEncoder{tables: t, digest: newSequenceDigest()}
	e.out.table = symbols.NewTable()
	e.out.structure.bytes, e.out.coded.events.bytes = spill.NewTable[byte](store), spill.NewTable[byte](store)
	e.rows = symbols.Rows{Table: e.out.table, Unmetered: true}
	e.context.table = e.out.table
	e.structure = newStructureEncoder(t, func(tokens uint64, block []byte) {
		out := append(binary.AppendUvarint(nil, tokens), block...)
		e.digest.add(out)
		e.out.structure.add(out)
	})
	e.valCoder.StartEncoding()
	return e
}

// add codes the events of a batch.
func (e *sequenceEncoder) add(b *trace.Batch) {
	e.rows.Begin(b, b.First)
	for seq, at := range b.Events {
		guess, guessed := e.structure.predictor.predicted()
		id, _ := e.rows.Read(b, seq, at, guess, guessed)
		e.unfit = e.unfit || at.End-at.First > symbols.MostMembers
		e.structure.add(id)
		e.context.pass(0, e.out.table.Hash(id))
		e.out.events++
		if len(e.rows.Values) == 0 {
			continue
		}
		if e.values == nil {
			e.values = newValueCoder(e.tables, versionLast)
		}
		e.context.symbol = id
		e.values.code(&e.valCoder, &e.context, e.rows.Values)
		if e.inBlock++; e.inBlock == blockEvents {
			e.valueBlock()
		}
	}
}

// valueBlock ends a block of the values of so many events that have some.
func (e *sequenceEncoder) valueBlock() {
	e.inBlock = 0
	e.out.coded.events.add(e.valCoder.Finish())
	e.valCoder.StartEncoding()
}

// end returns the sequence, nil if it cannot be kept.
func (e *sequenceEncoder) end() *exact {
	if e.unfit {
		return nil
	}
	if e.inBlock > 0 {
		e.valueBlock()
	}
	e.structure.end()
	e.out.table.Freeze()
	e.out.digest = e.digest.sum()
	out := e.out
	return &out
}

// A sequenceDecoder decodes what a sequenceEncoder coded. It believes nothing: neither that the sequence ends where it should, nor that its
// symbols and values are there.
type sequenceDecoder struct {
	tables    *coder.Tables
	version   byte
	rows      symbols.Rows
	structure *structureDecoder
	values    valueCoder
	valCoder  coder.Coder
	context   valueContext
	nextBlock func() ([]byte, error) // of values
	inBlock   int
	batch     trace.Batch
	location  trace.LocationID
	count     uint64 // events so far
	events    uint64 // that there must be
	ended     bool
}

// next implements formulae.Sequence.
func (d *sequenceDecoder) next() (*trace.Batch, error) {
	d.batch.Reset(d.location, d.count)
	for !d.ended && d.batch.Len() < batchEvents {
		id, more, err := d.structure.next()
		switch {
		case err != nil:
			return nil, err
		case !more && d.count < d.events, more && d.count == d.events, more && int(id) >= d.rows.Table.Len():
			return nil, pack.ErrDamaged
		case !more:
			d.ended = true
			continue
		}
		if err := d.read(id); err != nil {
			return nil, err
		}
		if !d.rows.Write(&d.batch, id, 0) {
			return nil, pack.ErrDamaged
		}
		d.count++
	}
	if d.batch.Len() == 0 {
		return nil, nil
	}
	return &d.batch, nil
}

// read decodes the values that follow a symbol.
func (d *sequenceDecoder) read(id uint32) error {
	n := d.rows.Count(id)
	d.context.pass(0, d.rows.Table.Hash(id))
	if d.rows.Values = d.rows.Values[:0]; n == 0 {
		return nil
	}
	if d.inBlock == 0 {
		block, err := d.nextBlock()
		if err != nil {
			return err
		}
		d.valCoder.StartDecoding(block)
		d.inBlock = blockEvents
	}
	d.inBlock--
	if n > d.valCoder.Len()*pack.PerByte+pack.PerByte {
		return pack.ErrDamaged
	}
	d.rows.Values = append(d.rows.Values, make([]uint64, n)...)
	if d.values == nil {
		d.values = newValueCoder(d.tables, d.version)
	}
	d.context.symbol, d.context.rolling = id, d.structure.predictor.rolling
	d.values.code(&d.valCoder, &d.context, d.rows.Values)
	if d.valCoder.Overrun() {
		return pack.ErrDamaged
	}
	return nil
}

// Sequences are those that a file keeps exactly: what the symbols of its locations mean.
type sequences struct {
	tables  *coder.Tables
	version byte
	ranks   *partners.Ranks
	directory
}

// of returns what opens the events of a location: blocks are those of structure and of values, from the first on.
func (d *sequences) of(l trace.LocationID, events uint64, structure, values func() func() ([]byte, error)) formulae.Sequence {
	return func() func() (*trace.Batch, error) {
		t, version := d.tables, d.version
		table, ok := d.dict.Table(d.ranks, &d.classes[d.class[l]], int(d.position[l]))
		if !ok {
			return func() (*trace.Batch, error) { return nil, pack.ErrDamaged }
		}
		d := &sequenceDecoder{tables: t, version: version, rows: symbols.Rows{Table: table, Unmetered: true}, nextBlock: values(), location: l,
			events: events}
		d.context.table = table
		next := structure()
		d.structure = newStructureDecoder(t, func() (uint64, []byte, error) {
			block, err := next()
			if err != nil {
				return 0, nil, err
			}
			tokens, n := binary.Uvarint(block)
			if n <= 0 {
				return 0, nil, pack.ErrDamaged
			}
			return tokens, block[n:], nil
		})
		return d.next
	}
}

// reader returns what delivers blocks that are in a store, one after the other.
func (b *blocks) reader() func() ([]byte, error) {
	next, at := 0, 0
	return func() ([]byte, error) {
		if next == len(b.sizes) {
			return nil, pack.ErrDamaged
		}
		block := make([]byte, b.sizes[next])
		at += b.bytes.Copy(block, at)
		next++
		return block, nil
	}
}

// size returns the bytes of blocks as sections, at most.
func (b *blocks) size() (total int64) {
	for _, n := range b.sizes {
		total += int64(n) + sectionBytes
	}
	return total
}
