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
	"tracekit/stats/waits"
	"tracekit/trace"
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
	c.text = waitFor(caused.row.TotalNs, ranks, most.SourceLine, "") + f.lateThemselves(ranks, caused.row.TotalNs) + workersWait
	return []candidate{c}
}

// lateThemselves says that ranks which make others wait may wait themselves, for messages of which no record tells: for half of what each
// of the others waits, or longer.
func (f *finder) lateThemselves(late []uint32, caused int64) string {
	rankOf, in := f.t.Defs.Ranks(), make(map[trace.RegionID]int64)
	sum, most := int64(0), trace.RegionID(trace.None)
	f.eachIncomplete(func(l trace.LocationID, c *trace.Call, of waits.Lack, known int64) {
		if of == waits.LacksMessage && slices.Contains(late, rankOf[l]) {
			ns, region := f.t.Defs.Clock.Nanoseconds(c.Leave-c.Enter-known), f.t.Tree.Nodes[c.Path].Region
			sum, in[region] = sum+ns, in[region]+ns
			if most == trace.None || in[region] > in[most] {
				most = region
			}
		}
	})
	if sum == 0 || 2*sum*int64(len(f.ranks)-1) < caused {
		return ""
	}
	return fmt.Sprintf("%s may wait in %s before that: who sends is not recorded. ", one(late, "It", "They"), f.t.Defs.RegionLabel(most))
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

// workAt names the place of work in a sentence: the annotation of a step is none, nor is time outside of functions.
func workAt(at field.SourceLine) string {
	if at.Region == field.OutsideRegions {
		return "none of the recorded functions"
	}
	if strings.HasPrefix(string(at.Region), "ProfilerStep#") {
		return "none of the recorded operators"
	}
	return words.Sentence(at)
}
