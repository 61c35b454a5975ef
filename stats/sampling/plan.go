package sampling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/trace"
)

// A Goal is what a plan must reach: at most so large an error of one or all of the estimates.
type Goal struct {
	Of    string // error (the largest of all), messages, bytes or latency
	Limit float64
}

// ParseGoal reads a goal such as error<5% or latency<0.02.
func ParseGoal(s string) (Goal, error) {
	of, limit, ok := strings.Cut(strings.ReplaceAll(s, " ", ""), "<")
	g := Goal{Of: of}
	text, percent := strings.CutSuffix(strings.TrimPrefix(limit, "="), "%")
	v, err := number(text)
	if percent {
		v /= 100
	}
	if g.Limit = v; !ok || err != nil || v <= 0 || !slices.Contains(goals(), of) {
		return g, fmt.Errorf("plan %q: want one of %s, and how large its error may be, such as error<5%%", s, strings.Join(goals(), ", "))
	}
	return g, nil
}

func goals() []string { return []string{"error", "messages", "bytes", "latency"} }

// A Plan is what configurations of a grid cost and how wrong they are on this trace.
type Plan struct {
	Goal   string    `json:"goal"`
	Seeds  int       `json:"seeds"`  // that each configuration was tried with
	Chosen string    `json:"chosen"` // "": none reaches the goal
	Rows   []PlanRow `json:"rows"`   // the cheapest first
}

// A PlanRow is one configuration of the grid. Errors are relative, in absolute value, and those that 19
// of 20 seeds stay within; null: some seeds sample nothing.
type PlanRow struct {
	Configuration string   `json:"configuration"`
	CostUs        float64  `json:"cost_us"` // of a small message, mean over the seeds
	Share         float64  `json:"share"`   // of messages that are sampled, likewise
	Messages      *float64 `json:"messages_error"`
	Bytes         *float64 `json:"bytes_error"`
	Latency       *float64 `json:"latency_error"`
	Reaches       bool     `json:"reaches"`
}

// planSeeds is the number of seeds that each configuration is tried with.
const planSeeds = 20

// Grid returns the configurations that a plan tries: random sampling of 0.01 % to all messages,
// counters of 2 to 10,000 messages with targets of half to one and a half times the period, and
// timers of 1 µs to 100 ms likewise, each about three times the one before.
func Grid(a Analysis) (list []Config) {
	for _, t := range []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1} {
		list = append(list, Config{Strategy: Random, Threshold: t, Analysis: a})
	}
	for p := int64(10_000); p > 1; p = p * 3 / 10 {
		list = append(list, Config{Strategy: Counter, Period: p, Variance: p / 2, Analysis: a})
	}
	for p := int64(100_000_000); p >= 1000; p = p / 10 {
		list = append(list, Config{Strategy: Timer, Period: p, Variance: p / 2, Analysis: a}, Config{Strategy: Timer, Period: p * 3 / 10, Variance: p * 3 / 20, Analysis: a})
	}
	for i := range list {
		list[i].Seed = DefaultSeed
	}
	return list
}

// MakePlan tries a grid of configurations on a trace, all of them in one pass, and chooses
// the cheapest that reaches the goal. Memory is that of (ranks × grid × seeds) samplers.
func MakePlan(ctx context.Context, t *trace.Trace, goal Goal, grid []Config, opts Options) (*Plan, error) {
	var configs []Config
	for _, c := range grid {
		for s := range uint64(planSeeds) {
			c.Seed = DefaultSeed + s
			configs = append(configs, c)
		}
		if c.Analysis == Write { // costs are asked for, not records
			return nil, fmt.Errorf("a plan is of STAT or FREQ")
		}
	}
	opts.totals, opts.Analysis = true, nil
	r, err := pass(ctx, t, configs, opts)
	if err != nil {
		return nil, err
	}
	p := &Plan{Goal: fmt.Sprintf("%s<%g%%", goal.Of, 100*goal.Limit), Seeds: planSeeds}
	for i := range grid {
		p.Rows = append(p.Rows, r.planRow(goal, &grid[i], i*planSeeds))
	}
	slices.SortStableFunc(p.Rows, func(a, b PlanRow) int { return cmp.Compare(a.CostUs, b.CostUs) })
	for _, row := range p.Rows {
		if row.Reaches && p.Chosen == "" {
			p.Chosen = row.Configuration
		}
	}
	return p, nil
}

// planRow judges a configuration by its seeds, which begin at one of the run's.
func (r *run) planRow(goal Goal, c *Config, first int) PlanRow {
	population := r.sumsOf(len(r.configs))
	truth := [3]float64{float64(population.Messages), float64(population.Bytes.sum), float64(population.Latency.sum)}
	var errors [4][]float64
	row := PlanRow{Configuration: c.String()}
	var messages, small uint64 // sampled with all seeds
	for k := first; k < first+planSeeds; k++ {
		w, sampled, worst := weigh(r, k), r.sumsOf(k), 0.0
		for i, e := range []estimate{w.messages(), w.bytes(), w.latency()} {
			x := math.Abs(e.value - truth[i])
			switch {
			case sampled.Messages == 0 || math.IsNaN(x):
				x = math.Inf(1)
			case x > 0:
				x /= math.Abs(truth[i])
			}
			errors[i], worst = append(errors[i], x), max(worst, x)
		}
		errors[3] = append(errors[3], worst)
		messages, small = messages+sampled.Messages, small+sampled.Messages-sampled.Large
	}
	if all := float64(planSeeds * population.Messages); all > 0 {
		row.Share = float64(messages) / all
	}
	if all := float64(planSeeds * (population.Messages - population.Large)); all > 0 {
		row.CostUs = r.opts.Cost.message(c.Analysis, float64(small)/all) / 1000
	}
	var at [4]float64
	for i := range errors {
		slices.Sort(errors[i])
		at[i] = errors[i][planSeeds*19/20-1]
	}
	row.Messages, row.Bytes, row.Latency = known(at[0]), known(at[1]), known(at[2])
	row.Reaches = at[(slices.Index(goals(), goal.Of)+3)%4] < goal.Limit
	return row
}
