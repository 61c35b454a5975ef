package formulae

import (
	"context"
	"encoding/binary"
	"iter"

	"tracekit/trace"
)

// batchEvents is the number of events in a batch that is delivered.
const batchEvents = 4096

// A locationDecoder decodes the events of one location.
type locationDecoder struct {
	src       *source
	table     *symbolTable
	rows      rows
	structure *structureDecoder
	times     *timeModel
	timeCoder coder
	values    *valueModel
	valCoder  coder
	clock     roundedClock
	batch     trace.Batch
	count     uint64 // events so far
	inBlock   int    // events left in the block

	blocks   []section // of events, that are left
	courses  []section // of structure, that are left
	current  section   // of events, being decoded
	location trace.LocationID
}

// Events implements trace.Source.
func (s *source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(l) >= len(s.events) {
			return
		}
		prior, err := s.learn()
		if err != nil {
			yield(nil, err)
			return
		}
		if uint64(l) == s.head.Leader {
			prior = nil
		}
		d, err := s.decoder(l, prior)
		for more := true; more; {
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				more, err = d.fill(batchEvents)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if d.batch.Len() > 0 && !yield(&d.batch, nil) {
				return
			}
		}
	}
}

// learn returns the time model from which locations start: that of the leader after its
// first block. It is decoded once.
func (s *source) learn() (*timeModel, error) {
	if s.head.Leader == trace.None {
		return nil, nil
	}
	s.once.Do(func() {
		d, err := s.decoder(trace.LocationID(s.head.Leader), nil)
		for more := true; err == nil && more && d.count < blockEvents; {
			more, err = d.fill(int(min(batchEvents, blockEvents-d.count)))
		}
		if s.priorErr = err; err == nil {
			s.prior = d.times
		}
	})
	return s.prior, s.priorErr
}

// decoder returns a decoder at a location's beginning.
func (s *source) decoder(l trace.LocationID, prior *timeModel) (*locationDecoder, error) {
	c := &s.classes[s.class[l]]
	table, ok := s.dict.table(s.frame, c, int(s.position[l]))
	if !ok {
		return nil, syntaxError(s.name, 0, sectionClasses.String(), errDamaged)
	}
	d := &locationDecoder{src: s, table: table, times: newTimeModel(s.tables, prior, s.head.Fine),
		blocks: s.events[l], courses: s.structure[s.class[l]], location: l}
	d.clock.quantiser = quantiser{unit: s.head.Unit, keep: uint(s.head.Keep)}
	d.rows.table = table
	d.structure = newStructureDecoder(s.tables, d.nextCourse)
	return d, nil
}

// nextCourse loads the next block of structure.
func (d *locationDecoder) nextCourse() (tokens uint64, block []byte, err error) {
	if len(d.courses) == 0 {
		return 0, nil, syntaxError(d.src.name, d.current.offset, sectionStructure.String(), errTruncated)
	}
	at := d.courses[0]
	d.courses = d.courses[1:]
	if block, err = at.load(d.src.file, d.src.name); err != nil {
		return 0, nil, err
	}
	tokens, n := binary.Uvarint(block)
	if n <= 0 {
		return 0, nil, d.src.damaged(at, errDamaged)
	}
	return tokens, block[n:], nil
}

// nextBlock loads the next block of times and values.
func (d *locationDecoder) nextBlock() error {
	if len(d.blocks) == 0 {
		return syntaxError(d.src.name, d.current.offset, sectionEvents.String(), errTruncated)
	}
	d.current, d.blocks = d.blocks[0], d.blocks[1:]
	block, err := d.current.load(d.src.file, d.src.name)
	if err != nil {
		return err
	}
	size, n := binary.Uvarint(block)
	if n <= 0 || size > uint64(len(block)-n) {
		return errDamaged
	}
	d.timeCoder.startDecoding(block[n : n+int(size)])
	d.valCoder.startDecoding(block[n+int(size):])
	d.inBlock = blockEvents
	return nil
}

// fill decodes up to n events into the batch; more is false at the end of the location.
func (d *locationDecoder) fill(n int) (more bool, err error) {
	d.batch.Reset(d.location, d.count)
	for range n {
		if more, err = d.event(); err != nil {
			return false, d.src.damaged(d.current, err)
		}
		if !more {
			if len(d.blocks) > 0 {
				err = d.src.damaged(d.blocks[0], errDamaged)
			}
			return false, err
		}
	}
	return true, nil
}

// event decodes one event.
func (d *locationDecoder) event() (more bool, err error) {
	id, more, err := d.structure.next()
	if err != nil || !more {
		return false, err
	}
	if int(id) >= len(d.table.symbols) {
		return false, errDamaged
	}
	if d.inBlock == 0 {
		if err := d.nextBlock(); err != nil {
			return false, err
		}
	}
	d.inBlock--
	s, c := &d.table.symbols[id], d.structure.course
	code := d.times.code(&d.timeCoder, 0, d.table.hashes[id], c.step())
	c.setStep(code)
	if err := d.readValues(id, s); err != nil {
		return false, err
	}
	if d.timeCoder.overrun() || !d.rows.write(&d.batch, s, d.clock.decode(code)) {
		return false, errDamaged
	}
	d.count++
	return true, nil
}

// readValues decodes the values that follow a symbol. Their number is not believed.
func (d *locationDecoder) readValues(id uint32, s *symbol) error {
	n := d.rows.count(s)
	if n == 0 {
		d.rows.values = d.rows.values[:0]
		return nil
	}
	if n > len(d.valCoder.buf)*perByte+perByte {
		return errDamaged
	}
	if cap(d.rows.values) < n {
		d.rows.values = make([]uint64, n)
	}
	d.rows.values = d.rows.values[:n]
	if d.values == nil {
		d.values = newValueModel(d.src.tables)
	}
	d.values.code(&d.valCoder, id, d.rows.values)
	if d.valCoder.overrun() {
		return errDamaged
	}
	return nil
}
