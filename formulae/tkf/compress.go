package tkf

import (
	"context"
	"crypto/sha256"
	"io"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/spill"
	"tracekit/trace"
)

// A Mode says how much of a trace is kept.
type Mode uint8

// The modes.
const (
	Lossless   Mode = iota // all events; times exact or within a stated error
	Statistics             // call trees, formulae and durations in bounded space, as in the paper
)

// Options say how a trace is compressed. The zero value keeps everything, exactly.
type Options struct {
	Mode      Mode
	TimeError TimeError          // lossless mode
	Form      sequence.Form      // of formulae
	Learn     bool               // lossless mode: tell what formulae learn, as stat mode does
	Durations formulae.Durations // stat mode
	Seed      uint64             // stat mode: of the order in which durations are drawn from laws
	Jobs      int                // locations at the same time; below 1: one per processor
	Progress  *engine.Progress   // counts events; may be nil
	Store     *spill.Store       // of what waits to be written; nil: one of the default budget
}

// Compress writes a trace as formulae. What it writes depends on the trace, the mode, the time error and the form of formulae alone. In
// ModeStat it also depends on the seed and on how durations are kept. The error is that of the source, of w, or of a context that was
// cancelled.
func Compress(ctx context.Context, src trace.Source, w io.Writer, opts Options) (*Report, error) {
	c := &compressor{src: src, opts: opts, tables: coder.NewTables()}
	if c.opts.Store == nil {
		c.opts.Store = spill.NewStore(spill.DefaultBudget(), "")
		defer c.opts.Store.Close()
	}
	if opts.Mode == Statistics {
		return c.statistics(ctx, w)
	}
	return c.lossless(ctx, w)
}

// A compressor compresses one trace.
type compressor struct {
	src    trace.Source
	opts   Options
	tables *coder.Tables
}

// form is that of the blocks that are written.
func (c *compressor) form() pack.Form { return pack.Form{Tables: c.tables} }

// lossless codes all locations, each on its own, and then writes the file: what locations
// have in common is known only when all are coded.
func (c *compressor) lossless(ctx context.Context, w io.Writer) (*Report, error) {
	p, err := Encode(ctx, c.src, nil, c.opts)
	if err != nil {
		return nil, err
	}
	return p.write(c, w, aboutOf(c.src, c.src.Findings()))
}

// chooseLeader returns the location from which the others start their times: that of a
// rank in the middle. A single location needs none.
func chooseLeader(d *trace.Defs) trace.LocationID {
	world := d.World()
	switch n := len(d.Locations); {
	case n < 2:
		return trace.None
	case len(world) == 0 || int(world[len(world)/2]) >= n:
		return 0
	}
	return world[len(world)/2]
}

// classesOf groups locations with the same sequence of symbols, in order of first member.
func classesOf(d *symbols.Dictionary, ranks *partners.Ranks, parts []*coded) []symbols.Class {
	members := membersOf(len(parts), func(l int) *coded { return parts[l] })
	out := make([]symbols.Class, len(members))
	for i, m := range members {
		var tables []*symbols.Table
		for _, l := range m {
			tables = append(tables, parts[l].table)
		}
		out[i] = d.Classify(ranks, m, tables)
	}
	return out
}

// membersOf returns the classes of locations with equal sequences, in order of first member. A location without a part is in none.
func membersOf(locations int, part func(l int) *coded) (out [][]trace.LocationID) {
	type sequence struct {
		digest  [sha256.Size]byte
		symbols int
	}
	index := make(map[sequence]int)
	for l := range locations {
		p := part(l)
		if p == nil {
			continue
		}
		as := sequence{p.digest, p.table.Len()}
		i, ok := index[as]
		if !ok {
			i = len(out)
			index[as], out = i, append(out, nil)
		}
		out[i] = append(out[i], trace.LocationID(l))
	}
	return out
}

// begin writes the head and what is about the trace.
func (c *compressor) begin(w io.Writer, h *head, a *about) (*sectionWriter, error) {
	s, err := newSectionWriter(w)
	if err != nil {
		return nil, err
	}
	if err := s.write(sectionHead, 0, pack.Pack(c.form(), h, headLayout(versionLast))); err != nil {
		return nil, err
	}
	return s, s.write(sectionDefinitions, 0, pack.PackOpen(c.form(), a, aboutLayout()))
}
