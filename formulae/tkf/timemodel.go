package tkf

import (
	"math/bits"
	"sync"

	"tracekit/formulae/internal/coder"
)

// A timeModel codes the steps of time from one event of a location to the next, in ticks or
// in codes of a roundedClock (docs/internals/TKF.md, Times). Its estimate joins three contexts, that
// tell what the machine, the program and the same place of the program did last:
//
//	the lengths (in bits) of the last three steps
//	the event, the two before and the length of the last step
//	the length of the step at the same place of the sequence
//
// More contexts make nothing smaller: they only know less of each.
type timeModel struct {
	steps  *coder.Numbers
	grain  uint64 // steps are multiples of it; 0 or 1: of nothing
	count  uint64 // steps so far
	due    dues
	broken uint64    // of these, those that are no multiples
	events [2]uint32 // the last events, newest first, as hashes
	length [3]uint32 // the last steps in bits, newest first
}

// stepSlots is the logarithm of the largest number of chances for each context, which take
// 256 KiB. Half of it makes files 0.3 % larger, and coding a little faster.
const stepSlots = 16

// newTimeModel returns a model that knows nothing. Fine says whether the lower bits of short
// steps are coded in context.
func newTimeModel(t *coder.Tables, fine bool, grain uint64) *timeModel {
	return &timeModel{steps: coder.NewNumbers(t, stepSlots, fine), grain: grain}
}

// timeModels are models of locations that start from what a prior one has learned of another
// location. Models that are given back are made anew in the same memory. They may be used
// concurrently.
type timeModels struct {
	tables *coder.Tables
	fine   bool
	grain  uint64
	prior  *coder.Numbers // nil: models know nothing
	free   sync.Pool
}

// learn makes all later models start from what m has learned.
func (p *timeModels) learn(m *timeModel) {
	p.prior = &coder.Numbers{}
	m.steps.CopyTo(p.prior)
}

// get returns a model for the beginning of a location.
func (p *timeModels) get() *timeModel {
	if p.prior == nil {
		return newTimeModel(p.tables, p.fine, p.grain)
	}
	steps, ok := p.free.Get().(*coder.Numbers)
	if !ok {
		steps = &coder.Numbers{}
	}
	p.prior.CopyTo(steps)
	return &timeModel{steps: steps, grain: p.grain}
}

// put gives a model back that is no longer used.
func (p *timeModels) put(m *timeModel) { p.free.Put(m.steps) }

// code codes the step to an event. Event is a hash of what the event is; sequence is the
// length of the step at the same place of the predicted sequence of events, 0 if none is
// predicted.
func (m *timeModel) code(c *coder.Coder, step uint64, event, sequence uint32) uint64 {
	l := m.length
	if due, met := m.due.code(c, step, event); met {
		step = due
	} else {
		step = m.number(c, step, [coder.Contexts]uint32{
			coder.Hash(l[0]<<16|l[1]<<8|l[2], 1),
			coder.Hash(coder.Hash(event, m.events[0]), m.events[1]<<8|l[0]),
			coder.Hash(sequence, 2),
		})
	}
	m.due.pass(step)
	m.events = [2]uint32{event, m.events[0]}
	m.length = [3]uint32{uint32(bits.Len64(step)), l[0], l[1]}
	return step
}

// number codes a step in contexts, in grains if there are any: one more than the multiple, or 0
// and then the step. Where too many steps are none the grain is given up.
func (m *timeModel) number(c *coder.Coder, step uint64, contexts [coder.Contexts]uint32) uint64 {
	m.count++
	if m.grain <= 1 {
		return m.steps.Code(c, step, contexts)
	}
	multiple := uint64(0)
	if step%m.grain == 0 {
		multiple = step/m.grain + 1
	}
	if multiple = m.steps.Code(c, multiple, contexts); multiple > 0 {
		return (multiple - 1) * m.grain
	}
	for i := range contexts {
		contexts[i]++
	}
	if m.broken++; m.broken > m.count/16+256 {
		m.grain = 0
	}
	return m.steps.Code(c, step, contexts)
}
