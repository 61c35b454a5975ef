package stats

import (
	"slices"
	"strings"

	"tracekit/trace"
)

// Counters says what the hardware counters counted in useful time: the increments between two
// samples of a thread with nothing but useful time between them. Its totals are those of all
// ranks, their threads together.
type Counters struct {
	CounterTotals
	Ranks []RankCounters `json:"ranks"` // ascending; those whose threads have such samples
}

// RankCounters are the counters of one rank, its threads together.
type RankCounters struct {
	Rank uint32 `json:"rank"`
	CounterTotals
}

// CounterTotals sums counters in useful time. UsefulNs is the part of the useful time in which
// cycles were counted (instructions, if nothing counts cycles), Σ over threads.
type CounterTotals struct {
	UsefulNs     int64    `json:"useful_ns"`
	Instructions *float64 `json:"instructions"` // null: nothing counts them
	Cycles       *float64 `json:"cycles"`
	Rates
	Counters []UsefulCounter `json:"counters"` // in order of their definition
}

// Rates are the quotients of counters by which programs are compared (DEFINITIONS 2.6): nil
// where nothing counts the one or the other.
type Rates struct {
	IPC          *float64 `json:"ipc,omitempty"`           // instructions per cycle
	FrequencyGHz *float64 `json:"frequency_ghz,omitempty"` // cycles per ns in which they were counted
}

// A UsefulCounter is the sum of one counter in useful time, in units of Unit.
type UsefulCounter struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Sum    *float64 `json:"sum"` // null: larger than any number
	TimeNs int64    `json:"time_ns"`
}

// usefulCounters sums the counters of the selected processor threads by rank; nil if none
// counts up in useful time.
func usefulCounters(p *profiler, part *profilePart) *Counters {
	byRank := make([][]counterSum, len(p.t.World))
	var all []counterSum
	for _, l := range part.locations {
		rank := p.t.Rank[l.location]
		if kind := p.t.Defs.Locations[l.location].Kind; int(rank) >= len(byRank) || kind == trace.LocationGPU || !counted(l.counters) {
			continue
		}
		byRank[rank] = mergeCounters(byRank[rank], slices.Clone(l.counters))
		all = mergeCounters(all, slices.Clone(l.counters))
	}
	if all == nil {
		return nil
	}
	c := &Counters{CounterTotals: counterTotals(p, all)}
	for rank, sums := range byRank {
		if sums != nil {
			c.Ranks = append(c.Ranks, RankCounters{uint32(rank), counterTotals(p, sums)})
		}
	}
	return c
}

func counted(sums []counterSum) bool {
	return slices.ContainsFunc(sums, func(c counterSum) bool { return c.samples > 0 })
}

func counterTotals(p *profiler, sums []counterSum) CounterTotals {
	rows := counterRows(p.t.Defs, "useful time", sums, new(trace.Ledger)) // the regions tell what does not fit
	out := CounterTotals{Rates: ratesOf(rows), Counters: make([]UsefulCounter, len(rows))}
	for i, r := range rows {
		out.Counters[i] = UsefulCounter{r.Name, r.Unit, r.Sum, r.TimeNs}
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
	instructionCounters = []string{"PAPI_TOT_INS", "INSTRUCTIONS", "INST_RETIRED", "INSTRUCTIONS_RETIRED", "INSTRUCTION_RETIRED", "RETIRED_INSTRUCTIONS"}
	cycleCounters       = []string{"PAPI_TOT_CYC", "CYCLES", "CPU-CYCLES", "CPU_CYCLES", "CPU_CLK_UNHALTED", "UNHALTED_CORE_CYCLES", "CPU_CLK_THREAD_UNHALTED"}
)

// findCounter returns the first counter that has one of the names, nil if none has. Modifiers
// and descriptions may follow a name; reference cycles are not those of the core.
func findCounter(rows []CounterRow, names []string) *CounterRow {
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
func ratesOf(rows []CounterRow) Rates {
	var r Rates
	instructions, cycles := findCounter(rows, instructionCounters), findCounter(rows, cycleCounters)
	if cycles == nil {
		return r
	}
	if instructions != nil && *cycles.Sum > 0 {
		r.IPC = Known(*instructions.Sum / *cycles.Sum)
	}
	if cycles.TimeNs > 0 {
		r.FrequencyGHz = Known(*cycles.Sum / float64(cycles.TimeNs))
	}
	return r
}
