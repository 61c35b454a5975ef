package tkf

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"iter"

	"tracekit/codec"
	"tracekit/codec/model"
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

// Parts are some or all locations of a trace, each coded on its own without loss: what several
// processes make, and one joins to a file. They depend on the trace, the time error and the form
// of formulae alone.
type Parts struct {
	model.Results[coded]
	head    head
	learned bool // they have call trees
	form    sequence.Form
}

// Encode codes some locations of a source, ascending; nil: all. The blocks lie in the options'
// store, which must not be nil. The stat mode is not for parts: what it keeps of a location depends on
// the others.
func Encode(ctx context.Context, src trace.Source, locations []trace.LocationID, opts Options) (*Parts, error) {
	if opts.Mode != Lossless {
		return nil, errors.New("only the lossless mode codes each location on its own")
	}
	defs, before := src.Defs(), src.Findings()
	q, err := opts.TimeError.quantise(defs.Clock.Resolution)
	if err != nil {
		return nil, err
	}
	stage := &lossless{tables: coder.NewTables(), quantiser: q, leader: chooseLeader(defs), store: opts.Store, form: opts.Form}
	if opts.Learn {
		stage.forest = formulae.NewForest(defs)
	}
	p := &Parts{head: head{Mode: uint64(Lossless), Unit: q.unit, Keep: uint64(q.keep), Leader: uint64(stage.leader)}, learned: opts.Learn,
		form: opts.Form}
	if len(defs.Locations) > 0 {
		model := stage.leader
		if model == trace.None {
			model = 0
		}
		if err := stage.prepare(deepTimes(defs), func() iter.Seq2[*trace.Batch, error] { return src.Events(ctx, model) }); err != nil {
			return nil, err
		}
		f := stage.models.form
		p.head.Fine, p.head.Grain, p.head.Deep = f.fine, f.grain, f.deep
	}
	p.Of, err = engine.Each(ctx, src, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress, Only: locations},
		func(_ context.Context, l trace.LocationID, b engine.Batches) (*coded, error) { return stage.code(l, b) })
	if err == nil {
		err = opts.Store.Err()
	}
	p.Findings = trace.Since(before, src.Findings())
	return p, err
}

// Add adds other locations of the same trace. An error says why they do not belong together.
func (p *Parts) Add(other *Parts) error {
	if p.Of == nil {
		*p = *other
		return nil
	}
	if p.head != other.head || p.learned != other.learned || p.form != other.form {
		return errors.New("it was compressed with other options")
	}
	return p.Results.Add(&other.Results)
}

// Write writes the file that Compress would have written, once all locations are there, and returns
// its report and what was noticed in the trace. The source is asked for what is about the trace alone.
func (p *Parts) Write(src trace.Source, w io.Writer) (*Report, []trace.Finding, error) {
	if err := p.Missing(src.Defs()); err != nil {
		return nil, nil, err
	}
	var ledger trace.Ledger
	ledger.Merge(src.Findings())
	ledger.Merge(p.Findings)
	findings := ledger.Findings()
	r, err := p.write(&compressor{src: src, tables: coder.NewTables()}, w, aboutOf(src, findings))
	return r, findings, err
}

