package whatif

import (
	"math"

	"tracekit/trace"
)

// balances reports whether a location counts where ranks share their work: it is a master.
func (m *Model) balances(l trace.LocationID) bool {
	return int(m.t.Rank[l]) < len(m.t.World) && m.t.World[m.t.Rank[l]] == l
}

// findMeans finds the mean over ranks of their first, second … visits to each place that is balanced.
// It finds whether these are visits to its regions, since ranks that are there make equally many:
// several of them between two calls are taken for equally long ones.
func (p *plan) findMeans() {
	places := make([]balancing, len(p.changes))
	of, slots := make([]int, p.slots()), make([]bool, p.slots()) // a slot is balanced once
	some := false
	for i := range p.changes {
		places[i].each, places[i].least = true, math.MaxInt
		for s := range of {
			if p.changes[i].kind == balance && p.changes[i].slots[s] {
				of[s], slots[s], some = i, true, true
			}
		}
	}
	for l := range p.locations {
		if !some || !p.balances(trace.LocationID(l)) {
			continue
		}
		p.walk(trace.LocationID(l), slots, func(x passed) {
			b := &places[of[x.slot]]
			b.n, b.sum = b.n+x.visits, b.sum+x.time
		}, func(uint32, int) {
			for i := range places {
				places[i].endVisit()
			}
		})
		for i := range places {
			places[i].endLocation()
		}
	}
	for i := range p.changes {
		if p.changes[i].kind == balance {
			p.changes[i].means, p.changes[i].byVisit = places[i].means()
		}
	}
}

// A balancing finds the means of a place.
type balancing struct {
	visits, gaps meanVisits
	most, least  int // visits of a location
	each         bool

	gap, visit, n int // on the present location; n in the present visit
	sum           int64
}

// endVisit ends what a location spends there between two calls, or in one.
func (b *balancing) endVisit() {
	n, sum := b.n, b.sum
	if sum == 0 {
		return
	}
	b.gaps.add(b.gap, sum)
	b.each = b.each && n <= mostVisits
	for k := 0; b.each && k < n; k++ {
		b.visits.add(b.visit+k, sum*int64(k+1)/int64(n)-sum*int64(k)/int64(n))
	}
	b.gap, b.visit, b.n, b.sum = b.gap+1, b.visit+n, 0, 0
}

// endLocation ends a location.
func (b *balancing) endLocation() {
	if b.visit > 0 {
		b.most, b.least = max(b.most, b.visit), min(b.least, b.visit)
	}
	b.gap, b.visit, b.n, b.sum = 0, 0, 0, 0
}

// means returns the means, and whether they are of visits to the regions of the place.
func (b *balancing) means() ([]int64, bool) {
	if b.each && b.most == b.least {
		return b.visits.means(), true
	}
	return b.gaps.means(), false
}

// mostVisits is the largest number of visits between two calls that are distinguished.
const mostVisits = 16

// meanVisits finds means by ordinal.
type meanVisits struct{ sums, counts []int64 }

func (m *meanVisits) add(k int, time int64) {
	if k == len(m.sums) {
		m.sums, m.counts = append(m.sums, 0), append(m.counts, 0)
	}
	m.sums[k] += time
	m.counts[k]++
}

func (m *meanVisits) means() []int64 {
	for k, n := range m.counts {
		m.sums[k] = (m.sums[k] + n/2) / n
	}
	return m.sums
}
