package tkf

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/trace"
)

// batchEvents is the number of events in a batch that is delivered.
const batchEvents = 4096

// A locationDecoder decodes the events of one location: the same steps as a locationEncoder,
// the other way round. Whatever the file says, a batch has at most batchEvents events, and
// the values of an event are no more than its block can hold.
type locationDecoder struct {
	src       *source
	table     *symbols.Table
	rows      symbols.Rows
	structure *structureDecoder
	times     *timeModel
	timeCoder coder.Coder
	timesOf   *locationDecoder // of whose times it has; nil: its own
	values    valueCoder
	valCoder  coder.Coder
	context   valueContext
	clock     roundedClock
	batch     *trace.Batch
	ahead     []*trace.Batch // what was decoded before somebody asked for it
	ended     bool
	count     uint64 // events so far
	inBlock   int    // events left in the block

	blocks   []section // of events, that are left
	sequence []section // of structure, that are left
	current  section   // of events, being decoded
	location trace.LocationID
}

// Events implements trace.Source.
func (s *source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(l) >= len(s.events) {
			return
		}
		d, err := s.begin(l)
		if err != nil {
			yield(nil, err)
			return
		}
		defer d.close()
		for _, b := range d.ahead {
			if !yield(b, nil) {
				return
			}
		}
		for !d.ended {
			if err = ctx.Err(); err == nil {
				err = d.fill(batchEvents)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if d.batch.Len() > 0 && !yield(d.batch, nil) {
				return
			}
		}
	}
}

// close gives models back. The leader's is larger than those of others.
func (d *locationDecoder) close() {
	if uint64(d.location) != d.src.head.Leader {
		d.src.models.put(d.times)
		d.src.values.put(d.values)
	}
	if d.timesOf != nil {
		d.timesOf.close()
	}
}

// begin returns a decoder for a location. Before the first one the leader's beginning is
// decoded, from which the others learn; who reads the leader first goes on from there.
func (s *source) begin(l trace.LocationID) (*locationDecoder, error) {
	s.once.Do(func() { s.learnErr = s.learn() })
	switch {
	case s.learnErr != nil:
		return nil, s.learnErr
	case uint64(l) == s.head.Leader:
		if d := s.leading.Swap(nil); d != nil {
			return d, nil
		}
	}
	d, err := s.decoder(l)
	if of := s.same[l]; err == nil && of != trace.None {
		d.timesOf, err = s.decoder(of)
	}
	return d, err
}

// learn decodes the leader's first learnedEvents events and learns from them.
func (s *source) learn() error {
	s.models.tables, s.models.form = s.tables, timeForm{fine: s.head.Fine, grain: s.head.Grain, deep: s.head.Deep}
	s.values.tables, s.values.version = s.tables, s.version
	if s.head.Leader == trace.None {
		return nil
	}
	d, err := s.decoder(trace.LocationID(s.head.Leader))
	for err == nil && !d.ended && d.count < learnedEvents {
		if err = d.fill(int(min(batchEvents, learnedEvents-d.count))); d.batch.Len() > 0 {
			d.ahead = append(d.ahead, d.batch)
		}
		d.batch = &trace.Batch{}
	}
	if err != nil {
		return err
	}
	s.models.learn(d.times)
	s.values.learn(d.values)
	s.leading.Store(d)
	return nil
}

// decoder returns a decoder at a location's beginning.
func (s *source) decoder(l trace.LocationID) (*locationDecoder, error) {
	c := &s.classes[s.class[l]]
	table, ok := s.dict.Table(s.ranks, c, int(s.position[l]))
	if !ok {
		return nil, syntaxError(s.name, 0, sectionClasses.String(), pack.ErrDamaged)
	}
	d := &locationDecoder{src: s, table: table, batch: &trace.Batch{}, blocks: s.events[l], sequence: s.structure[s.class[l]], location: l}
	if uint64(l) == s.head.Leader {
		d.times = newTimeModel(s.tables, s.models.form)
	} else {
		d.times = s.models.get()
	}
	d.clock.quantiser = quantiser{unit: s.head.Unit, keep: uint(s.head.Keep)}
	d.rows.Table, d.context.table = table, table
	d.structure = newStructureDecoder(s.tables, d.nextStructure)
	return d, nil
}

