package scope

import (
	"math"

	"tracekit/stats/numbers"
)

// An Instant is a point of the run: Ns nanoseconds after the first event of the trace or,
// if Kind is Fraction, Share of the run time.
type Instant struct {
	Kind  InstantKind
	Ns    int64
	Share float64 // 0 to 1
}

// An InstantKind says how an Instant is given.
type InstantKind uint8

// The kinds of instant.
const (
	Unset    InstantKind = iota // the start for From, the end for To
	AfterNs                     // Ns after the first event
	Fraction                    // Share of the run time
)

// Resolve returns the tick of an instant, which lies in [first, last].
func (i Instant) Resolve(r numbers.Rate, first, last int64) int64 {
	at := first
	switch i.Kind {
	case AfterNs:
		at = first + min(r.Ticks(i.Ns), last-first)
	case Fraction:
		at = first + int64(math.Round(min(max(i.Share, 0), 1)*float64(last-first)))
	}
	return min(at, last)
}

// At returns the instant in ns after the first event of a run of the given length, or
// unset if the instant is.
func (i Instant) At(length, unset int64) int64 {
	switch i.Kind {
	case AfterNs:
		return i.Ns
	case Fraction:
		return int64(min(max(i.Share, 0), 1) * float64(length))
	}
	return unset
}
