package paraver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"strings"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// Options are the choices of Open. The zero value is good for most traces.
type Options struct {
	Memory  int64  // bytes for events that wait to be delivered; 0: 64 MiB, or more for many threads
	TempDir string // where what is over Memory goes; "": the system's place

	block int // bytes of text at a time; 0: blockBytes
}

// Memory if Options names none: enough for two open pages of the spool for each thread, but
// not without limit.
const (
	defaultMemory = 64 << 20
	largestMemory = 256 << 20
	laneMemory    = 16 << 10
)

// A Source is an open Paraver trace. All of its findings are known when it is opened.
type Source struct {
	info     trace.Info
	defs     *trace.Defs
	spool    *spool.Spool
	comms    *comms
	roots    *roots
	classes  []trace.MPIFunction // by region
	slots    []slot
	inSlot   []uint32 // by region
	calls    []bool   // by location: it has regions other than states
	end      int64
	dialect  bool // see own.go
	findings []trace.Finding
}

// Open opens a trace by the path of its .prv file, which may be compressed by gzip. The
// labels and names are those of the files beside it that have .pcf and .row instead; they
// may be missing. The file is read completely; records that do not fit into Memory wait
// in a temporary file. The error wraps trace.ErrNotATrace if it is no Paraver trace, and
// is a *trace.SyntaxError if the header cannot be used.
func Open(ctx context.Context, path string, opts Options) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := newReading(path, opts)
	r.companion(".pcf", func(f io.Reader) (err error) { r.pcf, err = readPCF(f); return err })
	r.companion(".row", func(f io.Reader) (err error) { r.row, err = readRow(f); return err })
	if err := r.read(ctx, f); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r.source(f), nil
}

// Texts are the contents of the files of a trace. Labels and names may be nil.
type Texts struct {
	Trace  io.Reader // .prv, plain or gzip
	Labels io.Reader // .pcf
	Names  io.Reader // .row
}

// Read reads a trace from texts; name is for messages only.
func Read(ctx context.Context, name string, texts Texts, opts Options) (*Source, error) {
	r := newReading(name, opts)
	if texts.Labels != nil {
		r.readLabels(name, func() (err error) { r.pcf, err = readPCF(texts.Labels); return err })
	}
	if texts.Names != nil {
		r.readLabels(name, func() (err error) { r.row, err = readRow(texts.Names); return err })
	}
	if err := r.read(ctx, texts.Trace); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r.source(nil), nil
}

func newReading(path string, opts Options) *reading {
	if opts.block == 0 {
		opts.block = blockBytes
	}
	r := &reading{path: path, options: opts, defs: &trace.Defs{},
		roots: &roots{ranges: make(map[trace.CommID][]rootRange)}, row: make(rowFile),
		pcf:      &pcf{states: make(map[int64]string), types: make(map[uint32]*eventType)},
		instants: make(map[regionKey]trace.StringID)}
	r.names = newNames(r.defs)
	return r
}

// close gives the spool back, if there is one.
func (r *reading) close() error {
	if r.spool == nil {
		return nil
	}
	return r.spool.Close()
}

// stem returns a path without .prv or .prv.gz.
func stem(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".prv")
}

// companion reads a file beside the trace. Without it there is nothing to notice: labels
// are optional.
func (r *reading) companion(suffix string, read func(io.Reader) error) {
	name := stem(r.path) + suffix
	f, err := os.Open(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.ledger.Add(trace.CodeMissingFile, trace.Place{Location: trace.None, File: name, Offset: -1}, err.Error())
		}
		return
	}
	defer f.Close()
	r.readLabels(name, func() error { return read(f) })
}

func (r *reading) readLabels(name string, read func() error) {
	if err := read(); err != nil {
		r.ledger.Add(trace.CodeCorrupt, trace.Place{Location: trace.None, File: name, Offset: -1}, err.Error())
	}
}

// read reads the whole text.
func (r *reading) read(ctx context.Context, in io.Reader) error {
	text, err := uncompressed(in)
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	defer text.Close()
	b := newBlocker(text, r.options.block)
	b.over = func(offset int64, line int) {
		r.counts.Bad++
		r.ledger.Add(trace.CodeBadValue, trace.Place{Location: trace.None, File: r.path, Offset: offset},
			fmt.Sprintf("line %d: the line is longer than %d bytes", line, maxLine))
	}
	first, err := b.first(ctx)
	if err != nil {
		return err
	}
	if err := r.begin(first); err != nil {
		return err
	}
	for {
		block, ok, err := b.next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		r.block(block)
	}
	r.end(b)
	return r.finish()
}

// first returns the first line, or the second after "new format".
func (b *blocker) first(ctx context.Context) (line block, err error) {
	for !b.eof && !hasLine(b.buf[b.begin:b.end]) && b.end-b.begin < maxLine {
		if err := ctx.Err(); err != nil {
			return block{}, err
		}
		b.fill()
	}
	rest := b.buf[b.begin:b.end]
	n := len(rest)
	if i := indexLine(rest); i >= 0 {
		n = i + 1
	}
	line = block{data: rest[:n], offset: b.offset, line: b.line}
	b.begin += n
	b.line++
	return line, nil
}