// nextStructure loads the next block of structure.
func (d *locationDecoder) nextStructure() (tokens uint64, block []byte, err error) {
	if len(d.sequence) == 0 {
		return 0, nil, syntaxError(d.src.name, d.current.offset, sectionStructure.String(), errTruncated)
	}
	at := d.sequence[0]
	d.sequence = d.sequence[1:]
	if block, err = d.src.load(at); err != nil {
		return 0, nil, err
	}
	tokens, n := binary.Uvarint(block)
	if n <= 0 {
		return 0, nil, d.src.damaged(at, pack.ErrDamaged)
	}
	return tokens, block[n:], nil
}

// nextBlock loads the next block of times and values.
func (d *locationDecoder) nextBlock() error {
	if len(d.blocks) == 0 {
		return syntaxError(d.src.name, d.current.offset, sectionEvents.String(), errTruncated)
	}
	d.current, d.blocks = d.blocks[0], d.blocks[1:]
	block, err := d.src.load(d.current)
	if err != nil {
		return err
	}
	times, values, ok := divide(block)
	if !ok {
		return pack.ErrDamaged
	}
	d.timeCoder.StartDecoding(times)
	d.valCoder.StartDecoding(values)
	d.inBlock = blockEvents
	return nil
}

// fill decodes up to n events into the batch, and notes if the location ends.
func (d *locationDecoder) fill(n int) error {
	d.batch.Reset(d.location, d.count)
	for range n {
		more, err := d.event()
		if err != nil {
			return d.src.damaged(d.current, err)
		}
		if !more {
			d.ended = true
			if len(d.blocks) > 0 {
				return d.src.damaged(d.blocks[0], pack.ErrDamaged)
			}
			return nil
		}
	}
	return nil
}

// event decodes one event.
func (d *locationDecoder) event() (more bool, err error) {
	id, code, more, err := d.step()
	if err != nil || !more {
		return false, err
	}
	if err := d.readValues(id, code); err != nil {
		return false, err
	}
	if !d.rows.Write(d.batch, id, d.clock.decode(code)) {
		return false, pack.ErrDamaged
	}
	d.count++
	return true, nil
}

// step decodes which symbol comes next, and the step of time to it.
func (d *locationDecoder) step() (id uint32, code uint64, more bool, err error) {
	if id, more, err = d.structure.next(); err != nil || !more {
		return 0, 0, false, err
	}
	if int(id) >= d.table.Len() {
		return 0, 0, false, pack.ErrDamaged
	}
	if d.inBlock == 0 {
		if err := d.nextBlock(); err != nil {
			return 0, 0, false, err
		}
	}
	d.inBlock--
	p := d.structure.predictor
	if d.timesOf == nil {
		if code = d.times.code(&d.timeCoder, 0, d.table.Hash(id), p.step()); d.timeCoder.Overrun() {
			return 0, 0, false, pack.ErrDamaged
		}
	} else if code, more, err = d.timesOf.valued(); err != nil || !more {
		return 0, 0, false, cmp.Or(err, pack.ErrDamaged)
	}
	p.setStep(code)
	d.context.pass(code, d.table.Hash(id))
	return id, code, true, nil
}

// valued decodes the step of time to the next event, and its values, which later times may follow from.
func (d *locationDecoder) valued() (code uint64, more bool, err error) {
	id, code, more, err := d.step()
	if err == nil && more {
		err = d.readValues(id, code)
	}
	return code, more, err
}

// readValues decodes the values that follow a symbol. Their number is not believed.
func (d *locationDecoder) readValues(id uint32, step uint64) error {
	n := d.rows.Count(id)
	if n == 0 {
		d.rows.Values = d.rows.Values[:0]
		return nil
	}
	if n > d.valCoder.Len()*pack.PerByte+pack.PerByte {
		return pack.ErrDamaged
	}
	if cap(d.rows.Values) < n {
		d.rows.Values = make([]uint64, n)
	}
	d.rows.Values = d.rows.Values[:n]
	if d.values == nil {
		if uint64(d.location) == d.src.head.Leader {
			d.values = newValueCoder(d.src.tables, d.src.version)
		} else {
			d.values = d.src.values.get()
		}
	}
	d.context.symbol, d.context.rolling, d.context.step = id, d.structure.predictor.rolling, step
	d.values.code(&d.valCoder, &d.context, d.rows.Values)
	if d.valCoder.Overrun() {
		return pack.ErrDamaged
	}
	if d.src.version >= versionPredicted {
		d.times.due.begin(d.src.tables, id, d.rows.Values[0])
	}
	return nil
}
