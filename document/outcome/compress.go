package outcome

import (
	"tracekit/document"
	"tracekit/formulae"
	"tracekit/formulae/tkf"
)

// A Compress is the report of compressing, and what is wrong with the trace. It has the learned share against the memory allowed if that
// was asked for.
type Compress struct {
	*tkf.Report
	Rebuilt  *document.Rebuilt    `json:"rebuilt"` // null: what was compressed was recorded
	ByMemory []formulae.MemoryRow `json:"learned_by_memory,omitempty"`
	Findings []document.Finding   `json:"findings"` // of reading
}

// A CallTrees is the annotated call tree: the paper's table 4 and figure 6.
type CallTrees struct {
	Schema    string                   `json:"schema"`
	Path      string                   `json:"path"`
	Format    string                   `json:"format"`
	Creator   string                   `json:"creator"`
	Terms     int                      `json:"terms"` // memory allowed to each formula
	Paper     bool                     `json:"paper"` // the paper's kinds of formulae alone
	Learned   *formulae.Learned        `json:"learned"`
	Unlearned []formulae.Unlearned     `json:"unlearned"`
	Trees     []formulae.AnnotatedTree `json:"trees"` // of the selected ranks, each once
	Findings  []document.Finding       `json:"findings"`
	Lost      bool                     `json:"-"`       // what was not learned is not in the file
	Rebuilt   *document.Rebuilt        `json:"rebuilt"` // the formulae were learned from a trace that was rebuilt
}

// A FormulaeStudy compares the formulae of several traces.
type FormulaeStudy struct {
	Schema   string             `json:"schema"`
	Runs     []StudiedRun       `json:"runs"` // by number of processes, then of records
	Findings []document.Finding `json:"findings"`
}

// A StudiedRun is one of them.
type StudiedRun struct {
	Path      string      `json:"path"`
	Processes int         `json:"processes"`
	Records   uint64      `json:"records"`
	Bytes     int64       `json:"bytes"` // of the trace
	Means     StudiedFile `json:"means"` // durations are means
	Laws      StudiedFile `json:"laws"`
}

// A StudiedFile is what a trace was compressed to, and how far off the times are that are rebuilt from it.
type StudiedFile struct {
	Bytes          int64   `json:"bytes"`
	Bound          int64   `json:"bound_bytes"`
	PositionSpread float64 `json:"position_spread_ns"` // 2 √(ln 2) σ of times from the start of the trace
	BlockSpread    float64 `json:"block_spread_ns"`    // of times between neighboring records
	Compress       int64   `json:"compress_ns"`        // by the clock: differs from run to run
}
