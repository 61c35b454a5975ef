package profile

import (
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/counter"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// UsefulCounters sums the counters of the selected processor threads by rank; nil if none
// counts up in useful time.
func UsefulCounters(p *Profiler, part *Part) *counter.Useful {
	byRank := make([][]counterSum, len(p.T.World))
	var all []counterSum
	for _, l := range part.Locations {
		rank := p.T.Rank[l.Location]
		if kind := p.T.Defs.Locations[l.Location].Kind; int(rank) >= len(byRank) || kind == trace.LocationGPU || !counted(l.counters) {
			continue
		}
		byRank[rank] = mergeCounters(byRank[rank], slices.Clone(l.counters))
		all = mergeCounters(all, slices.Clone(l.counters))
	}
	if all == nil {
		return nil
	}
	c := &counter.Useful{Totals: counterTotals(p, all)}
	for rank, sums := range byRank {
		if sums != nil {
			c.Ranks = append(c.Ranks, counter.OfRank{Rank: uint32(rank), Totals: counterTotals(p, sums)})
		}
	}
	return c
}

func counted(sums []counterSum) bool {
	return slices.ContainsFunc(sums, func(c counterSum) bool { return c.samples > 0 })
}

func counterTotals(p *Profiler, sums []counterSum) counter.Totals {
	rows := CounterRows(p.T.Defs, "useful time", sums, new(trace.Ledger)) // the regions tell what does not fit
	out := counter.Totals{Rates: ratesOf(rows), Counters: make([]counter.Sum, len(rows))}
	for i, r := range rows {
		out.Counters[i] = counter.Sum{Name: r.Name, Unit: r.Unit, Sum: r.Sum, TimeNs: r.TimeNs}
	}
	if instructions := findCounter(rows, instructionCounters); instructions != nil {
		out.Instructions, out.UsefulNs = instructions.Sum, instructions.TimeNs
	}
	if cycles := findCounter(rows, cycleCounters); cycles != nil {
		out.Cycles, out.UsefulNs = cycles.Sum, cycles.TimeNs
	}
	return out
}

// The counters of instructions and of cycles of a core, as PAPI, perf and processors name
// them.
var (
	instructionCounters = []string{"PAPI_TOT_INS", "INSTRUCTIONS", "INST_RETIRED", "INSTRUCTIONS_RETIRED", "INSTRUCTION_RETIRED",
		"RETIRED_INSTRUCTIONS"}
	cycleCounters = []string{"PAPI_TOT_CYC", "CYCLES", "CPU-CYCLES", "CPU_CYCLES", "CPU_CLK_UNHALTED", "UNHALTED_CORE_CYCLES",
		"CPU_CLK_THREAD_UNHALTED"}
)

// findCounter returns the first counter that has one of the names, nil if none has. Modifiers
// and descriptions may follow a name; reference cycles are not those of the core.
func findCounter(rows []document.CounterRow, names []string) *document.CounterRow {
	for i := range rows {
		name := strings.ToUpper(strings.TrimPrefix(rows[i].Name, "perf::"))
		name, _, _ = strings.Cut(name, " ")
		name, modifier, _ := strings.Cut(name, ":")
		if slices.Contains(names, name) && !strings.Contains(modifier, "REF") && rows[i].Sum != nil {
			return &rows[i]
		}
	}
	return nil
}

// ratesOf makes the quotients of the counters of a row.
func ratesOf(rows []document.CounterRow) counter.Rates {
	var r counter.Rates
	instructions, cycles := findCounter(rows, instructionCounters), findCounter(rows, cycleCounters)
	if cycles == nil {
		return r
	}
	if instructions != nil && *cycles.Sum > 0 {
		r.IPC = numbers.Known(*instructions.Sum / *cycles.Sum)
	}
	if cycles.TimeNs > 0 {
		r.FrequencyGHz = numbers.Known(*cycles.Sum / float64(cycles.TimeNs))
	}
	return r
}
