package otf2

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tracekit/engine"
	"tracekit/partial"
	"tracekit/partial/model"
	"tracekit/spill"
	"tracekit/trace"
)

// Parts are the event files of some or all locations of an archive: what several processes write, and
// one completes. They depend on the trace alone. The files lie in the hidden directory of a Writer.
type Parts struct {
	model.Results[eventPart]
	w        *Writer
	temp     string // in which the writer works; "": it is that of the archive
	lost     map[string]uint64
	instants bool
}

// An eventPart is a location's event file.
type eventPart struct {
	read    uint64 // events of the source
	written uint64 // of these, the ones in the file
}

// Encode writes the event files of some locations of a source, ascending; nil: all. They lie in the
// system's directory for temporary files until Close. Of the options Jobs and Progress count.
func Encode(ctx context.Context, src trace.Source, locations []trace.LocationID, o engine.Options) (*Parts, error) {
	temp, err := os.MkdirTemp("", "tracekit-*")
	if err != nil {
		return nil, err
	}
	p := &Parts{temp: temp}
	if p.w, err = Create(filepath.Join(temp, "parts"), src.Info(), src.Defs(), Options{}); err == nil {
		err = p.encode(ctx, src, locations, o)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Parts) encode(ctx context.Context, src trace.Source, locations []trace.LocationID, o engine.Options) error {
	before := src.Findings()
	o.Only = locations
	read, err := engine.Copy(ctx, src, p.w, o)
	p.Of = make([]*eventPart, len(read))
	for l, n := range read {
		if n == nil {
			continue
		}
		p.Of[l] = &eventPart{read: *n}
		if err == nil {
			err = p.w.files[l].out.close()
			p.Of[l].written = p.w.files[l].out.events
		}
	}
	p.Findings = trace.Since(before, src.Findings())
	p.lost, p.instants = p.w.lost, p.w.instants.Load()
	return err
}

// Close removes the files of Encode.
func (p *Parts) Close() error { return os.RemoveAll(p.temp) }

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

// Join makes the parts the events of the archive, once all locations are there, and returns their
// number in the trace and what was noticed in it. The source is asked for what is about the trace alone.
// Then Close completes the archive.
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
func (p *Parts) Code(c *partial.Coder, d *trace.Defs, _ *spill.Store) {
	model.Map(c, &p.lost, strings.Compare, func(what *string, n *uint64) {
		partial.Text(c, what)
		partial.Number(c, n)
	})
	partial.Flag(c, &p.instants)
	p.Results.Code(c, d, func(l trace.LocationID, x *eventPart) {
		partial.Number(c, &x.read)
		partial.Number(c, &x.written)
		if x.written > x.read {
			c.Refuse("%d events of %d", x.written, x.read)
		}
		if c.Err() == nil {
			codeFile(c, p.w.files[l].out.path)
		}
	})
}

// codeFile codes the bytes of an event file.
func codeFile(c *partial.Coder, path string) {
	mode := os.O_RDONLY
	if c.Reading() {
		mode = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	}
	f, err := os.OpenFile(path, mode, 0o666)
	if errors.Is(err, fs.ErrExist) {
		c.Refuse("another one holds %s, too", filepath.Base(path))
	}
	if err != nil {
		c.Fail(err)
		return
	}
	partial.Stream(c, f, f)
	c.Fail(f.Close())
}
