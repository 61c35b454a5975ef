package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
)

// workers judges that threads which communicate for their ranks wait for others. When a rank's master waits for such a thread is not
// recorded, so that the replay cannot say what mending it gains.
func (f *finder) workers() []candidate {
	if f.a.Efficiency == nil || f.a.Efficiency.WorkerThreads == nil {
		return nil
	}
	waited := f.a.Efficiency.WorkerThreads.WaitNs
	var most *waitstate.Delay
	var caused place
	for i := range f.a.Delays {
		row := &f.a.Delays[i]
		if row.Region == field.NotRecorded { // that ranks begin late is another cause
			continue
		}
		caused.addCost(*row)
		if row.Operation == "" && (most == nil || row.TotalNs > most.TotalNs) {
			most = row
		}
	}
	if waited == 0 || most == nil || 2*waited < caused.row.TotalNs {
		return nil
	}
	slices.SortFunc(caused.row.Ranks, func(a, b field.RankTime) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Rank, b.Rank))
	})
	ranks := culprits(caused.row)
	c := f.candidate(caused.row, ranks, waited/int64(len(f.ranks)))
	c.cause.Kind, c.cause.SourceLine = cause.Imbalance, most.SourceLine
	c.cause.Evidence = map[string]float64{"worker_wait_ns": float64(waited)}
	if all := len(f.ranks); 2*len(ranks) > all && all > 2 {
		c.cause.Ranks, c.cause.Headline = []uint32{}, "A different rank comes late to communication each time"
		c.text = fmt.Sprintf("Ranks wait %s for each other, mostly while one is in %s. %s", words.Time(caused.row.TotalNs),
			workAt(most.SourceLine), workersWait)
		return []candidate{c}
	}
	c.cause.Headline = comesLate(ranks)
	c.text = waitFor(caused.row.TotalNs, ranks, most.SourceLine, "") + workersWait
	return []candidate{c}
}

// workersWait says why the gain is not known.
const workersWait = "Worker threads communicate, and no record says when their ranks wait for them."

// comesLate is the headline of ranks that others wait for.
func comesLate(ranks []uint32) string {
	return fmt.Sprintf("%s %s late to communication", words.Capital(fewRanks(ranks)), one(ranks, "comes", "come"))
}

// waitFor says how long others wait for ranks, where these are most of the time, and when.
func waitFor(ns int64, ranks []uint32, most field.SourceLine, when string) string {
	return fmt.Sprintf("Other ranks wait %s for %s%s, mostly while %s in %s. ", words.Time(ns), words.Ranks(ranks), when,
		one(ranks, "it is", "they are"), workAt(most))
}

// workAt names the place of work in a sentence: the annotation of a step is none.
func workAt(at field.SourceLine) string {
	if strings.HasPrefix(string(at.Region), "ProfilerStep#") {
		return "none of the recorded operators"
	}
	return words.Sentence(at)
}
