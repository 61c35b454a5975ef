package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/waitstate"
	"tracekit/trace"
)

// A rank's balance is the time that others wait for it, less the time that it waits itself: waiting that it hands on is not its own.
// Culprits are the fewest ranks that have so much of all positive balances, if they are no more than so many, and than one of so many:
// where all wait for all, none is one. Others wait for them at least twice as long as they wait, and the balance is a share of the
// ranks' time that is worth a look.
const (
	culpritShare = 0.5
	mostCulprits = 3
	oneOf        = 4
	worthALook   = 0.05
)

// culprits returns the rows of the ranks, of those drawn, on which waiting from a time to another begins, and a sentence that says so.
// Waits of startup do not count.
func (d *diagram) culprits(ranks []uint32, from, to int64) (rows []int, notes []string) {
	caused, waited := d.balances(ranks, from, to)
	balance := func(r uint32) int64 { return caused[r] - waited[r] }
	all := int64(0)
	for _, r := range ranks {
		all += max(0, balance(r))
	}
	order := slices.Clone(ranks)
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(balance(b), balance(a)) })
	most := min(mostCulprits, max(1, len(ranks)/oneOf))
	n, sum := 0, int64(0)
	for ; n < len(order) && float64(sum) < culpritShare*float64(all); n++ {
		sum += balance(order[n])
	}
	if n == 0 || n > most || float64(sum) < worthALook*float64(to-from)*float64(len(ranks)) {
		return nil, nil
	}
	guilty := order[:n]
	slices.Sort(guilty)
	var others, own int64
	for _, r := range guilty {
		if d.row[r] == none {
			return nil, nil
		}
		rows, others, own = append(rows, d.row[r]), others+caused[r], own+waited[r]
	}
	if 2*own > others {
		return nil, nil
	}
	what, them, waits := "Rank", "it", "it waits"
	if n > 1 {
		what, them, waits = "Ranks", "them", "they wait"
	}
	names := strings.Trim(strings.ReplaceAll(fmt.Sprint(guilty), " ", ", "), "[]")
	return rows, []string{fmt.Sprintf("%s %s: others wait %s for %s; %s %s.", what, names, duration(others), them, waits, duration(own))}
}

// balances returns, by rank, how long others of the drawn ranks wait for it and how long it waits for others.
func (d *diagram) balances(ranks []uint32, from, to int64) (caused, waited []int64) {
	caused, waited = make([]int64, len(d.t.World)), make([]int64, len(d.t.World))
	for _, r := range ranks {
		l := d.t.World[r]
		if int(l) >= len(d.waits) {
			continue
		}
		table := d.waits[l].Rows
		for i := range table.Len() {
			w := table.Ptr(i)
			time := min(d.ns(w.From+w.Time), to) - max(d.ns(w.From), from)
			if by := d.rankOf(w.Location); w.Kind != waitstate.AtStartup && time > 0 && by != trace.None && by != r {
				caused[by], waited[r] = caused[by]+time, waited[r]+time
			}
		}
	}
	return caused, waited
}

// rankOf returns the rank of a location, None if it has none.
func (d *diagram) rankOf(l trace.LocationID) uint32 {
	if int(l) >= len(d.t.Rank) {
		return trace.None
	}
	return d.t.Rank[l]
}
