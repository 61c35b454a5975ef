package paraver

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"tracekit/readers/internal/output"
	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// A text is made of records and written piece by piece. Records are in ticks of the trace's
// clock from anywhere, the text is in nanoseconds from start.
type text struct {
	clock trace.ClockProperties
	start int64 // tick of time 0
	place []place
	lines []byte // not written yet

	inside, beyond uint64 // times after the first that fit the format, and those that do not
}

// Write implements io.Writer.
func (t *text) Write(p []byte) (int, error) {
	t.lines = append(t.lines, p...)
	return len(p), nil
}

// time returns a tick as the text has it.
func (t *text) time(ticks int64) int64 {
	ns := t.clock.Nanoseconds(since(ticks, t.start))
	switch {
	case ns > maxTime:
		t.beyond++
		return maxTime
	case ns > 0:
		t.inside++
	}
	return ns
}

// since returns a difference of ticks, or the number of 64 bits that is nearest to it.
func since(ticks, start int64) int64 {
	switch d := ticks - start; {
	case ticks >= start && d < 0:
		return math.MaxInt64
	case ticks < start && d >= 0:
		return math.MinInt64
	default:
		return d
	}
}

// start returns the tick of time 0: the clock's offset, or the first event if that is
// earlier or the last one so far from the offset that its time would not fit.
func (w *Writer) start() int64 {
	if offset := w.defs.Clock.GlobalOffset; offset <= w.min && w.fits(offset, w.max) {
		return offset
	}
	return w.min
}

// fits reports whether the nanoseconds between two ticks fit the format.
func (w *Writer) fits(from, to int64) bool {
	ns := w.defs.Clock.Nanoseconds(since(to, from))
	return -maxTime <= ns && ns <= maxTime
}

// writePRV writes the trace itself.
func (w *Writer) writePRV(out io.Writer) error {
	if w.defs.Clock.Resolution != 1e9 {
		w.lose("times rounded to nanoseconds", w.events)
	}
	t := &text{clock: w.defs.Clock, start: w.start(), place: w.objects.place}
	w.writeHeader(t)
	w.writeCommLines(t)
	for _, property := range trace.OriginProperties() {
		if value := w.info.Properties[property]; value != "" {
			fmt.Fprintln(t, originNote(property, value))
		}
	}
	zero := w.defs.Clock.GlobalOffset
	if !w.fits(t.start, zero) {
		w.lose("zero of the clock (times count from the first event)", 1)
		zero = t.start
	}
	if !w.options.Plain && len(w.threads) > 0 {
		t.line(2, w.objects.first(), 0, ownVersion, dialectVersion, ownZero, t.clock.Nanoseconds(since(zero, t.start)))
	}
	if _, err := out.Write(t.lines); err != nil {
		return err
	}
	return w.print(out, t)
}

// partWords is about how much of the spool a part of the text stands for.
const partWords = 256 << 10

// print writes the lines of all locations and messages in order of time. Several goroutines
// make them at a time, each those of a part of the time.
func (w *Writer) print(out io.Writer, t *text) error {
	streams := w.lines.Streams()
	var inside, beyond uint64
	type piece struct {
		spool.Part
		text
	}
	line := output.NewLine(output.Workers(w.options.Jobs), 1,
		func() *piece { return &piece{text: text{clock: t.clock, start: t.start, place: t.place}} },
		func(p *piece) {
			p.lines = p.lines[:0]
			m := spool.Merge(streams, p.Part)
			for r := m.Next(); r != nil; r = m.Next() {
				p.record(r.Kind(), r.Time(), r.Args())
			}
		},
		func(p *piece) error {
			if err := w.options.Context.Err(); err != nil {
				return err
			}
			inside, beyond = inside+p.inside, beyond+p.beyond
			p.inside, p.beyond = 0, 0
			_, err := out.Write(p.lines)
			return err
		})
	for _, part := range spool.Parts(streams, max(partWords, 1024*len(streams))) {
		line.Take().Part = part
		if err := line.Put(0); err != nil {
			break // Close returns it
		}
	}
	err := line.Close()
	if beyond > 0 {
		w.lose("times beyond the greatest of the format (written as that)", beyond)
		if inside == 0 {
			err = errors.Join(err, fmt.Errorf("%s: all times but the first are too large for a Paraver trace", w.path))
		}
	}
	return err
}

// first returns the place of the first thread of all.
func (o *objects) first() place {
	for i := range o.tasks {
		if len(o.tasks[i].threads) > 0 {
			return o.place[o.tasks[i].threads[0]]
		}
	}
	return place{}
}

