package engine

// Turns brings the steps of several sequences into a causal order, where a step may need that
// another sequence has come so far, or that a group is complete: each sequence runs until it must
// wait, and goes on when what it waits for is there. Sequences take turns in the order in which
// they could go on. It runs on one goroutine.
//
//	ready[next:] can go on, in order
type Turns struct {
	sequences []sequence
	ready     []int
	next      int
}

// A sequence is how far one is, and who waits for it.
type sequence struct {
	steps   int
	waiting []waiter
	wake    int   // the smallest number of steps that one of them needs; 0: there is none
	behind  int32 // in the group that it waits for: see Group
}

// A Group is who waits for it to be complete. The zero value is one for which nobody waits.
//
//	the numbers of the first and the last sequence, plus 1; 0: none
type Group struct{ first, last int32 }

// A waiter goes on when a sequence has come so many steps far.
type waiter struct{ sequence, steps int }

// NewTurns returns the turns of n sequences, none of which may run yet.
func NewTurns(n int) *Turns {
	return &Turns{sequences: make([]sequence, n)}
}

// Start says that a sequence may run.
func (t *Turns) Start(i int) {
	if n := len(t.ready); n == cap(t.ready) && t.next > n/2 {
		t.ready, t.next = t.ready[:copy(t.ready, t.ready[t.next:])], 0
	}
	t.ready = append(t.ready, i)
}

// Next returns the sequence whose turn it is; ok is false if none can go on.
func (t *Turns) Next() (i int, ok bool) {
	if t.next == len(t.ready) {
		return 0, false
	}
	t.next++
	return t.ready[t.next-1], true
}

// Steps returns how far a sequence is.
func (t *Turns) Steps(i int) int { return t.sequences[i].steps }

// Reach says that a sequence is so many steps far, and lets those go on that wait for that.
func (t *Turns) Reach(i, steps int) {
	c := &t.sequences[i]
	if c.steps = max(c.steps, steps); c.wake > 0 && c.steps >= c.wake {
		t.release(c)
	}
}

// release lets those go on for whom a sequence is far enough.
func (t *Turns) release(c *sequence) {
	kept := c.waiting[:0]
	c.wake = 0
	for _, w := range c.waiting {
		if w.steps <= c.steps {
			t.Start(w.sequence)
			continue
		}
		kept = append(kept, w)
		if c.wake == 0 || w.steps < c.wake {
			c.wake = w.steps
		}
	}
	c.waiting = kept
}

// Await makes a sequence wait until another one is so many steps far, at least 1.
func (t *Turns) Await(i, other, steps int) {
	c := &t.sequences[other]
	c.waiting = append(c.waiting, waiter{i, steps})
	if c.wake == 0 || steps < c.wake {
		c.wake = steps
	}
}

// AwaitGroup makes a sequence wait until a group is complete.
func (t *Turns) AwaitGroup(i int, g *Group) {
	number := int32(i + 1)
	if t.sequences[i].behind = 0; g.last == 0 {
		g.first = number
	} else {
		t.sequences[g.last-1].behind = number
	}
	g.last = number
}

// Complete lets those go on that wait for a group.
func (t *Turns) Complete(g *Group) {
	for number := g.first; number != 0; number = t.sequences[number-1].behind {
		t.Start(int(number - 1))
	}
	*g = Group{}
}

// Forget lets nobody wait for a sequence any more.
func (t *Turns) Forget(i int) {
	c := &t.sequences[i]
	c.waiting, c.wake = c.waiting[:0], 0
}
