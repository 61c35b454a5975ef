package diagnosis

import (
	"fmt"
	"strings"

	"tracekit/stats"
)

// gains says what mending a cause would gain, and what is to be said of it.
func (f *finder) gains(c candidate, gain int64, share float64) string {
	text := fmt.Sprintf(" %s, the run would take %s (%.1f %%) less.", c.mended, length(gain), 100*share)
	if clock := f.a.Clock; clock.Method != "none" && c.cause.WaitsCausedNs > 0 && c.cause.WaitsCausedNs < clock.MaxViolationNs {
		text += fmt.Sprintf(" The clocks leave open more than these waits: they disagreed by up to %s.", length(clock.MaxViolationNs))
	}
	return text
}

// length returns a time for people, three digits.
func length(ns int64) string {
	x, unit := float64(ns), "ns"
	for _, larger := range []struct {
		unit   string
		factor float64
	}{{"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}} {
		if float64(ns) >= 0.9995*larger.factor {
			x, unit = float64(ns)/larger.factor, larger.unit
		}
	}
	switch {
	case unit == "ns" || x >= 99.95:
		return fmt.Sprintf("%.0f %s", x, unit)
	case x >= 9.995:
		return fmt.Sprintf("%.1f %s", x, unit)
	}
	return fmt.Sprintf("%.2f %s", x, unit)
}

// placeText names a place outside MPI.
func placeText(s stats.SourceLine) string {
	if s.File == "" {
		return string(s.Region)
	}
	if s.Line == 0 {
		return fmt.Sprintf("%s (%s)", s.Region, s.File)
	}
	return fmt.Sprintf("%s (%s:%d)", s.Region, s.File, s.Line)
}

// calledAt names an operation and, if that is known, from where it is called.
func calledAt(operation string, s stats.SourceLine) string {
	switch {
	case s.Region == "" && s.File == "":
		return operation
	case s.Region == "":
		return fmt.Sprintf("%s at %s:%d", operation, s.File, s.Line)
	}
	return operation + " in " + placeText(s)
}

// factor says how many times as long something takes.
func factor(x float64) string {
	if x < 1.995 {
		return fmt.Sprintf("%.2f times", x)
	}
	return fmt.Sprintf("%.1f times", x)
}

// ranksText names ranks: "rank 3", "ranks 0, 4 to 7 and 12".
func ranksText(ranks []uint32) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		switch {
		case k == i:
			parts = append(parts, fmt.Sprint(ranks[i]))
		case k == i+1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[k]))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", ranks[i], ranks[k]))
		}
		i = k + 1
	}
	text := strings.Join(parts, ", ")
	if n := len(parts) - 1; n > 0 {
		text = strings.Join(parts[:n], ", ") + " and " + parts[n]
	}
	return one(ranks, "rank ", "ranks ") + text
}

// one chooses a word by whether it is about one rank.
func one(ranks []uint32, singular, plural string) string {
	if len(ranks) == 1 {
		return singular
	}
	return plural
}

// capital makes the first letter of a text large.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
