package otf2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Parts are the event files of some or all locations of an archive: what several processes write, and
// one completes. They depend on the trace alone. The files are those of a Writer: of Encode's they lie in
// tables of a store, of another one in its hidden directory.
type Parts struct {
	model.Results[eventPart]
	w        *Writer
	lost     map[string]uint64
	instants bool
}

// An eventPart is a location's event file.
type eventPart struct {
	read    uint64 // events of the source
	written uint64 // of these, the ones in the file
}

// Encode writes the event files of some locations of a source, ascending; nil: all. They lie in the
// store. Of the options Jobs and Progress count.
func Encode(ctx context.Context, src trace.Source, locations []trace.LocationID, store *spill.Store, o engine.Options) (*Parts, error) {
	w, err := newWriter(src.Info(), src.Defs(), Options{})
	if err != nil {
		return nil, err
	}
	for l := range w.files {
		w.files[l].out.held = &heldFile{bytes: spill.NewTable[byte](store)}
	}
	before := src.Findings()
	o.Only = locations
	read, err := engine.Copy(ctx, src, w, o)
	if err != nil {
		return nil, err
	}
	p := &Parts{w: w, lost: w.lost, instants: w.instants.Load()}
	p.Of, p.Findings = make([]*eventPart, len(read)), trace.Since(before, src.Findings())
	for l, n := range read {
		if n == nil {
			continue
		}
		out := &w.files[l].out
		if err := out.close(); err != nil {
			return nil, err
		}
		out.held.bytes = out.held.bytes.Sealed()
		p.Of[l] = &eventPart{read: *n, written: out.events}
	}
	return p, store.Err()
}

// Parts returns no parts of the archive, to which those that were coded are added. What is read
// becomes the archive's.
func (w *Writer) Parts() *Parts { return &Parts{w: w} }

// Add adds other locations, read for the same archive. An error says why they do not belong together.
func (p *Parts) Add(other *Parts) error {
	if p.lost == nil {
		p.lost = make(map[string]uint64)
	}
	for what, n := range other.lost {
		p.lost[what] += n
	}
	p.instants = p.instants || other.instants
	return p.Results.Add(&other.Results)
}

// Join makes the parts the events of the archive, once all locations are there. It returns their number in the trace and what was noticed
// in it. The source is asked for what is about the trace alone. Then Close completes the archive.
func (p *Parts) Join(src trace.Source) (events uint64, findings []trace.Finding, err error) {
	if err := p.Missing(src.Defs()); err != nil {
		return 0, nil, err
	}
	for l, x := range p.Of {
		p.w.files[l].out.ended, p.w.files[l].out.events = true, x.written
		events += x.read
	}
	if len(p.lost) > 0 {
		p.w.lost = p.lost
	}
	p.w.instants.Store(p.instants)
	var ledger trace.Ledger
	ledger.Merge(src.Findings())
	ledger.Merge(p.Findings)
	return events, ledger.Findings(), nil
}

// Code writes the parts, or reads those of a trace with these definitions: their files then lie in the
// directory where the archive grows. What the files hold is for who reads the archive to judge.
func (p *Parts) Code(c *codec.Coder, d *trace.Defs, _ *spill.Store) {
	model.Map(c, &p.lost, strings.Compare, func(what *string, n *uint64) {
		codec.Text(c, what)
		codec.Number(c, n)
	})
	codec.Flag(c, &p.instants)
	p.Results.Code(c, d, func(l trace.LocationID, x *eventPart) {
		codec.Number(c, &x.read)
		codec.Number(c, &x.written, codec.Within("events", 0, x.read))
		if c.Err() == nil {
			codeFile(c, &p.w.files[l].out)
		}
	})
}

// codeFile codes the bytes of an event file.
func codeFile(c *codec.Coder, w *chunkWriter) {
	if !c.Reading() {
		codec.Stream(c, w.held.reader(), nil)
		return
	}
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		c.Refuse("another one holds %s, too", filepath.Base(w.path))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	codec.Stream(c, nil, f)
	c.Fail(f.Close())
}
