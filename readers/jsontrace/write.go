package jsontrace

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"tracekit/readers/internal/output"
	"tracekit/trace"
)

// WriteOptions says how a trace is written. The zero value is usual.
type WriteOptions struct {
	Force bool // replace a file of the same name
	Jobs  int  // goroutines that make lines; below 1: one per processor
}

// A Writer writes a trace in tracekit's own dialect; it is a trace.Sink. The file grows
// under a hidden name beside its place and gets its name in Close. Events are written as
// they come, one to a line; memory does not grow with their number.
type Writer struct {
	path   string
	file   *output.File
	pieces *output.Line[*piece]
	defs   *trace.Defs
	digits int
	scale  uint64 // units of the last digit per second
	tracks []trackPrefix
	names  nameCache
	seqs   map[channel]uint64
	ranks  map[trace.CommID]map[uint32]uint32 // rank in the communicator by world rank
	err    error
	closed bool
	events bool // there are some
	inside bool // the time of one fits

	mu   sync.Mutex
	lost map[string]uint64 // below mu
}

// Create begins a file; it is compressed if the name ends in .gz. The error wraps
// fs.ErrExist if there is a file of that name, unless the options say to replace it. If
// the file is not to be completed, call Discard.
//
// Times are written in microseconds from the clock's global offset: with 3 decimals if the
// clock ticks in whole nanoseconds, else with 6, which tell ticks of at least 2 ps apart.
func Create(path string, info trace.Info, defs *trace.Defs, options WriteOptions) (*Writer, error) {
	if err := output.Replaceable(path, options.Force); err != nil {
		return nil, err
	}
	workers := output.Workers(options.Jobs)
	f, err := output.Create(path, workers)
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: f, defs: defs, seqs: make(map[channel]uint64)}
	w.chooseDigits()
	w.tracks = tracksOf(defs)
	w.names = newNameCache(defs)
	if err := w.head(info); err != nil {
		return nil, errors.Join(err, f.Discard())
	}
	w.pieces = output.NewLine(workers, 1, func() *piece { return &piece{w: w} }, (*piece).write,
		func(p *piece) error {
			w.events, w.inside = w.events || p.batch.Len() > 0, w.inside || p.inside
			_, err := f.Write(p.lines)
			return err
		})
	return w, nil
}

// chooseDigits sets how exactly times are written.
func (w *Writer) chooseDigits() {
	w.digits, w.scale = nanoDigits, 1e9
	if r := w.defs.Clock.Resolution; r == 0 || 1e9%r != 0 {
		w.digits, w.scale = picoDigits, 1e12
	}
	if w.defs.Clock.Resolution > 5e11 {
		w.drop("times of a clock with ticks shorter than 2 ps")
	}
}

// head writes what stands before the events: the header and the names of tracks.
func (w *Writer) head(info trace.Info) error {
	info.Path, info.Format, info.Version, info.Bytes = "", "", "", 0
	h := header{Version: dialectVersion, Digits: w.digits, About: info, Defs: soundDefs(w.defs)}
	for _, l := range w.tracks {
		h.Tracks = append(h.Tracks, [2]int64{int64(l.pid), int64(l.tid)})
	}
	text, err := trace.MarshalJSON(h)
	if err != nil {
		return fmt.Errorf("definitions: %w", err)
	}
	out := w.file
	fmt.Fprintf(out, "{\"displayTimeUnit\":\"ns\",\n\"tracekit\":%s,\n\"traceEvents\":[", text)
	comma := "\n"
	for i, l := range w.tracks {
		if i == 0 || l.pid != w.tracks[i-1].pid {
			fmt.Fprintf(out, "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":%s}}", comma, l.pid, l.process)
			fmt.Fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}}", l.pid, l.pid)
			comma = ",\n"
		}
		fmt.Fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"thread_name\",\"args\":{\"name\":%s}}", l.pid, l.tid, l.thread)
	}
	if len(w.tracks) == 0 {
		fmt.Fprint(out, "\n{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"no location\"}}")
	}
	return nil // errors of the file show when it is completed
}

// soundDefs returns the definitions without what JSON does not have: numbers that are not
// finite.
func soundDefs(d *trace.Defs) *trace.Defs {
	out := *d
	out.Locations = append([]trace.Location(nil), d.Locations...)
	for i := range out.Locations {
		l := &out.Locations[i]
		l.ClockOffsets = append([]trace.ClockOffset(nil), l.ClockOffsets...)
		for j := range l.ClockOffsets {
			if o := &l.ClockOffsets[j]; math.IsNaN(o.Deviation) || math.IsInf(o.Deviation, 0) {
				o.Deviation = 0
			}
		}
	}
	return &out
}

// drop counts something that the format cannot express.
func (w *Writer) drop(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost == nil {
		w.lost = make(map[string]uint64)
	}
	w.lost[what]++
}

// Lost counts, by what it is, what could not be expressed. It is complete after Close.
func (w *Writer) Lost() map[string]uint64 { return w.lost }

// Close completes the file and gives it its name. After an error, of Close or of what
// Write has, nothing is left behind.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	err := w.end()
	if w.events && !w.inside {
		err = errors.Join(err, fmt.Errorf("%s: all times are too large for a JSON trace", w.path))
	}
	if err == nil {
		fmt.Fprint(w.file, "\n]}\n")
		err = w.file.Complete()
	}
	if err == nil {
		err = w.file.Publish()
	}
	w.err = err
	return errors.Join(err, w.file.Discard())
}

// end waits for the lines.
func (w *Writer) end() error {
	w.closed = true
	return w.pieces.Close()
}

// Discard ends the writing without a result. After Close it does nothing.
func (w *Writer) Discard() error {
	if w.closed {
		return nil
	}
	_ = w.end() // whether it was written does not matter any more
	return w.file.Discard()
}

// appendTime appends ticks as microseconds from the clock's global offset.
func (w *lineWriter) appendTime(line []byte, ticks int64) []byte {
	c := &w.defs.Clock
	neg := ticks < c.GlobalOffset
	u := uint64(ticks) - uint64(c.GlobalOffset)
	if neg {
		u = -u
	}
	if w.scale != c.Resolution && c.Resolution > 0 {
		hi, lo := bits.Mul64(u, w.scale)
		lo, carry := bits.Add64(lo, c.Resolution/2, 0)
		if hi += carry; hi < c.Resolution {
			u, _ = bits.Div64(hi, lo, c.Resolution)
		} else {
			u = math.MaxUint64
		}
	}
	if u > math.MaxInt64 {
		w.drop("times too far from the clock's offset (written as the farthest)")
		u = math.MaxInt64
	} else {
		w.p.inside = true
	}
	if neg {
		line = append(line, '-')
	}
	unit := uint64(1)
	for range w.digits {
		unit *= 10
	}
	line = append(strconv.AppendUint(line, u/unit, 10), '.')
	frac := strconv.AppendUint(line, unit+u%unit, 10) // the leading 1 keeps zeros
	copy(frac[len(line):], frac[len(line)+1:])
	return frac[:len(frac)-1]
}