// write writes the sections in the order in which a stream of them can be decoded.
func (p *Parts) write(c *compressor, w io.Writer, a *about) (*Report, error) {
	defs := c.src.Defs()
	d := symbols.NewDictionary()
	classes := classesOf(d, partners.RanksOf(defs), p.Of)
	s, err := c.begin(w, &p.head, a)
	if err != nil {
		return nil, err
	}
	cols := pack.NewColumns(c.form())
	d.Code(cols, classes, len(p.Of))
	if err := s.write(sectionClasses, 0, cols.Finish()); err != nil {
		return nil, err
	}
	for i, class := range classes {
		if err := s.writeBlocks(sectionStructure, uint64(i), &p.Of[class.Members[0]].structure); err != nil {
			return nil, err
		}
	}
	same := p.sameTimes()
	for l, x := range p.Of {
		if of := same[l]; of == trace.None {
			err = s.writeBlocks(sectionEvents, uint64(l), &x.events)
		} else {
			err = s.writeValues(uint64(l), uint64(of), &x.events)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := s.write(sectionEnd, 0, nil); err != nil {
		return nil, err
	}
	r := c.report(s)
	r.Ranks.RankClasses = len(classes)
	r.addParts(defs.Clock.Resolution, p.Of)
	if p.learned {
		locations := make([]formulae.Location, len(p.Of))
		for l, x := range p.Of {
			locations[l].Tree = x.tree
		}
		r.Learned, r.Unlearned = formulae.LearnedOf(locations), formulae.UnlearnedOf(defs, locations)
	}
	return r, nil
}

// Code writes the parts, or reads those of a trace with these definitions into tables of the
// store. What is read is a file's that can be written; whether it is that of the trace nobody can know without
// reading the trace.
func (p *Parts) Code(c *codec.Coder, d *trace.Defs, store *spill.Store) {
	h := &p.head
	for _, n := range []*uint64{&h.Mode, &h.Unit, &h.Keep, &h.Leader, &h.Grain} {
		codec.Number(c, n)
	}
	codec.Flag(c, &h.Fine)
	codec.Flag(c, &h.Deep)
	codec.Flag(c, &p.learned)
	codec.Number(c, &p.form.Terms)
	codec.Flag(c, &p.form.Paper)
	if c.Err() == nil && (h.Mode != uint64(Lossless) || h.Leader != uint64(chooseLeader(d)) ||
		(quantiser{unit: h.Unit, keep: uint(h.Keep)}).check() != nil) {
		c.Refuse("the options are not those of the lossless mode")
	}
	x := &partCoder{Coder: c, store: store, form: pack.Form{Tables: coder.NewTables()}, learned: p.learned,
		trees: make(map[string]*formulae.Tree)}
	p.Results.Code(c, d, func(_ trace.LocationID, part *coded) { x.location(part) })
}

// A partCoder codes the parts of locations. Equal call trees that are read become one.
type partCoder struct {
	*codec.Coder
	store   *spill.Store
	form    pack.Form
	learned bool
	trees   map[string]*formulae.Tree
}

func (c *partCoder) location(x *coded) {
	codec.Number(c.Coder, &x.count)
	codec.Number(c.Coder, &x.unseen)
	steps := x.steps[:]
	for i := range steps {
		codec.Unsigned(c.Coder, &steps[i])
	}
	codec.Number(c.Coder, &x.sizes.times)
	codec.Number(c.Coder, &x.sizes.values)
	codec.Number(c.Coder, &x.clock.worst)
	codec.Number(c.Coder, &x.clock.sum)
	c.symbols(x)
	c.blocks(&x.structure)
	c.blocks(&x.events)
	if c.Reading() && c.Err() == nil {
		x.digest = x.structure.digest()
		for block := range x.events.all {
			if _, _, ok := divide(block); !ok {
				c.Refuse("a block of events without its times")
				return
			}
		}
	}
	if c.learned {
		c.tree(x)
	}
}

// symbols codes the table of symbols as a block.
func (c *partCoder) symbols(x *coded) {
	var block []byte
	if !c.Reading() {
		cols := pack.NewColumns(c.form)
		x.table.Code(cols)
		block = cols.Finish()
	}
	if codec.Block(c.Coder, &block); c.Reading() && c.Err() == nil {
		x.table = symbols.NewTable()
		cols := pack.OpenColumns(c.form, block)
		if x.table.Code(cols); cols.Err() != nil {
			c.Refuse("its symbols: %v", cols.Err())
		}
	}
}

// tree codes a call tree as a block.
func (c *partCoder) tree(x *coded) {
	var block []byte
	if !c.Reading() {
		block = pack.PackShort(c.form, x.tree, formulae.TreeLayout())
	}
	if codec.Block(c.Coder, &block); !c.Reading() || c.Err() != nil {
		return
	}
	if x.tree = c.trees[string(block)]; x.tree != nil {
		return
	}
	x.tree = new(formulae.Tree)
	err := pack.UnpackShort(c.form, block, x.tree, formulae.TreeLayout())
	if err == nil {
		err = x.tree.Check()
	}
	if err != nil {
		c.Refuse("its call tree: %v", err)
	}
	c.trees[string(block)] = x.tree
}

// blocks codes blocks as their sizes and their bytes.
func (c *partCoder) blocks(b *blocks) {
	size := codec.Within("size of a block", 0, maxSection)
	codec.List(c.Coder, &b.sizes, func(n *int) { codec.Number(c.Coder, n, size) })
	codec.Table(c.Coder, c.store, &b.bytes, codec.Bytes)
	if !c.Reading() || c.Err() != nil {
		return
	}
	rest := b.bytes.Len()
	for _, n := range b.sizes {
		if n > rest {
			c.Refuse("a block of %d bytes, where there are %d", n, rest)
			return
		}
		rest -= n
	}
	if rest > 0 {
		c.Refuse("%d bytes are in no block", rest)
	}
}

// digest returns what tells whether two locations have the same sequence.
func (b *blocks) digest() [sha256.Size]byte {
	hash := newSequenceDigest()
	for block := range b.all {
		hash.add(block)
	}
	return hash.sum()
}
