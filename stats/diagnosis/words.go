package diagnosis

import (
	"cmp"
	"fmt"

	"tracekit/document/field"
	"tracekit/document/words"
)

// shorter says what a change would gain.
func shorter(change string, gain int64, share float64) string {
	return fmt.Sprintf("%s, the run would be %s (%.1f %%) shorter.", change, words.Time(gain), 100*share)
}

// gains says what mending a cause would gain, and what is to be said of it.
func (f *finder) gains(c candidate, gain int64, share float64) string {
	text := shorter(c.mended, gain, share)
	if clock := f.a.Clock; clock.Method != "none" && c.cause.WaitsCausedNs > 0 && c.cause.WaitsCausedNs < clock.MaxViolationNs {
		text += fmt.Sprintf(" The clocks disagreed by up to %s, more than these waits.", words.Time(clock.MaxViolationNs))
	}
	return text
}

// mostCallers is how many callers a sentence names.
const mostCallers = 3

// mostPlaces is how many places of slow calls a sentence names.
const mostPlaces = 3

// calledFrom says which callers a place has, if those are not all.
func calledFrom(callers []field.Site) string {
	var names []string
	for _, c := range callers {
		if len(names) == mostCallers {
			names = append(names, fmt.Sprintf("%d more", len(callers)-mostCallers))
			break
		}
		names = append(names, cmp.Or(words.Sentence(c.SourceLine), field.OutsideRegions))
	}
	if names == nil {
		return ""
	}
	return " It is called from " + words.List(names) + "."
}

// factor says how many times as long something takes.
func factor(x float64) string {
	if x < 1.995 {
		return fmt.Sprintf("%.2f times", x)
	}
	return fmt.Sprintf("%.1f times", x)
}

// fewest is how many ranks a headline names.
const fewest = 3

// fewRanks names ranks, or says how many there are.
func fewRanks(ranks []uint32) string {
	if len(ranks) > fewest {
		return fmt.Sprintf("%d ranks", len(ranks))
	}
	return words.Ranks(ranks)
}

// one chooses a word by whether it is about one rank.
func one(ranks []uint32, singular, plural string) string {
	if len(ranks) == 1 {
		return singular
	}
	return plural
}
