package diagnosis

import (
	"fmt"
	"slices"
)

// A trend is how many times as long as others culprits take at a place in the first quarter of their visits, and in the last.
type trend struct{ first, last float64 }

// growing is how many times the excess of one quarter the other has at least so that it counts as a trend.
const growing = 2

// trend returns how ranks take longer than others as the run goes on; ok is false if they do so all the time, or visits are too few.
func (f *finder) trend(p *place, ranks, others []uint32) (x trend, ok bool) {
	quarters := func(of []uint32) (first, last float64) { // means of a visit, ticks
		for _, r := range of {
			visits := slices.Collect(f.instances(p, r))
			n := len(visits) / 4
			if n < fewVisits {
				return 0, 0
			}
			for _, v := range visits[:n] {
				first += float64(v.ticks) / float64(n*len(of))
			}
			for _, v := range visits[len(visits)-n:] {
				last += float64(v.ticks) / float64(n*len(of))
			}
		}
		return first, last
	}
	first, last := quarters(ranks)
	usualFirst, usualLast := quarters(others)
	if usualFirst <= 0 || usualLast <= 0 {
		return x, false
	}
	x = trend{first / usualFirst, last / usualLast}
	less, more := min(x.first, x.last)-1, max(x.first, x.last)-1
	return x, more > growing*max(0, less) && more-less > unlike-1
}

// text says it.
func (x trend) text() string {
	how := "grows"
	if x.last < x.first {
		how = "shrinks"
	}
	return fmt.Sprintf("The excess %s: %s in the first quarter of the visits, %s in the last. ", how, factor(x.first), factor(x.last))
}
