package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/document/words"
	"tracekit/trace"
)

// threadsWait is the evidence of threads that wait in communication for late ranks, ns.
const threadsWait = "worker_wait_ns"

// A lateRank is what a rank makes others wait, in ns.
type lateRank struct {
	rank            uint32
	inside, outside int64            // of the replayed steps
	at              field.SourceLine // where it is most of that time, outside MPI
	there           int64
}

// lateRanks returns what ranks make others wait, by rank, but before their first records.
func (f trainingFinder) lateRanks() []lateRank {
	of := make(map[uint32]lateRank)
	for _, row := range f.a.Delays {
		for i, r := range row.Ranks {
			if row.Region == field.NotRecorded || r.Rank == trace.None {
				continue
			}
			x := of[uint32(r.Rank)]
			x.rank = uint32(r.Rank)
			x.outside += row.OutsideNs[i]
			x.inside += r.TimeNs - row.OutsideNs[i]
			if row.Operation == "" && r.TimeNs > x.there {
				x.at, x.there = row.SourceLine, r.TimeNs
			}
			of[x.rank] = x
		}
	}
	return slices.SortedFunc(maps.Values(of), func(a, b lateRank) int { return cmp.Compare(a.rank, b.rank) })
}

// besideWorkers returns causes of which the one that says that threads wait for late ranks is about what slow workers do not explain, if
// there is evidence of that. What they do is their effect.
func (f trainingFinder) besideWorkers(slow, causes []cause.Cause) []cause.Cause {
	i := slices.IndexFunc(causes, func(c cause.Cause) bool { _, ok := c.Evidence[threadsWait]; return ok && c.Kind == cause.Imbalance })
	if i < 0 {
		return causes
	}
	ranks := f.lateRanks()
	for k := range slow {
		c, waits := &slow[k], int64(0)
		ranks = slices.DeleteFunc(ranks, func(x lateRank) bool {
			theirs := slices.Contains(c.Ranks, x.rank)
			if theirs {
				waits += x.inside + x.outside
			}
			return theirs
		})
		if waits > 0 {
			c.Text += fmt.Sprintf(" Other ranks wait %s for %s in communication.", words.Time(waits), one(c.Ranks, "it", "them"))
			c.Evidence[threadsWait], c.WaitsCausedNs = float64(waits), c.WaitsCausedNs+waits
		}
	}
	for _, c := range slices.Concat(causes[:i], causes[i+1:]) { // where these ranks are slow is another way to say so
		ranks = slices.DeleteFunc(ranks, func(x lateRank) bool {
			return slices.Contains(c.Ranks, x.rank) && 2*c.WaitsCausedNs >= x.inside+x.outside
		})
	}
	return slices.Concat(causes[:i], f.otherLateRanks(ranks), causes[i+1:])
}

// otherLateRanks returns what others than slow workers make ranks wait, as far as there is evidence. Within the steps a rank must compute
// longest more often than by chance: its clock alone says that. Outside of them others must wait longer for it
// than in as many steps for ranks that are not slow, were each the longest.
func (f trainingFinder) otherLateRanks(ranks []lateRank) (out []cause.Cause) {
	processes := max(2, f.a.Trace.Processes)
	least := leastGain * float64(f.run) * float64(processes-1) // ns that others wait
	late := func(x []lateRank, waits int64, when, text string) {
		c := cause.Cause{Kind: cause.Imbalance, WaitsCausedNs: waits, Evidence: map[string]float64{threadsWait: float64(waits)}}
		most := int64(-1)
		for _, r := range x {
			if c.Ranks = append(c.Ranks, r.rank); r.there > most {
				c.SourceLine, most = r.at, r.there
			}
		}
		slices.Sort(c.Ranks)
		c.Headline, c.Text = comesLate(c.Ranks)+when, waitFor(waits, c.Ranks, c.SourceLine, when)+text+workersWait
		out = append(out, c)
	}
	outside := int64(0)
	ranks = slices.DeleteFunc(ranks, func(x lateRank) bool {
		i := slices.IndexFunc(f.t.ByWorker, func(w training.Worker) bool { return uint32(w.Rank) == x.rank && w.OftenLongest })
		if waits := x.inside + x.outside; i >= 0 && float64(waits) >= least {
			w := &f.t.ByWorker[i]
			late([]lateRank{x}, waits, "", fmt.Sprintf("It computes longest in %d of %s in which it is compared. ", w.Longest,
				words.Plural(w.Compared, "step", "steps")))
			return true
		}
		outside += x.outside
		return false
	})
	equal := max(1, f.a.OutsideSteps) * float64(f.a.EqualStepNs)
	slices.SortStableFunc(ranks, func(a, b lateRank) int { return cmp.Compare(b.outside, a.outside) })
	n, sum := 0, int64(0)
	for ; n < len(ranks) && float64(sum) < culprit*float64(outside); n++ {
		sum += ranks[n].outside
	}
	if 2*n <= processes && float64(sum) >= max(least, equal) {
		late(ranks[:n], sum, " outside of steps", "")
	}
	return out
}
