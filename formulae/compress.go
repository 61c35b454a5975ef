package formulae

import (
	"context"
	"crypto/sha256"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// A Mode says how much of a trace is kept.
type Mode uint8

// The modes.
const (
	Lossless   Mode = iota // all events; times exact or within a stated error
	Statistics             // call trees, formulae and durations in bounded space, as in the paper
)

// String returns the mode as the command line has it.
func (m Mode) String() string {
	if m == Statistics {
		return "stat"
	}
	return "lossless"
}

// Options say how a trace is compressed. The zero value keeps everything, exactly.
type Options struct {
	Mode      Mode
	TimeError TimeError        // lossless mode
	Terms     int              // memory allowed to each formula; 0: DefaultTerms
	Learn     bool             // lossless mode: tell what formulae learn, as stat mode does
	Durations Durations        // stat mode
	Seed      uint64           // stat mode: of the order in which durations are drawn from laws
	Jobs      int              // locations at the same time; below 1: one per processor
	Progress  *engine.Progress // counts events; may be nil
	TempDir   string           // for what does not fit into memory; "": the system's place
}

// inMemory is how many bytes of blocks are kept in memory before they go to a file.
const inMemory = 64 << 20

// Compress writes a trace as formulae. What it writes depends on the trace, the mode, the
// time error and the terms alone. The error is that of the source, of w, or of a context
// that was cancelled.
func Compress(ctx context.Context, src trace.Source, w io.Writer, opts Options) (*Report, error) {
	c := &compressor{src: src, opts: opts, store: &store{dir: opts.TempDir, memory: inMemory}, tables: newTables()}
	defer c.store.close()
	if opts.Mode == Statistics {
		return c.statistics(ctx, w)
	}
	return c.lossless(ctx, w)
}

// A compressor compresses one trace.
type compressor struct {
	src    trace.Source
	opts   Options
	store  *store
	tables *tables
}

// A head is the first section of a file (docs/TKF.md, Sections). A field here is a column of
// the file: see layout.
type head struct {
	Mode   uint64
	Unit   uint64 // see quantiser
	Keep   uint64
	Fine   bool   // the lower bits of short steps are coded in context
	Leader uint64 // location from whose beginning times are learned; trace.None: none
	Seed   uint64 // stat mode: of the order in which durations are drawn from laws
}

// lossless codes all locations, each on its own, and then writes the file: what locations
// have in common is known only when all are coded.
func (c *compressor) lossless(ctx context.Context, w io.Writer) (*Report, error) {
	defs := c.src.Defs()
	q, err := c.opts.TimeError.quantise(defs.Clock.Resolution)
	if err != nil {
		return nil, err
	}
	stage := &lossless{tables: c.tables, quantiser: q, leader: chooseLeader(defs), store: c.store}
	h := &head{Mode: uint64(Lossless), Unit: q.unit, Keep: uint64(q.keep), Leader: uint64(stage.leader)}
	if len(defs.Locations) > 0 {
		model := stage.leader
		if model == trace.None {
			model = 0
		}
		if err := stage.learn(func() iter.Seq2[*trace.Batch, error] { return c.src.Events(ctx, model) }); err != nil {
			return nil, err
		}
		h.Fine = stage.models.fine
	}
	if c.opts.Learn {
		stage.terms = c.terms()
	}
	parts, err := engine.Each(ctx, c.src, engine.Options{Jobs: c.opts.Jobs, Progress: c.opts.Progress},
		func(ctx context.Context, l trace.LocationID, b engine.Batches) (*coded, error) {
			return stage.Map(ctx, defs, l, b)
		})
	if err != nil {
		return nil, err
	}
	return c.writeLossless(w, h, parts)
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

// classesOf groups locations with the same course of symbols, in order of first member.
func classesOf(d *dictionary, f *frame, parts []*coded) []class {
	index := make(map[[sha256.Size]byte]int)
	var members [][]trace.LocationID
	for l, p := range parts {
		i, ok := index[p.course]
		if !ok {
			i = len(members)
			index[p.course] = i
			members = append(members, nil)
		}
		members[i] = append(members[i], trace.LocationID(l))
	}
	out := make([]class, len(members))
	for i, m := range members {
		var tables []*symbolTable
		for _, l := range m {
			tables = append(tables, parts[l].table)
		}
		out[i] = d.classify(f, m, tables)
	}
	return out
}

// writeLossless writes the sections in the order in which a stream of them can be decoded.
func (c *compressor) writeLossless(w io.Writer, h *head, parts []*coded) (*Report, error) {
	d := newDictionary()
	classes := classesOf(d, newFrame(c.src.Defs()), parts)
	s, err := c.begin(w, h)
	if err != nil {
		return nil, err
	}
	cols := newColumnCoder(c.tables)
	cols.dictionary(d)
	cols.classes(classes, len(parts))
	if err := s.write(sectionClasses, 0, cols.finish()); err != nil {
		return nil, err
	}
	for i, class := range classes {
		if err := c.copyBlocks(s, sectionStructure, uint64(i), parts[class.members[0]].structure); err != nil {
			return nil, err
		}
	}
	for l, p := range parts {
		if err := c.copyBlocks(s, sectionEvents, uint64(l), p.events); err != nil {
			return nil, err
		}
	}
	if err := s.write(sectionEnd, 0, nil); err != nil {
		return nil, err
	}
	r := c.report(s)
	r.Ranks.RankClasses = len(classes)
	r.addParts(c.src.Defs().Clock.Resolution, parts)
	if c.opts.Learn {
		var trees []*callTree
		for _, p := range parts {
			trees = append(trees, p.tree)
		}
		r.Learned = learnedOf(trees)
	}
	return r, nil
}

// begin writes the head and the definitions.
func (c *compressor) begin(w io.Writer, h *head) (*sectionWriter, error) {
	s, err := newSectionWriter(w)
	if err != nil {
		return nil, err
	}
	if err := s.write(sectionHead, 0, pack(c.tables, h)); err != nil {
		return nil, err
	}
	k := kept{Layout: uint64(layout(&kept{})), Info: c.src.Info(), Defs: *c.src.Defs(), Findings: slices.Clone(c.src.Findings())}
	k.forgetPlaces()
	return s, s.write(sectionDefinitions, 0, pack(c.tables, &k))
}

// forgetPlaces leaves out in which folder the trace lay: the same trace gives the same bytes.
func (k *kept) forgetPlaces() {
	k.Info.Path = ""
	for i := range k.Findings {
		if f := &k.Findings[i].First.File; *f != "" {
			*f = filepath.Base(*f)
		}
	}
}

// kept is what is kept of a trace beside its events.
type kept struct {
	Layout   uint64
	Info     trace.Info
	Defs     trace.Defs
	Findings []trace.Finding
}

// copyBlocks writes blocks from the store as sections.
func (c *compressor) copyBlocks(s *sectionWriter, kind sectionKind, owner uint64, blocks []blockRef) error {
	for _, r := range blocks {
		block, err := c.store.get(r)
		if err != nil {
			return err
		}
		if err := s.write(kind, owner, block); err != nil {
			return err
		}
	}
	return nil
}
