package formulae

import "math/bits"

// A timeModel codes the steps of time from one event of a location to the next. Its
// estimate joins four contexts:
//
//	the lengths (in bits) of the last three steps
//	the event and the one before, the step at the same place of the predicted course, the last step
//	the last four events
//	the event and the one before, the last two steps
type timeModel struct {
	steps  *numbers
	events [3]uint32 // the last events, newest first, as hashes
	length [3]uint32 // the last steps in bits, newest first
}

// stepSlots is the logarithm of the slots for each context.
const stepSlots = 16

// newTimeModel returns a model for the beginning of a location, that knows what prior has
// learned from another one; prior may be nil. Fine says whether the lower bits of short
// steps are coded in context.
func newTimeModel(t *tables, prior *timeModel, fine bool) *timeModel {
	if prior == nil {
		return &timeModel{steps: newNumbers(t, stepSlots, fine)}
	}
	m := &timeModel{steps: prior.steps.clone()}
	if !fine {
		m.steps.fine = nil
	}
	return m
}

// code codes the step to an event. Event is a hash of what the event is; course is the
// length of the step at the same place of the predicted course of events, 0 if none is
// predicted.
func (m *timeModel) code(c *coder, step uint64, event, course uint32) uint64 {
	pair, l := hash32(event, m.events[0]), m.length
	step = m.steps.code(c, step, [contexts]uint32{
		hash32(l[0]<<16|l[1]<<8|l[2], 1),
		hash32(pair, course<<8|l[0]|1<<16),
		hash32(pair, hash32(m.events[1], m.events[2])),
		hash32(pair, l[0]<<8|l[1]|2<<16),
	})
	m.events = [3]uint32{event, m.events[0], m.events[1]}
	m.length = [3]uint32{uint32(bits.Len64(step)), l[0], l[1]}
	return step
}
