package stragglers

import "slices"

// A pair replays one data-parallel rank as recorded beside all others as equal ones. These do the same at the same time, so that one of
// them stands for all: the replays of all data-parallel ranks together take as long as those of two.
type pair struct {
	replayer
	rows map[int][]int // by the number of the data-parallel rank, one a lane
}

// newPair returns the pair of a job; nil if it has one data-parallel rank, or if they differ in which of their workers wait for each other.
func (r *replayer) newPair() *pair {
	p := &pair{rows: make(map[int][]int)}
	for row := range r.dps {
		d := r.dpOf(row * r.stages)
		p.rows[d] = append(p.rows[d], row)
	}
	j := *r.job
	j.dps, j.coupled = 2*r.lanes, nil
	owner := make(map[int32]int) // of what workers that wait for each other have in common
	for d, rows := range p.rows {
		if len(rows) != r.lanes || len(p.rows) < 2 {
			return nil
		}
		if r.coupled == nil {
			continue
		}
		pattern := make([]int32, 0, 2*r.lanes*r.stages)
		for _, row := range rows {
			for s := range r.stages {
				c := r.coupled[row*r.stages+s]
				if of, known := owner[c]; known && of != d {
					return nil
				}
				owner[c] = d
				first := slices.IndexFunc(rows, func(k int) bool { return r.coupled[k*r.stages+s] == c })
				pattern = append(pattern, int32(first*r.stages+s))
			}
		}
		for _, c := range pattern { // the other data-parallel rank
			pattern = append(pattern, c+int32(r.lanes*r.stages))
		}
		if j.coupled != nil && !slices.Equal(pattern, j.coupled) {
			return nil
		}
		j.coupled = pattern
	}
	g, err := newGraph(&j)
	if err != nil {
		return nil
	}
	p.replayer = *framed(&j, g, r.jobs)
	return p
}

// lengthsOf returns the length of each step in which the workers of a group alone take what is recorded.
func (r *replayer) lengthsOf(g group) []float64 {
	if g.by != byDP || r.pair == nil {
		return r.lengths(func(n int) bool { return r.numberOf(g.by, int(r.by[n])) == g.number })
	}
	n, out := len(r.template), make([]float64, len(r.took))
	r.pair.each(func(x *run, s int) {
		for i, k := range x.kind {
			x.own[i] = r.equal[k]
		}
		for lane, row := range r.pair.rows[g.number] {
			copy(x.own[lane*n:(lane+1)*n], r.took[s][row*n:])
		}
		out[s] = x.replay(x.own)
	})
	return out
}
