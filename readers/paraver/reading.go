package paraver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"

	"tracekit/readers/internal/spool"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// A reading takes the blocks of a .prv file, one after the other.
type reading struct {
	tables
	path    string
	options Options
	header  *header
	row     rowFile
	spool   *spool.Spool
	threads []thread
	main    *decoder
	lines   int   // before the block
	last    int64 // greatest time
	counts  counts
	ledger  trace.Ledger
	notes   []string // metadata lines

	origin map[string]string // what lines say of it: properties
}

func newReading(path string, opts Options) *reading {
	if opts.block == 0 {
		opts.block = blockBytes
	}
	if opts.Jobs < 1 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	r := &reading{path: path, options: opts, spool: spool.New(opts.Store)}
	r.defs = &trace.Defs{}
	r.pcf, _ = readPCF(strings.NewReader(""))
	r.instants, r.known = make(map[regionKey]trace.StringID), make(map[trace.Code]bool)
	r.names = newNames(r.defs)
	r.main = &decoder{tables: &r.tables, main: r}
	return r
}

// stem returns a path without .prv or .prv.gz.
func stem(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".prv")
}

// FilesOf returns, of files that are there, those that Open reads of the trace of a .prv file, which is
// the last.
func FilesOf(path string, there []string) (files []string) {
	for _, file := range []string{stem(path) + ".pcf", stem(path) + ".row", path} {
		if slices.Contains(there, file) {
			files = append(files, file)
		}
	}
	return files
}

