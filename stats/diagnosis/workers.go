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
		caused.addCost(*row)
		if row.Operation == "" && row.Region != field.NotRecorded && (most == nil || row.TotalNs > most.TotalNs) {
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
	c.cause.Headline = fmt.Sprintf("%s %s late to communication", words.Capital(fewRanks(ranks)), one(ranks, "comes", "come"))
	where := words.Sentence(most.SourceLine)
	if strings.HasPrefix(string(most.Region), "ProfilerStep#") {
		where = "none of the recorded operators"
	}
	c.text = fmt.Sprintf("Other ranks wait %s for %s, mostly while %s in %s. Worker threads communicate, and no "+
		"record says when their ranks wait for them.", words.Time(caused.row.TotalNs), words.Ranks(ranks),
		one(ranks, "it is", "they are"), where)
	return []candidate{c}
}
