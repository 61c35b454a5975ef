package sampling

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Strategy says how a rank decides, at each send, whether to sample the message.
type Strategy byte

// The strategies, by their letters in names.
const (
	Original   Strategy = 'O' // nothing is in place: ORIG
	Unprofiled Strategy = 'N' // messages carry what sampling needs, but nobody decides: NOPROF

	Random  Strategy = 'P' // sample if u <= T, u uniform in (0, 1]
	Counter Strategy = 'C' // sample when the number of sends since the last sample exceeds a target drawn from P ± V
	Timer   Strategy = 'T' // sample when the time since the last send, or sample, exceeds a target drawn from P ± V
)

// An Analysis says what becomes of sampled messages.
type Analysis uint8

// The analyses.
const (
	Stat  Analysis = iota // count, total, minimum and maximum of the latencies of a category
	Freq                  // counts of latencies by decade
	Write                 // the sampled records themselves
	Off                   // nothing: it is decided, and that is all
)

var analysisNames = [...]string{"STAT", "FREQ", "WRITE", "OFF"}

// plain are the names of configurations that sample nothing.
var plain = map[string]Strategy{"ORIG": Original, "NOPROF": Unprofiled}

// String returns the name in the paper's spelling.
func (a Analysis) String() string { return analysisNames[a] }

// ParseAnalysis reads the name of an analysis, in upper or lower case.
func ParseAnalysis(s string) (Analysis, error) {
	for a, name := range analysisNames {
		if strings.EqualFold(s, name) {
			return Analysis(a), nil
		}
	}
	return 0, fmt.Errorf("unknown analysis %q; want STAT, FREQ, WRITE or OFF", s)
}

// A Config is one way to sample.
//
//	0 <= Threshold <= 1 if random; 0 otherwise
//	0 <= Variance <= Period <= maxPeriod, in messages (counter) or ns (timer); 0 if random
type Config struct {
	Strategy    Strategy
	Threshold   float64 // T of random sampling
	Period      int64   // P
	Variance    int64   // V: targets are uniform in P-V … P+V
	Seed        uint64
	SinceSample bool // timers: time since the last sample, not since the last send
	Analysis    Analysis
}

// maxPeriod bounds periods: in ns it is 13 days.
const maxPeriod = 1 << 50

// Defaults are what a name of a configuration leaves open.
type Defaults struct {
	Variance    string // in the unit of the period, or as a share of it such as "50%"; "": 0
	Seed        uint64
	SinceSample bool
}

// DefaultSeed is the seed that names do not mention.
const DefaultSeed = 1

// Parse reads the name of a configuration: strategy, parameter and analysis as in the paper
// (P-0.01-FREQ, C-256-STAT, T-0.001-WRITE, P-0-OFF, ORIG, NOPROF; timers in seconds). Before the analysis may stand
// V and the variance, S and the seed, and the word SAMPLE for a timer since the last sample:
// C-256-V32-S7-STAT.
func Parse(name string, d Defaults) (Config, error) {
	c := Config{Seed: d.Seed}
	fail := func(format string, args ...any) (Config, error) {
		return Config{}, fmt.Errorf("configuration %q: %s; names are such as P-0.01-FREQ, C-256-V32-STAT, T-0.001-WRITE, P-0-OFF, NOPROF, ORIG",
			name, fmt.Sprintf(format, args...))
	}
	if s, ok := plain[strings.ToUpper(name)]; ok {
		return Config{Strategy: s, Analysis: Off, Seed: DefaultSeed}, nil
	}
	words := strings.Split(strings.ToUpper(name), "-")
	if len(words) < 3 || len(words[0]) != 1 {
		return fail("want a strategy P, C or T, its parameter, and an analysis")
	}
	c.Strategy = Strategy(words[0][0])
	var err error
	switch c.Strategy {
	case Random:
		if c.Threshold, err = number(words[1]); err != nil || c.Threshold > 1 {
			return fail("%q is not a threshold from 0 to 1", words[1])
		}
	case Counter, Timer:
		if c.Period, err = c.amount(words[1]); err != nil {
			return fail("period: %v", err)
		}
		c.SinceSample = d.SinceSample && c.Strategy == Timer
	default:
		return fail("there is no strategy %s", words[0])
	}
	if c.Analysis, err = ParseAnalysis(words[len(words)-1]); err != nil {
		return fail("%v", err)
	}
	variance := d.Variance
	for _, w := range words[2 : len(words)-1] {
		switch {
		case w == "SAMPLE" && c.Strategy == Timer:
			c.SinceSample = true
		case len(w) > 1 && w[0] == 'V' && c.Strategy != Random:
			variance = w[1:]
		case strings.HasPrefix(w, "S"):
			if c.Seed, err = strconv.ParseUint(w[1:], 10, 64); err != nil {
				return fail("%q is not a seed", w[1:])
			}
		default:
			return fail("%q is not understood", w)
		}
	}
	if c.Strategy != Random && variance != "" {
		if c.Variance, err = c.spread(variance); err != nil {
			return fail("variance: %v", err)
		}
	}
	return c, nil
}

// number reads digits with a point, and nothing else that stands for a number.
func number(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	return strconv.ParseFloat(s, 64)
}

// amount reads a period or a variance in the unit of the strategy.
func (c *Config) amount(s string) (int64, error) {
	v, err := number(s)
	if err != nil {
		return 0, err
	}
	if c.Strategy == Timer {
		v *= 1e9
	} else if v != math.Trunc(v) {
		return 0, fmt.Errorf("%q is not a number of messages", s)
	}
	if v > maxPeriod {
		return 0, fmt.Errorf("%s is too long", s)
	}
	return int64(math.Round(v)), nil
}

// spread reads a variance, which may be a share of the period.
func (c *Config) spread(s string) (v int64, err error) {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := number(share)
		if err != nil || x > 100 {
			return 0, fmt.Errorf("%q is not a share of the period", s)
		}
		return min(int64(math.Round(x/100*float64(c.Period))), c.Period), nil
	}
	if v, err = c.amount(s); err == nil && v > c.Period {
		err = fmt.Errorf("%s is more than the period", s)
	}
	return v, err
}

// String returns the name: Parse of it gives the same configuration.
func (c Config) String() string {
	for name, s := range plain {
		if c.Strategy == s {
			return name
		}
	}
	unit := func(v int64) string {
		if c.Strategy == Timer {
			return strconv.FormatFloat(float64(v)/1e9, 'f', -1, 64)
		}
		return strconv.FormatInt(v, 10)
	}
	words := []string{string(c.Strategy)}
	if c.Strategy == Random {
		words = append(words, strconv.FormatFloat(c.Threshold, 'f', -1, 64))
	} else {
		words = append(words, unit(c.Period))
		if c.Variance > 0 {
			words = append(words, "V"+unit(c.Variance))
		}
		if c.SinceSample {
			words = append(words, "SAMPLE")
		}
	}
	if c.Seed != DefaultSeed {
		words = append(words, "S"+strconv.FormatUint(c.Seed, 10))
	}
	return strings.Join(append(words, c.Analysis.String()), "-")
}

// share returns the probability with which a message is sampled in the long run: T, or one over
// the mean interval of a counter, which is one more than its mean target. ok is false for timers,
// which have none.
func (c *Config) share() (share float64, ok bool) {
	switch c.Strategy {
	case Random:
		return c.Threshold, true
	case Counter:
		return 1 / float64(c.Period+1), true
	case Original, Unprofiled:
		return 0, true
	}
	return 0, false
}
