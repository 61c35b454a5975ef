package sampling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tracekit/stats/measurement"
	"tracekit/stats/numbers"
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

// Grid returns the configurations that a plan tries: random sampling of 0.01 % to all messages; counters of 2 to 10,000 messages with
// targets of half to one and a half times the period; timers of 1 µs to 100 ms likewise. Each is about three times the one before.
func Grid(a Analysis) (list []Config) {
	for _, t := range []float64{0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1} {
		list = append(list, Config{Strategy: Random, Threshold: t, Analysis: a})
	}
	for p := int64(10_000); p > 1; p = p * 3 / 10 {
		list = append(list, Config{Strategy: Counter, Period: p, Variance: p / 2, Analysis: a})
	}
	for p := int64(100_000_000); p >= 1000; p = p / 10 {
		list = append(list, Config{Strategy: Timer, Period: p, Variance: p / 2, Analysis: a},
			Config{Strategy: Timer, Period: p * 3 / 10, Variance: p * 3 / 20, Analysis: a})
	}
	for i := range list {
		list[i].Seed = DefaultSeed
	}
	return list
}

// mostSamplers bounds the samplers of all ranks that a pass of a plan has at a time.
const mostSamplers = 1 << 20

// MakePlan tries a grid of configurations on a trace and chooses the cheapest that reaches the goal.
// All are tried in one pass, or in several if there are many ranks.
func MakePlan(ctx context.Context, t *trace.Trace, goal Goal, grid []Config, opts Options) (*Plan, error) {
	var configs []Config
	for _, c := range grid {
		for s := range uint64(planSeeds) {
			c.Seed = DefaultSeed + s
			configs = append(configs, c)
		}
		if c.Analysis == Write { // costs are asked for, not records
			return nil, fmt.Errorf("plans exist for STAT and FREQ only")
		}
	}
	opts.totals, opts.Analysis = true, nil
	var trials []trial
	for some := range slices.Chunk(configs, max(1, mostSamplers/max(1, len(t.Sends)))) {
		r, err := pass(ctx, t, some, opts)
		if err != nil {
			return nil, err
		}
		for k := range some {
			trials = append(trials, r.try(k))
		}
	}
	p := &Plan{Goal: fmt.Sprintf("%s<%g%%", goal.Of, 100*goal.Limit), Seeds: planSeeds}
	for i, c := range grid {
		p.Rows = append(p.Rows, planRow(goal, &c, trials[i*planSeeds:][:planSeeds], &opts.Cost))
	}
	slices.SortStableFunc(p.Rows, func(a, b PlanRow) int { return cmp.Compare(a.CostUs, b.CostUs) })
	for _, row := range p.Rows {
		if row.Reaches && p.Chosen == "" {
			p.Chosen = row.Configuration
		}
	}
	return p, nil
}

// A trial is what came of one seed of a configuration.
type trial struct {
	errors              [4]float64 // as in goals, relative; +Inf: nothing was sampled
	signed              [4]float64 // of messages, bytes, latency and latency where ranks count their sends, with their signs
	given, held         [4]bool    // there is an interval; the truth lies in it
	population, sampled Sums
}

// try judges a configuration of a run.
func (r *run) try(k int) trial {
	x := trial{population: r.sumsOf(len(r.configs)), sampled: r.sumsOf(k)}
	truth := [3]float64{float64(x.population.Messages), float64(x.population.Bytes.sum), float64(x.population.Latency.sum)}
	w := weigh(r, k)
	for i, e := range []estimate{w.messages(), w.bytes(), w.latency()} {
		x.judge(i, e, truth[i])
		if x.errors[i+1] = math.Abs(x.signed[i]); x.sampled.Messages == 0 || math.IsNaN(e.value) {
			x.errors[i+1] = math.Inf(1)
		}
	}
	x.judge(3, weighCounted(r, k).latency(), truth[2])
	x.errors[0] = max(x.errors[1], x.errors[2], x.errors[3])
	return x
}

// judge compares an estimate with the truth.
func (x *trial) judge(i int, e estimate, truth float64) {
	slack := 1e-9 * truth
	if x.signed[i] = relative(e.value, truth); e.value == truth {
		x.signed[i] = 0
	}
	x.given[i] = !math.IsNaN(e.low) && !math.IsNaN(e.high)
	x.held[i] = x.given[i] && e.low-slack <= truth && truth <= e.high+slack
}

// planRow judges a configuration by its trials.
func planRow(goal Goal, c *Config, trials []trial, cost *measurement.Costs) PlanRow {
	row := PlanRow{Configuration: c.String()}
	var messages, small, allMessages, allSmall uint64
	for _, x := range trials {
		messages, allMessages = messages+x.sampled.Messages, allMessages+x.population.Messages
		small, allSmall = small+x.sampled.Messages-x.sampled.Large, allSmall+x.population.Messages-x.population.Large
	}
	if allMessages > 0 {
		row.Share = float64(messages) / float64(allMessages)
	}
	if allSmall > 0 {
		row.CostUs = c.message(cost, float64(small)/float64(allSmall)) / 1000
	}
	within := func(of int) float64 {
		errors := make([]float64, len(trials))
		for i, x := range trials {
			errors[i] = x.errors[of]
		}
		slices.Sort(errors)
		return errors[len(errors)*19/20-1]
	}
	row.Messages, row.Bytes, row.Latency = numbers.Known(within(1)), numbers.Known(within(2)), numbers.Known(within(3))
	row.Reaches = within(slices.Index(goals(), goal.Of)) < goal.Limit
	return row
}
