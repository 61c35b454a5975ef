package tkf

import (
	"math"

	"tracekit/formulae"
)

// A Report is what compressing tells, the document "tracekit.formulae/1".
type Report struct {
	Schema string `json:"schema"`
	Sizes  Sizes  `json:"sizes"`
	// Learned says what was learned of the sequences. In lossless mode it is computed only
	// if Options.Learn asks for it.
	Learned   *formulae.Learned    `json:"learned,omitempty"`
	Unlearned []formulae.Unlearned `json:"unlearned,omitzero"` // what was not, with Learned
	// Unseen counts the events of a trace kept without loss that Learned says nothing of: they
	// have no place in the call trees that formulae are about (formulae.CallTree.Dropped).
	Unseen uint64 `json:"unseen_events,omitempty"`

	Ranks Ranks `json:"ranks"`
	Error Error `json:"error"`

	Exact      *Exact               `json:"exact,omitempty"`      // in stat mode
	Statistics *formulae.StatReport `json:"statistics,omitempty"` // in stat mode
}

// Exact says what of a file in stat mode is as it was recorded, times left out.
type Exact struct {
	Locations int    `json:"locations"` // whose events are kept; of the others there are formulae
	Messages  uint64 `json:"messages"`
	Kept      uint64 `json:"messages_kept"` // sent by these locations, or by constructs that were learned
}

// Sizes are sizes in bytes. Structure is all that is neither times nor definitions: the
// order of events and everything about them.
type Sizes struct {
	Trace       int64  `json:"trace_bytes"`
	File        int64  `json:"tkf_bytes"`
	Structure   int64  `json:"structure_bytes"`
	Times       int64  `json:"times_bytes"`
	Definitions int64  `json:"definitions_bytes"`
	Bound       *int64 `json:"bound_bytes,omitempty"` // in stat mode, computed before: see docs/internals/TKF.md
}

// Ranks says how many locations there are and how many different sequences of events.
type Ranks struct {
	RankClasses int `json:"rank_classes"`
	Ranks       int `json:"ranks"`
}

// Error is the error of times that was made.
type Error struct {
	Time TimeErrors `json:"time_error_ns"`
}

// TimeErrors are the largest and the mean error over all events, in ns.
type TimeErrors struct {
	Max  int64   `json:"max"`
	Mean float64 `json:"mean"`
}

// report begins a report with what the sections tell.
func (c *compressor) report(s *sectionWriter) *Report {
	r := &Report{Schema: "tracekit.formulae/1"}
	r.Sizes = Sizes{Trace: c.src.Info().Bytes, File: s.total, Structure: s.bytes[sectionStructure] + s.bytes[sectionClasses],
		Definitions: s.bytes[sectionDefinitions], Times: s.bytes[sectionEvents] + s.bytes[sectionTimes]}
	r.Ranks.Ranks = len(c.src.Defs().Locations)
	return r
}

// addParts adds what the locations tell.
func (r *Report) addParts(resolution uint64, parts []*coded) {
	var events, sum, worst uint64
	for _, p := range parts {
		r.Sizes.Times -= p.sizes.values
		r.Sizes.Structure += p.sizes.values
		events += p.count
		r.Unseen += p.unseen
		sum += p.clock.sum
		worst = max(worst, p.clock.worst)
	}
	ns := 1e9 / float64(resolution)
	r.Error.Time.Max = int64(math.Ceil(float64(worst) * ns))
	if events > 0 {
		r.Error.Time.Mean = float64(sum) * ns / float64(events)
	}
}
