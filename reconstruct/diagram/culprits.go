package diagram

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/waitstate"
	"tracekit/trace"
)

// Culprits are the fewest ranks for which others wait so much of all waiting time, if they are no more than so many, and than one of
// so many: where all wait for all, none is one. Others wait for them for a share of the ranks' time that is worth a look.
const (
	culpritShare = 0.5
	mostCulprits = 3
	oneOf        = 4
	worthALook   = 0.05
)

// culprits returns the rows of the ranks, of those drawn, that others wait for most from a time to another, and a sentence that says
// so. Waits of startup do not count.
func (d *diagram) culprits(ranks []uint32, from, to int64) (rows []int, notes []string) {
	caused, total := make([]int64, len(d.t.World)), int64(0)
	for _, r := range ranks {
		l := d.t.World[r]
		if int(l) >= len(d.waits) {
			continue
		}
		table := d.waits[l].Rows
		for i := range table.Len() {
			w := table.Ptr(i)
			time := min(d.ns(w.From+w.Time), to) - max(d.ns(w.From), from)
			if w.Kind == waitstate.AtStartup || time <= 0 {
				continue
			}
			total += time
			if by := d.rankOf(w.Location); by != trace.None && by != r {
				caused[by] += time
			}
		}
	}
	order := slices.Clone(ranks)
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(caused[b], caused[a]) })
	var guilty []uint32
	sum := int64(0)
	for _, r := range order {
		if total == 0 || float64(sum) >= culpritShare*float64(total) {
			break
		}
		if n := len(rows); n == mostCulprits || n > 0 && oneOf*(n+1) > len(ranks) {
			return nil, nil
		}
		rows, sum = append(rows, d.row[r]), sum+caused[r]
		guilty = append(guilty, r)
	}
	if float64(sum) < worthALook*float64(to-from)*float64(len(ranks)) || slices.Contains(rows, none) {
		return nil, nil
	}
	slices.Sort(guilty)
	what, them := "Rank", "it"
	if len(guilty) > 1 {
		what, them = "Ranks", "them"
	}
	return rows, []string{fmt.Sprintf("%s %s: others wait %s for %s, %.0f %% of all waiting.", what,
		strings.Trim(strings.ReplaceAll(fmt.Sprint(guilty), " ", ", "), "[]"), duration(sum), them, 100*float64(sum)/float64(total))}
}

// rankOf returns the rank of a location, None if it has none.
func (d *diagram) rankOf(l trace.LocationID) uint32 {
	if int(l) >= len(d.t.Rank) {
		return trace.None
	}
	return d.t.Rank[l]
}