// companion reads a file beside the trace, or notes why that cannot be.
func (r *reading) companion(suffix string, missing trace.Code, read func(name string, f io.Reader)) {
	name := stem(r.path) + suffix
	f, size, err := wire.OpenRegular(name)
	if err == nil {
		defer f.Close()
		if size == 0 {
			err = fmt.Errorf("%s is empty", name)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.ledger.Add(missing, nowhere(name), "there is no "+name)
	case err != nil:
		r.ledger.Add(missing, nowhere(name), err.Error())
	default:
		read(name, f)
	}
}

// readLabels reads a .pcf file.
func (r *reading) readLabels(name string, f io.Reader) {
	p, err := readPCF(f)
	r.pcf = p
	r.damage(name, p.lines, err)
	r.ledger.AddN(trace.CodeLimitExceeded, uint64(max(p.described-maxDescribed, 0)), nowhere(name),
		"labels of event types that are described again and again")
}

// readNames reads a .row file.
func (r *reading) readNames(name string, f io.Reader) {
	row, err := readRow(f)
	r.row = row
	r.damage(name, row.lines, err)
}

// damage notes which lines of a file beside the trace are not understood, and why it was not
// read to its end.
func (r *reading) damage(name string, lines lineCount, err error) {
	r.ledger.AddN(trace.CodeBadValue, uint64(lines.bad), nowhere(name), fmt.Sprintf("line %d does not belong to its "+
		"section", lines.firstBad))
	switch {
	case errors.Is(err, errUnended):
		r.ledger.Add(trace.CodeTruncated, nowhere(name), err.Error())
	case err != nil:
		r.ledger.Add(trace.CodeCorrupt, nowhere(name), err.Error())
	}
}

// nowhere is the place of what is about a file as a whole.
func nowhere(file string) trace.Place {
	return trace.Place{Location: trace.None, File: file, Offset: -1}
}

// read reads the whole text.
func (r *reading) read(ctx context.Context, in io.Reader) error {
	text, err := uncompressed(in)
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	c, b := &cutter{r: text, size: r.options.block}, newBlock()
	more := c.next(ctx, b, func() {})
	if !more {
		b.data = c.rest
	}
	if err := r.begin(b); err != nil {
		return errors.Join(err, ctx.Err())
	}
	r.take(b)
	switch {
	case !more:
		c.rest = nil // it is the header
	case r.options.Jobs > 1:
		r.takeAhead(ctx, c)
	default:
		for more {
			b.reset(c.size)
			more = c.next(ctx, b, func() {})
			r.take(b)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r.end(c)
	return r.finish(ctx)
}

// takeAhead takes the blocks of a text that workers decode.
func (r *reading) takeAhead(ctx context.Context, c *cutter) {
	a := newAhead(ctx, c, &r.tables, min(r.options.Jobs, maxWorkers), len(r.threads))
	defer a.close()
	for b := range a.queue {
		<-b.ready
		r.take(b)
		b.reset(c.size)
		a.free <- b
	}
}

// take takes a block: what a worker has decoded, if it fits, and then the rest.
func (r *reading) take(b *block) {
	if b.tooLong >= 0 {
		r.counts.Bad++
		r.lines++
		r.ledger.Add(trace.CodeBadValue, r.at(b.tooLong), fmt.Sprintf("line %d: the line is longer than %d bytes", r.lines, maxLine))
	}
	if r.fits(b) {
		for i := range b.threads {
			n := &b.threads[i]
			l := &r.threads[n.location]
			if l.events == nil {
				r.openThread(l)
			}
			r.join(l, n)
		}
	} else {
		b.forget()
	}
	if b.stop < len(b.data) {
		r.Lock()
		r.main.decode(b, b.stop)
		r.Unlock()
	}
	r.lines += b.lines
	r.last = max(r.last, b.last)
	r.counts.add(b.counts)
	for code, n := range b.findings {
		r.ledger.AddN(code, n, r.at(b.offset+int64(len(b.data))), "") // the first was before
	}
}

// fits reports whether what a worker has decoded is what the lines say after those before.
func (r *reading) fits(b *block) bool {
	if b.version != r.version {
		return false
	}
	for i := range b.threads {
		if n := &b.threads[i]; !r.threads[n.location].fits(n, r.dialect) {
			return false
		}
	}
	return true
}

// at returns a place in the file.
func (r *reading) at(offset int64) trace.Place {
	return trace.Place{Location: trace.None, File: r.path, Offset: offset}
}

// originNote returns the line of metadata by which a trace says what a property about its
// origin does. Paraver passes over metadata that it does not know.
func originNote(property, value string) string {
	return "#" + property + ":" + strings.Join(strings.Fields(oneLine(value)), " ")
}

// note keeps a line of metadata.
func (r *reading) note(text []byte) {
	for _, property := range trace.OriginProperties() {
		if value, ok := strings.CutPrefix(string(text), originNote(property, "")); ok && len(text) < 1<<16 {
			if r.origin == nil {
				r.origin = make(map[string]string)
			}
			r.origin[property] = value
			return
		}
	}
	if len(r.notes) < 64 && len(text) < 4096 {
		r.notes = append(r.notes, string(text[1:]))
	}
}

// begin takes the header from the first block and prepares for the lines.
func (r *reading) begin(b *block) error {
	first := b.data
	if i := bytes.IndexByte(first, '\n'); i >= 0 {
		first = first[:i+1]
	}
	if !bytes.HasPrefix(first, []byte(magic)) {
		return fmt.Errorf("%s: %w: it does not begin with %q", r.path, trace.ErrNotATrace, magic)
	}
	h, err := parseHeader(string(first))
	if err != nil {
		return &trace.SyntaxError{File: r.path, Offset: b.offset, Line: 1, Record: "header", Err: err}
	}
	if first[len(first)-1] != '\n' {
		r.ledger.Add(trace.CodeTruncated, r.at(0), "the header is not terminated")
	}
	b.data, b.offset = b.data[len(first):], b.offset+int64(len(first))
	r.lines = 1
	r.header = h
	r.defs.Clock = trace.ClockProperties{Resolution: h.resolution, Length: uint64(h.end), Realtime: math.MaxUint64}
	r.machine()
	r.meters = newMeters(r.names)
	r.types = newEventTypes(r.pcf, r.meters)
	if r.beside {
		r.tasks = r.pcf.tasks()
	}
	r.sites = newSites(r.names, r.pcf)
	r.comms = newComms(r.appls, r.pcf)
	r.makeThreads()
	return nil
}

// end looks at how the text ends.
func (r *reading) end(c *cutter) {
	at := r.at(c.offset)
	switch {
	case c.err != nil:
		r.ledger.Add(trace.CodeTruncated, at, c.err.Error())
	case len(c.rest) > 0:
		r.ledger.Add(trace.CodeTruncated, at, fmt.Sprintf("line %d has no end", r.lines+1))
	}
	if n := r.counts.Communicators; n < uint64(r.header.comms) {
		at.Offset = 0
		r.ledger.Add(trace.CodeCountMismatch, at, fmt.Sprintf("the header announces %d communicators, but there are "+
			"%d", r.header.comms, n))
	}
}

// limits notes what was more than is told apart.
func (r *reading) limits() {
	roots := uint64(0)
	for i := range r.threads {
		roots += r.threads[i].rooted.lost
	}
	for _, l := range []struct {
		lost uint64
		what string
	}{
		{r.names.lost, "values of event types; the last ones are called by their type"},
		{r.names.cut, "names that are very long; they are cut"},
		{r.sites.lost, "callers of MPI; the last calls have none"},
		{roots, "changes of the root of a communicator's collectives; the last ones have none"},
	} {
		r.ledger.AddN(trace.CodeLimitExceeded, l.lost, nowhere(r.path), l.what)
	}
}

// strangers notes which event types have a number of our own and another label: what they tell is not used.
func (r *reading) strangers() {
	if !r.dialect {
		return
	}
	for _, typ := range slices.Sorted(maps.Keys(r.types.all)) {
		label := r.pcf.typeLabel(typ)
		_, known := ownType(label)
		if (typ >= firstOwn && typ <= lastOwn || typ >= firstOwnRegion && typ <= lastOwnRegion) && !known && label != instantsLabel {
			r.ledger.Add(trace.CodeBadDefinition, nowhere(r.path),
				fmt.Sprintf("event type %d is one of tracekit's by its number, but not by its label %q", typ, label))
		}
	}
}

// applications notes that the trace holds applications that exchange no messages.
func (r *reading) applications() {
	var begin []uint32 // rank of the first task of each
	for _, a := range r.comms.appls {
		if len(a.tasks) > 0 {
			begin = append(begin, a.tasks[0].rank)
		}
	}
	if len(begin) > 1 && r.comms.universe == trace.None {
		r.ledger.Add(trace.CodeApplications, nowhere(r.path),
			fmt.Sprintf("%d applications, the first with ranks %d-%d, the next from rank %d on", len(begin), begin[0], begin[1]-1,
				begin[1]))
	}
}

// finish completes streams and definitions.
func (r *reading) finish(ctx context.Context) error {
	states := uint64(0)
	for i := range r.threads {
		l := &r.threads[i]
		if l.calls {
			l.kept = 0
		}
		states += l.stated - l.kept
		r.release(l)
		if l.flushing {
			l.events.AddOther(l.flush, trace.KindBufferFlush, uint64(max(l.last, l.flush)))
		}
		r.work(l, max(l.last, l.began), false)
	}
	if !r.dialect {
		r.ledger.AddN(trace.CodeRedundantRecord, states, nowhere(r.path),
			"states of threads whose calls are recorded, and from before threads begin")
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
	r.applications()
	r.limits()
	r.strangers()
	if err := r.spool.Finish(ctx, r.options.Jobs); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	return nil
}
