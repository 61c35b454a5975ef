package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Family is reductions of one kind, from mild to severe: each has fewer records than the
// one before, or as many.
type Family struct {
	Name     string
	Settings int
	Rules    func(setting int) []Rule // setting 0 … Settings-1
}

// Families returns the kinds of reduction that are tried to reach a size.
func Families(t *trace.Trace) []Family {
	first, last := scope.Run(t)
	length := t.Defs.Clock.Nanoseconds(last - first)
	steps := 1 // of short times, each twice as long as the one before
	for ns := int64(shortest); ns < length && steps < 40; ns *= 2 {
		steps++
	}
	ranks := len(t.World)
	return []Family{
		{"idle calls", 1, func(int) []Rule { return []Rule{Idle{}} }},
		{"short calls", steps, func(i int) []Rule { return []Rule{Idle{}, Shorter{Ns: shortest << i}} }},
		{"the middle of the run", windows, func(i int) []Rule {
			half := 0.5 * float64(windows-i) / (windows + 1)
			return []Rule{Window{From: share(0.5 - half), To: share(0.5 + half)}}
		}},
		{"the begin of the run", windows, func(i int) []Rule {
			return []Rule{Window{To: share(float64(windows-i) / (windows + 1))}}
		}},
		{"slowest ranks", ranks - 1, func(i int) []Rule { return []Rule{Slowest{N: ranks - 1 - i}} }},
		{"first ranks", ranks - 1, func(i int) []Rule {
			r := Ranks{What: fmt.Sprintf("ranks 0-%d", ranks-2-i)}
			for rank := range ranks - 1 - i {
				r.Keep = append(r.Keep, uint32(rank))
			}
			return []Rule{r}
		}},
	}
}

const (
	shortest = int64(time.Microsecond) // of the times of short calls that are tried
	windows  = 99                      // lengths of windows that are tried
)

func share(s float64) scope.Instant { return scope.Instant{Kind: scope.Fraction, Share: s} }

// A Try is a reduction that was tried.
type Try struct {
	Family  string   `json:"family"`
	Rules   []string `json:"rules"`
	Records uint64   `json:"records"`
	Fits    bool     `json:"fits"`                   // it has no more records than wanted
	Error   *float64 `json:"error"`                  // of its certificate; null: it does not fit
	Within  *float64 `json:"within_share,omitempty"` // what sums that are estimated from sampled messages stay within in 95 of 100 samples

	rules []Rule
}

// A Verdict is what an analysis of a reduced trace says of the reduction.
type Verdict struct {
	Error   float64  // of its certificate
	Within  *float64 // see Try
	Records uint64   // that were read
}

// Search finds, in each family, the mildest reduction that leaves at most so many records. Of these it takes the one whose certificate has
// the smallest error, which judge tells. Search returns the rules, nil if no family can be that small, and what was tried.
func Search(ctx context.Context, t *trace.Trace, families []Family, most uint64, o Options,
	judge func(context.Context, *Reduction) (Verdict, error)) ([]Rule, []Try, error) {
	var tries []Try
	best := -1
	for _, f := range families {
		x, err := f.search(ctx, t, most, o, judge)
		if err != nil {
			return nil, nil, fmt.Errorf("trying %s: %w", f.Name, err)
		}
		if x == nil {
			continue
		}
		tries = append(tries, *x)
		if x.Fits && (best < 0 || *x.Error < *tries[best].Error) {
			best = len(tries) - 1
		}
	}
	if best < 0 {
		return nil, tries, nil
	}
	return tries[best].rules, tries, nil
}

// search finds the mildest setting that fits by halving, or else tells the severest one.
func (f Family) search(ctx context.Context, t *trace.Trace, most uint64, o Options,
	judge func(context.Context, *Reduction) (Verdict, error)) (*Try, error) {
	var fitting *Reduction
	var last *Try
	low, high := 0, f.Settings // the mildest that fits is in [low, high]
	at := f.Settings - 1       // the severest first: if that does not fit, none does
	for low < high {
		rules := f.Rules(at)
		r, err := Apply(ctx, t, rules, o)
		if err != nil {
			return nil, err
		}
		x := &Try{Family: f.Name, Records: r.After(t), rules: rules}
		for _, c := range r.ByRule {
			x.Rules = append(x.Rules, c.Rule)
		}
		if x.Fits = x.Records <= most; x.Fits {
			if fitting != nil {
				fitting.Cuts.Release()
			}
			fitting, last, high = r, x, at
		} else {
			r.Cuts.Release()
			if low = at + 1; last == nil {
				last = x
			}
		}
		at = (low + high) / 2
	}
	if fitting != nil {
		v, err := judge(ctx, fitting)
		fitting.Cuts.Release()
		if err != nil {
			return nil, err
		}
		last.Error, last.Within, last.Records = &v.Error, v.Within, v.Records
	}
	return last, nil
}

// Idle cuts calls of MPI functions that ask and communicate nothing: tests and probes in
// vain, and questions that a rank answers by itself.
type Idle struct{}

// Name implements Rule.
func (Idle) Name() string { return "calls that communicate nothing" }

// Judge implements CallRule.
func (Idle) Judge(t *trace.Trace, _ trace.LocationID) (Judge, error) {
	return &idle{defs: t.Defs, local: make(map[trace.RegionID]bool)}, nil
}

// idle remembers which functions ask for what a rank knows by itself.
type idle struct {
	defs  *trace.Defs
	local map[trace.RegionID]bool
}

// localFunctions are the functions without a class that never wait: others, such as
// MPI_Comm_split, do, although a trace has no record of what they communicate.
var localFunctions = []string{"MPI_Comm_rank", "MPI_Comm_size", "MPI_Wtime", "MPI_Wtick", "MPI_Initialized", "MPI_Finalized",
	"MPI_Get_count", "MPI_Get_processor_name", "MPI_Cart_coords", "MPI_Cart_rank", "MPI_Cart_shift", "MPI_Cart_get"}

func (x *idle) Cut(c *Call) (bool, error) {
	if !c.MPI || c.Busy {
		return false, nil
	}
	if c.Class != trace.ClassOther {
		return c.Class == trace.ClassTest, nil
	}
	local, known := x.local[c.Region]
	if !known {
		name := x.defs.RegionName(c.Region)
		local = slices.ContainsFunc(localFunctions, func(f string) bool { return strings.EqualFold(f, strings.TrimRight(name, "_")) })
		x.local[c.Region] = local
	}
	return local, nil
}