// writeHeader writes the first line. The format wants the date of the run, which is not
// known exactly; the same trace shall give the same bytes.
func (w *Writer) writeHeader(t *text) {
	date := "01/01/1970 at 00:00"
	if d := w.info.Properties["date"]; w.info.Format == Format && d != "" {
		date = strings.Map(func(r rune) rune {
			if r < ' ' || r == ')' {
				return ' '
			}
			return r
		}, d)
	}
	fmt.Fprintf(t, "%s(%s):%d_ns:", magic, date, t.time(w.max))
	nodes := "0" // a trace without processes
	if cpus := w.objects.cpus(); len(cpus) > 0 {
		nodes = fmt.Sprintf("%d(%s)", len(cpus), joined(cpus))
	}
	fmt.Fprintf(t, "%s:1:%d(", nodes, len(w.objects.tasks))
	for i, task := range w.objects.tasks {
		if i > 0 {
			t.lines = append(t.lines, ',')
		}
		fmt.Fprintf(t, "%d:%d", len(task.threads), task.node)
	}
	fmt.Fprintf(t, "),%d\n", len(w.commLines()))
}

func joined(n []int) string {
	s := make([]string, len(n))
	for i, v := range n {
		s[i] = strconv.Itoa(v)
	}
	return strings.Join(s, ",")
}

func (w *Writer) writeCommLines(t *text) {
	for _, l := range w.commLines() {
		t.lines = append(append(t.lines, l...), '\n')
	}
}

// commLines makes the lines of the communicators: those of the definitions in their order,
// then the groups of intercommunicators, then the communicators of single processes.
func (w *Writer) commLines() []string {
	p := w.groups
	var first, groups []string
	for i, c := range p.comms {
		switch {
		case !c.inter && (c.self || !c.usable):
			first = append(first, commLine(i+1, nil))
		case !c.inter:
			first = append(first, commLine(i+1, c.members))
		default:
			a, b := p.group(i, false), p.group(i, true)
			first = append(first, fmt.Sprintf("i:1:%d:%d:%d:%d:%d", i+1, a, leader(c.members), b, leader(c.remote)))
			groups = append(groups, commLine(a, c.members), commLine(b, c.remote))
		}
	}
	lines := append(first, groups...)
	if p.self > 0 {
		for r := range w.objects.tasks {
			lines = append(lines, commLine(p.self+r, []uint32{uint32(r)}))
		}
	}
	return lines
}

// leader returns the task of rank 0, by its number from 1; −1 if it is not known.
func leader(members []uint32) int64 {
	if len(members) == 0 || members[0] == trace.None {
		return -1
	}
	return int64(members[0]) + 1
}

// commLine makes a c: line; members are world ranks. Those that are not known are −1, as in
// traces of null communicators.
func commLine(id int, members []uint32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "c:1:%d:%d", id, len(members))
	for _, m := range members {
		if m == trace.None {
			b.WriteString(":-1")
		} else {
			fmt.Fprintf(&b, ":%d", m+1)
		}
	}
	return b.String()
}

// record adds the line of a record.
func (t *text) record(kind trace.Kind, time int64, a []uint64) {
	switch p := t.place[a[0]]; kind {
	case lineState:
		t.line(1, p, t.time(time), t.time(int64(a[1])), int64(a[2]))
	case lineEvent:
		t.begin(2, p)
		t.number(t.time(time))
		for _, v := range a[1:] {
			t.number(int64(v))
		}
		t.end()
	case lineComm:
		t.begin(3, p)
		t.number(t.time(int64(a[2])))
		t.number(t.time(int64(a[3])))
		to := t.place[a[1]]
		for _, v := range [...]int64{int64(to.cpu), 1, int64(to.task), int64(to.thread),
			t.time(int64(a[4])), t.time(int64(a[5])), int64(a[6]), int64(a[7])} {
			t.number(v)
		}
		t.end()
	}
}

// line adds a line of a type about a thread.
func (t *text) line(typ int64, p place, values ...int64) {
	t.begin(typ, p)
	for _, v := range values {
		t.number(v)
	}
	t.end()
}

func (t *text) begin(typ int64, p place) {
	t.lines = strconv.AppendInt(t.lines, typ, 10)
	for _, v := range [...]int{p.cpu, 1, p.task, p.thread} {
		t.number(int64(v))
	}
}

func (t *text) number(v int64) {
	t.lines = strconv.AppendInt(append(t.lines, ':'), v, 10)
}

func (t *text) end() { t.lines = append(t.lines, '\n') }
