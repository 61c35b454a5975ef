package tkf

import (
	"math/bits"
	"sync"

	"tracekit/formulae/internal/coder"
	"tracekit/trace"
)

// A timeModel codes the steps of time from one event of a location to the next, in ticks or
// in codes of a roundedClock (docs/internals/TKF.md, Times). Its estimate joins three contexts, that
// tell what the machine, the program and the same place of the program did last:
//
//	the lengths (in bits) of the last three steps
//	the event, the two before and the length of the last step
//	the length of the step at the same place of the sequence
//
// More contexts need more time. Of small traces it joins eight.
type timeModel struct {
	steps  *coder.Numbers // nil: deep
	deep   *coder.Figures
	grain  uint64 // steps are multiples of it; 0 or 1: of nothing
	count  uint64 // steps so far
	due    dues
	broken uint64    // of these, those that are no multiples
	events [2]uint32 // the last events, newest first, as hashes
	length [3]uint32 // the last steps in bits, newest first

	// Of a deep model: the last two steps, roughly, and those that led to an event, by its hash.
	last   [2]uint32
	before [][2]uint32
}

// A timeForm says how the times of a file are coded.
type timeForm struct {
	fine  bool   // the lower bits of short steps are coded in context
	grain uint64 // see timeModel
	deep  bool   // in more contexts
}

const (
	// stepSlots is the logarithm of the largest number of chances for each context, which take
	// 256 KiB. Half of it makes files 0.3 % larger, and coding a little faster.
	stepSlots  = 16
	deepSlots  = 18
	deepGroups = 3
	deepBits   = 10 // of the hashes of events

	// deepEvents is how many events a trace has at most whose times are coded deep, which takes three times as long. A location counts
	// as deepLocation events more: its models are copied.
	deepEvents   = 1 << 20
	deepLocation = 1 << 10
)

// deepTimes reports whether the times of a trace are coded deep.
func deepTimes(d *trace.Defs) bool {
	events := uint64(0)
	for i := range d.Locations {
		events += min(d.Locations[i].Events, deepEvents) + deepLocation
	}
	return events <= deepEvents
}

// newTimeModel returns a model that knows nothing.
func newTimeModel(t *coder.Tables, f timeForm) *timeModel {
	m := &timeModel{grain: f.grain}
	if f.deep {
		m.deep, m.before = coder.NewFigures(t, deepSlots, deepGroups), make([][2]uint32, 1<<deepBits)
	} else {
		m.steps = coder.NewNumbers(t, stepSlots, f.fine)
	}
	return m
}

// copyTo makes to a model that begins with what was learned that holds for other locations too, in the memory that it has.
func (m *timeModel) copyTo(to *timeModel, grain uint64) {
	*to = timeModel{steps: to.steps, deep: to.deep, before: to.before, grain: grain}
	if m.deep == nil {
		m.steps.CopyTo(to.steps)
		return
	}
	m.deep.CopyTo(to.deep)
	clear(to.before)
}

// timeModels are models of locations that start from what a prior one has learned of another
// location. Models that are given back are made anew in the same memory. They may be used
// concurrently.
type timeModels struct {
	tables *coder.Tables
	form   timeForm
	prior  *timeModel // nil: models know nothing
	free   sync.Pool
}

// learn makes all later models start from what m has learned.
func (p *timeModels) learn(m *timeModel) {
	p.prior = newTimeModel(p.tables, p.form)
	m.copyTo(p.prior, p.form.grain)
}

// get returns a model for the beginning of a location.
func (p *timeModels) get() *timeModel {
	m, ok := p.free.Get().(*timeModel)
	if !ok {
		m = newTimeModel(p.tables, p.form)
	}
	if p.prior != nil {
		p.prior.copyTo(m, p.form.grain)
	}
	return m
}

// put gives a model back that is no longer used.
func (p *timeModels) put(m *timeModel) {
	if p.prior != nil {
		p.free.Put(m)
	}
}

// code codes the step to an event. Event is a hash of what the event is; sequence is the
// length of the step at the same place of the predicted sequence of events, 0 if none is
// predicted.
func (m *timeModel) code(c *coder.Coder, step uint64, event, sequence uint32) uint64 {
	if due, met := m.due.code(c, step, event); met {
		step = due
	} else {
		step = m.number(c, step, event, sequence)
	}
	m.due.pass(step)
	m.events = [2]uint32{event, m.events[0]}
	m.length = [3]uint32{uint32(bits.Len64(step)), m.length[0], m.length[1]}
	if m.deep != nil {
		m.last = [2]uint32{rough(step, 2), m.last[0]}
		at := slot(m.before, event)
		*at = [2]uint32{rough(step, 3), at[0]}
	}
	return step
}

// number codes a step, in grains if there are any: one more than the multiple, or 0
// and then the step. Where too many steps are none the grain is given up.
func (m *timeModel) number(c *coder.Coder, step uint64, event, sequence uint32) uint64 {
	l := m.length
	contexts := [coder.Experts]uint32{
		coder.Hash(l[0]<<16|l[1]<<8|l[2], 1),
		coder.Hash(coder.Hash(event, m.events[0]), m.events[1]<<8|l[0]),
		coder.Hash(sequence, 2),
	}
	if m.deep != nil {
		here, pair, before := coder.Hash(event, 3), coder.Hash(event, m.events[0]), slot(m.before, event)
		contexts[3] = coder.Hash(here, 4)
		contexts[4] = coder.Hash(coder.Hash(here, before[0]), before[1])
		contexts[5] = coder.Hash(coder.Hash(pair, 5), sequence<<8|l[0])
		contexts[6] = coder.Hash(pair, m.last[0]<<16|m.last[1])
	}
	m.count++
	if m.grain <= 1 {
		return m.one(c, step, event, &contexts)
	}
	multiple := uint64(0)
	if step%m.grain == 0 {
		multiple = step/m.grain + 1
	}
	if multiple = m.one(c, multiple, event, &contexts); multiple > 0 {
		return (multiple - 1) * m.grain
	}
	for i := range contexts {
		contexts[i]++
	}
	if m.broken++; m.broken > m.count/16+256 {
		m.grain = 0
	}
	return m.one(c, step, event, &contexts)
}

// one codes a number in contexts.
func (m *timeModel) one(c *coder.Coder, v uint64, event uint32, contexts *[coder.Experts]uint32) uint64 {
	if m.deep != nil {
		return m.deep.Code(c, v, contexts, event%coder.Choices)
	}
	return m.steps.Code(c, v, [coder.Contexts]uint32(contexts[:coder.Contexts]))
}
