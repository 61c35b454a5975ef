package engine

// Turns brings the steps of several courses into a causal order, where a step may need that
// another course has come so far, or that a group is complete: each course runs until it must
// wait, and goes on when what it waits for is there. Courses take turns in the order in which
// they could go on. It runs on one goroutine.
type Turns struct {
	courses []course
	ready   []int
	groups  map[uint32][]int // who waits for a group
}

// A course is how far one is, and who waits for it.
type course struct {
	steps   int
	waiting []waiter
	wake    int // the smallest number of steps that one of them needs; 0: there is none
}

// A waiter goes on when a course has come so many steps far.
type waiter struct{ course, steps int }

// NewTurns returns the turns of n courses, none of which may run yet.
func NewTurns(n int) *Turns {
	return &Turns{courses: make([]course, n), groups: make(map[uint32][]int)}
}

// Start says that a course may run.
func (t *Turns) Start(i int) { t.ready = append(t.ready, i) }

// Next returns the course whose turn it is; ok is false if none can go on.
func (t *Turns) Next() (i int, ok bool) {
	if len(t.ready) == 0 {
		return 0, false
	}
	i = t.ready[0]
	t.ready = t.ready[1:]
	return i, true
}

// Steps returns how far a course is.
func (t *Turns) Steps(i int) int { return t.courses[i].steps }

// Reach says that a course is so many steps far, and lets those go on that wait for that.
func (t *Turns) Reach(i, steps int) {
	c := &t.courses[i]
	c.steps = max(c.steps, steps)
	if c.wake == 0 || c.steps < c.wake {
		return
	}
	kept := c.waiting[:0]
	c.wake = 0
	for _, w := range c.waiting {
		if w.steps <= c.steps {
			t.ready = append(t.ready, w.course)
			continue
		}
		kept = append(kept, w)
		if c.wake == 0 || w.steps < c.wake {
			c.wake = w.steps
		}
	}
	c.waiting = kept
}

// Await makes a course wait until another one is so many steps far, at least 1.
func (t *Turns) Await(i, other, steps int) {
	c := &t.courses[other]
	c.waiting = append(c.waiting, waiter{i, steps})
	if c.wake == 0 || steps < c.wake {
		c.wake = steps
	}
}

// AwaitGroup makes a course wait until a group is complete.
func (t *Turns) AwaitGroup(i int, group uint32) { t.groups[group] = append(t.groups[group], i) }

// Complete lets those go on that wait for a group.
func (t *Turns) Complete(group uint32) {
	t.ready = append(t.ready, t.groups[group]...)
	delete(t.groups, group)
}

// Forget lets nobody wait for a course any more.
func (t *Turns) Forget(i int) {
	c := &t.courses[i]
	c.waiting, c.wake = c.waiting[:0], 0
}
