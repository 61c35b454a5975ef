package causal

// turns brings the steps of several sequences into a causal order. A sequence runs until it must
// wait, and goes on when its wait is over. Sequences take turns in the order in which their waits end.
//
//	ready[next:] can go on, in order
type turns struct {
	sequences []sequence
	ready     []int
	next      int
}

// A sequence is how far one is, and who waits for it.
type sequence struct {
	reached int // steps
	waiting []waiter
	wake    int   // the smallest number of steps that one of them needs; 0: there is none
	behind  int32 // in the group that it waits for: see group
}

// A group is who waits for it to be complete. The zero value is one for which nobody waits.
//
//	the numbers of the first and the last sequence, plus 1; 0: none
type group struct{ first, last int32 }

// A waiter goes on when a sequence is that many steps far.
type waiter struct{ sequence, steps int }

// start says that a sequence may run.
func (t *turns) start(i int) {
	if n := len(t.ready); n == cap(t.ready) && t.next > n/2 {
		t.ready, t.next = t.ready[:copy(t.ready, t.ready[t.next:])], 0
	}
	t.ready = append(t.ready, i)
}

// pop returns the sequence whose turn it is; ok is false if none can go on.
func (t *turns) pop() (i int, ok bool) {
	if t.next == len(t.ready) {
		return 0, false
	}
	t.next++
	return t.ready[t.next-1], true
}

// reach says that a sequence is that many steps far, and wakes those that wait for it.
func (t *turns) reach(i, steps int) {
	c := &t.sequences[i]
	if c.reached = max(c.reached, steps); c.wake > 0 && c.reached >= c.wake {
		t.release(c)
	}
}

// release wakes those for whom a sequence is far enough.
func (t *turns) release(c *sequence) {
	kept := c.waiting[:0]
	c.wake = 0
	for _, w := range c.waiting {
		if w.steps <= c.reached {
			t.start(w.sequence)
			continue
		}
		kept = append(kept, w)
		if c.wake == 0 || w.steps < c.wake {
			c.wake = w.steps
		}
	}
	c.waiting = kept
}

// await makes a sequence wait until another one is that many steps far, at least 1.
func (t *turns) await(i, other, steps int) {
	c := &t.sequences[other]
	c.waiting = append(c.waiting, waiter{i, steps})
	if c.wake == 0 || steps < c.wake {
		c.wake = steps
	}
}

// awaitGroup makes a sequence wait until a group is complete.
func (t *turns) awaitGroup(i int, g *group) {
	number := int32(i + 1)
	if t.sequences[i].behind = 0; g.last == 0 {
		g.first = number
	} else {
		t.sequences[g.last-1].behind = number
	}
	g.last = number
}

// complete wakes those that wait for a group.
func (t *turns) complete(g *group) {
	for number := g.first; number != 0; number = t.sequences[number-1].behind {
		t.start(int(number - 1))
	}
	*g = group{}
}

// forget removes those that wait for a sequence.
func (t *turns) forget(i int) {
	c := &t.sequences[i]
	c.waiting, c.wake = c.waiting[:0], 0
}
