package whatif

// measure adds the costs of measuring, or removes them. A call that waited may have waited less than the model says: what its own time is
// too short for lets its wait end earlier. What else a stretch of time is too short for is taken from the stretch that follows it, since it
// is not known on which side of a record's time its cost passes. It returns what is left then.
func (x *shifter) measure() (left int64) {
	calls, span := x.t.Calls[x.l], x.t.Span[x.l]
	own := x.ownTimes(x.l, 0)
	var owed int64 // what the stretch before was too short for
	take := func(cost, room int64) int64 {
		taken := max(cost-owed, -max(0, room))
		short := taken - (cost - owed)
		given := min(short, owed)
		left, owed = left+given, short-given
		return taken
	}
	end := span.First
	for i := range calls.Len() {
		c := calls.Ptr(i)
		before, longer := int64(0), int64(0)
		for _, m := range x.loads {
			if load := &m.loads[x.l]; load.Before != nil {
				before += m.sign * load.Before.At(i)
				longer += m.sign * load.Own.At(i)
			}
		}
		x.move(i)
		x.moved += take(before, c.Enter-end)
		time := own.of(uint32(i))
		if wait := own.wait(uint32(i)); wait > 0 && -longer > time {
			early := min(wait, -longer-max(0, time))
			x.early.Set(i, early)
			longer += early
		}
		longer = take(longer, time)
		x.move(i + 1)
		x.moved += longer
		x.endless = x.endless || x.moved > mostChange
		x.lengthen(uint32(i), longer)
		end = max(end, c.Leave)
	}
	after := int64(0)
	for _, m := range x.loads {
		after += m.sign * m.loads[x.l].After
	}
	x.moved += take(after, span.Last-end)
	return left + owed
}
