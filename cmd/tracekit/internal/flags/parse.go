package flags

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"tracekit/stats/scope"
)

// ParseRanks reads a list such as "0-3,8"; nil means all ranks.
func ParseRanks(s string) ([]uint32, error) {
	if s == "" {
		return nil, nil
	}
	var out []uint32
	for _, part := range strings.Split(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.ParseUint(first, 10, 31)
		b := a
		if err == nil && isRange {
			b, err = strconv.ParseUint(last, 10, 31)
		}
		if err != nil || b < a {
			return nil, errors.New("want ranks and ranges such as 0-3,8")
		}
		if b-a > 1<<24 {
			return nil, errors.New("more than 2^24 ranks in one range")
		}
		for r := a; r <= b; r++ {
			out = append(out, uint32(r))
		}
	}
	return out, nil
}

// ParseInstant reads "1.5s", "200ms" or "10%"; an empty text is the unset instant.
func ParseInstant(s string) (scope.Instant, error) {
	if s == "" {
		return scope.Instant{}, nil
	}
	if p, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > 100 {
			return scope.Instant{}, errors.New("want 0% to 100%")
		}
		return scope.Instant{Kind: scope.Fraction, Share: v / 100}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return scope.Instant{}, errors.New("want a time from the start such as 1.5s or 200ms, or a share of the run such as 10%")
	}
	return scope.Instant{Kind: scope.AfterNs, Ns: d.Nanoseconds()}, nil
}

// Window reads a duration above zero in whole ns; an empty text is 0.
func Window() Kind[int64] {
	return Parsed(func(s string) (int64, error) {
		if s == "" {
			return 0, nil
		}
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 {
			return 0, errors.New("want a duration such as 100ns")
		}
		return d.Nanoseconds(), nil
	})
}

// ParseSize reads a number of bytes such as 512MiB, 2G or 1000000.
func ParseSize(s string) (int64, error) {
	units := []struct {
		suffix string
		factor float64
	}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
		{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
		{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40}, {"b", 1}}
	text, factor := strings.ToLower(strings.TrimSpace(s)), 1.0
	for _, u := range units {
		if t, ok := strings.CutSuffix(text, u.suffix); ok {
			text, factor = t, u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || v < 0 || v*factor > 1<<60 {
		return 0, errors.New("want a size such as 512MiB or 2G")
	}
	return int64(v * factor), nil
}