// begin reads the header and prepares for the lines.
func (r *reading) begin(first block) error {
	if !bytes.HasPrefix(first.data, []byte(magic)) {
		return fmt.Errorf("%s: %w: it does not begin with %q", r.path, trace.ErrNotATrace, magic)
	}
	h, err := parseHeader(string(first.data))
	if err != nil {
		return &trace.SyntaxError{File: r.path, Offset: first.offset, Line: first.line, Record: "header", Err: err}
	}
	if first.data[len(first.data)-1] != '\n' {
		r.ledger.Add(trace.CodeTruncated, trace.Place{Location: trace.None, File: r.path, Offset: 0}, "the header is not terminated")
	}
	r.header = h
	r.defs.Clock = trace.ClockProperties{Resolution: h.resolution, Length: uint64(h.end), Realtime: math.MaxUint64}
	r.machine()
	memory := r.options.Memory
	if memory == 0 {
		memory = min(max(defaultMemory, int64(len(r.defs.Locations))*laneMemory), largestMemory)
	}
	r.spool = spool.New(r.options.TempDir, memory)
	r.meters = newMeters(r.names)
	r.types = newEventTypes(r.pcf, r.meters)
	r.sites = newSites(r.names, r.pcf)
	r.comms = newComms(r.appls, r.pcf)
	r.makeLanes()
	return nil
}

// end looks at how the text ends.
func (r *reading) end(b *blocker) {
	rest := b.rest()
	at := trace.Place{Location: trace.None, File: r.path, Offset: rest.offset}
	switch {
	case b.err != nil:
		r.ledger.Add(trace.CodeTruncated, at, b.err.Error())
	case len(rest.data) > 0:
		r.ledger.Add(trace.CodeTruncated, at, fmt.Sprintf("line %d has no end", rest.line))
	}
	if n := r.counts.Communicators; n < uint64(r.header.comms) {
		at.Offset = 0
		r.ledger.Add(trace.CodeCountMismatch, at, fmt.Sprintf("the header announces %d communicators, there are %d", r.header.comms, n))
	}
}

// finish completes streams and definitions.
func (r *reading) finish() error {
	for i := range r.lanes {
		l := &r.lanes[i]
		r.release(l)
		if l.flushing {
			l.events.AddOther(l.flush, trace.KindBufferFlush, uint64(max(l.last, l.flush)))
		}
	}
	for i := range r.types.slots {
		s := &r.types.slots[i]
		if !s.used {
			continue
		}
		s.unknown = r.names.region(r.pcf, s.typ, uint32(i), 0)
	}
	r.comms.define(r.names, func(code trace.Code, text string) {
		r.ledger.Add(code, trace.Place{Location: trace.None, File: r.path, Offset: 0}, text)
	})
	r.roots.finish()
	if err := r.spool.Finish(); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}

// source makes the trace of what was read; f is its file, or nil.
func (r *reading) source(f *os.File) *Source {
	s := &Source{defs: r.defs, spool: r.spool, comms: r.comms, roots: r.roots, dialect: r.dialect, classes: r.names.classes,
		slots: r.types.slots, inSlot: r.names.slots, end: max(r.last, min(r.header.end, maxTime)), findings: r.ledger.Findings()}
	for i := range r.lanes {
		l := &r.lanes[i]
		s.calls = append(s.calls, l.calls)
		if l.events == nil {
			continue
		}
		n := l.events.Len() + l.messages.Len()
		if !l.calls {
			n += 2 * l.states.Len()
		}
		r.defs.Locations[i].Events = n // about: requests make two events of a message
	}
	s.info = trace.Info{Path: r.path, Format: Format, Version: "1", Properties: r.properties()}
	if r.dialect {
		s.info.Creator = "tracekit"
	}
	if f != nil {
		if stat, err := f.Stat(); err == nil {
			s.info.Bytes = stat.Size()
		}
	}
	for _, suffix := range []string{".pcf", ".row"} {
		if stat, err := os.Stat(stem(r.path) + suffix); err == nil && f != nil {
			s.info.Bytes += stat.Size()
		}
	}
	return s
}

// properties are what the file says beside its records, and the numbers of its lines.
func (r *reading) properties() map[string]string {
	p := map[string]string{"date": r.header.date, "lines": r.counts.String()}
	for i, note := range r.notes {
		p[fmt.Sprintf("note %d", i+1)] = note
	}
	return p
}

// Info implements trace.Source.
func (s *Source) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source.
func (s *Source) Findings() []trace.Finding { return s.findings }

// Events implements trace.Source.
func (s *Source) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) < len(s.defs.Locations) {
			newAssembler(s, location, yield).run(ctx)
		}
	}
}

// Close implements trace.Source.
func (s *Source) Close() error { return s.spool.Close() }
