package page

// Cells divide time into pieces of equal length and give each to one activity. What an
// activity has been given less than its time is owed to it, and each cell goes to who is owed
// most: so an activity that takes a third of every cell gets every third one, and the sums
// over many cells are right to one cell per activity. (In pictures this is error diffusion.)
type cells struct {
	step int64
	left int64    // until the cell is full
	owed []int64  // by activity
	in   []bool   // by activity: it is live
	live []uint32 // activities that are owed something, in order of their first time
	into taker    // of the cells, in ns
}

func newCells(step int64, into taker) *cells {
	return &cells{step: step, left: step, into: into}
}

// take spends time on an activity.
func (c *cells) take(ns int64, activity uint32) {
	for int(activity) >= len(c.owed) {
		c.owed, c.in = append(c.owed, 0), append(c.in, false)
	}
	if ns > 0 && !c.in[activity] {
		c.in[activity] = true
		c.live = append(c.live, activity)
	}
	if c.left < c.step && ns >= c.left { // finish the cell that is begun
		c.owed[activity] += c.left
		ns, c.left = ns-c.left, c.step
		c.give(c.most(), 1)
	}
	if whole := ns / c.step; whole > 0 {
		// What is owed before stays owed: the cells are all this activity's.
		c.give(activity, whole)
		c.owed[activity] += whole * c.step
		ns -= whole * c.step
	}
	c.owed[activity] += ns
	c.left -= ns
}

// most returns who is owed most, of several the first that came.
func (c *cells) most() uint32 {
	best := c.live[0]
	for _, a := range c.live[1:] {
		if c.owed[a] > c.owed[best] {
			best = a
		}
	}
	return best
}

// give gives cells to an activity.
func (c *cells) give(activity uint32, n int64) {
	c.into.take(n*c.step, activity)
	c.owed[activity] -= n * c.step
	// Who is owed nothing for long must not be looked at for ever.
	if len(c.live) > 64 {
		kept := c.live[:0]
		for _, a := range c.live {
			if c.in[a] = c.owed[a] > 0; c.in[a] {
				kept = append(kept, a)
			}
		}
		if c.live = kept; len(kept) == 0 {
			c.live = append(c.live, activity)
			c.in[activity] = true
		}
	}
}

// close ends the last cell.
func (c *cells) close() {
	if c.left < c.step && len(c.live) > 0 {
		c.give(c.most(), 1)
	}
}

// A stepper takes what is to be kept, in steps.
type stepper struct {
	step int64
	runs Runs
}

func (s *stepper) take(ns int64, activity uint32) {
	steps := ns
	if s.step > 1 { // most are exact, and a division takes as long as all else here
		steps = ns / s.step
	}
	s.runs.add(steps, activity)
}

// A fitting keeps runs as they are, or if they become too many, in cells.
type fitting struct {
	length int64 // of the run, ns
	limit  int   // of runs
	stepper
	cells *cells // nil while runs are exact
}

func (f *fitting) take(ns int64, activity uint32) {
	if f.cells != nil {
		f.cells.take(ns, activity)
		return
	}
	if f.stepper.take(ns, activity); f.runs.Len() > f.limit {
		f.coarsen()
	}
}

// coarsen puts what is kept into cells.
func (f *fitting) coarsen() {
	exact := f.stepper
	f.stepper = stepper{step: coarser(exact.step, f.length, f.limit)}
	f.cells = newCells(f.step, &f.stepper)
	for r := range exact.runs.All {
		f.cells.take(r.Steps*exact.step, r.Activity)
	}
}

func (f *fitting) close() {
	if f.cells != nil {
		f.cells.close()
	}
}

// coarser returns the length of cells of which so many at most make up the run, and that are at least
// twice as long as those before.
func coarser(step, length int64, limit int) int64 { return max(ceil(length, int64(limit)), 2*step) }

// halve makes those rows coarser that have more than half as many parts as the one with the most, and
// reports whether it could.
func halve[R any](rows []R, parts func(*R) int, coarsen func(r *R, limit int)) bool {
	most := 0
	for i := range rows {
		most = max(most, parts(&rows[i]))
	}
	if most <= 16 {
		return false
	}
	for i := range rows {
		if parts(&rows[i]) > most/2 {
			coarsen(&rows[i], most/2)
		}
	}
	return true
}

func ceil(a, b int64) int64 { return (a + b - 1) / b }
