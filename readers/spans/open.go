package spans

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tracekit/readers/arrowdir"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "spans"

// Options are the choices of Open.
type Options struct {
	recording.Options
	Columns map[string]string // by the first name of a field (Fields): the column that has it; others are found by name
	Unit    string            // one of Units: of times whose columns do not say it; "": seconds with fractions, else nanoseconds
	Job     string            // of several that the tables have, that whose rows are read; "": they have one
}

// Sniff reports whether a path is a table of spans; head is how its file begins, nil for a directory. Tables in a directory that
// tracekit has written are parts of its trace.
func Sniff(path string, head []byte) bool {
	switch {
	case head == nil:
		return len(Files(path)) > 0
	case len(head) == 0:
		return false
	case arrowdir.IsParquet(head), arrowdir.IsArrow(head):
		return !arrowdir.IsDir(filepath.Dir(path)) && !arrowdir.IsDir(filepath.Dir(filepath.Dir(path)))
	}
	plain, err := wire.Uncompressed(bytes.NewReader(head))
	if err != nil {
		return false
	}
	text := make([]byte, 16<<10)
	n := 0
	for n < len(text) && err == nil {
		var more int
		more, err = plain.Read(text[n:])
		n += more
	}
	return isCSV(text[:n])
}

// Open reads one trace from tables. An error wraps trace.ErrNotATrace if one is no table, or no column has what a span needs, or no row
// is valid.
func Open(ctx context.Context, paths []string, o Options) (*recording.Source, error) {
	starts, err := survey(ctx, paths, o)
	if err != nil {
		return nil, err
	}
	s, err := recording.Open(ctx, Format, paths, o.Options, func(ctx context.Context, f *recording.File) error {
		return read(ctx, f, o, starts)
	})
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.Defs().Locations, func(l trace.Location) bool { return l.Events > 0 }) {
		return s, nil
	}
	for _, f := range s.Findings() {
		if f.Code == trace.CodeBadValue || f.Code == trace.CodeCorrupt {
			return nil, errors.Join(fmt.Errorf("%s: %w: none of its rows is valid: %s", f.First.File, trace.ErrNotATrace, f.Text), s.Close())
		}
	}
	return s, nil
}

// A table is an open file.
type table struct {
	arrowdir.CellTable
	layout
	file    *os.File
	size    int64
	version string
	want    []int         // columns with a meaning
	at      [fields]int   // by field: where its cells are among those; -1: nowhere
	scale   [fields]scale // of times
}

// A scale makes nanoseconds of numbers.
type scale struct {
	ns float64
}

// open opens a table.
func open(path string, o Options) (_ *table, err error) {
	t := &table{}
	if t.file, t.size, err = wire.OpenRegular(path); err != nil {
		return nil, &recording.Missing{Err: err}
	}
	defer func() {
		if err != nil {
			t.file.Close()
		}
	}()
	head := make([]byte, 64)
	n, _ := t.file.ReadAt(head, 0)
	fractions := false
	switch head = head[:n]; {
	case arrowdir.IsParquet(head):
		t.version = "Parquet"
		t.CellTable, err = arrowdir.OpenParquet(t.file, t.size)
	case arrowdir.IsArrow(head):
		t.version = "Arrow"
		t.CellTable, err = arrowdir.OpenArrow(t.file, t.size)
	default:
		var c *csvTable
		if c, err = openCSV(t.file); err == nil {
			fractions = c.fraction
			t.CellTable, t.version = c, "CSV"
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, trace.ErrNotATrace, err)
	}
	columns := t.Columns()
	if t.layout, err = layoutOf(columns, o.Columns); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for f, c := range t.of {
		t.at[f] = -1
		if c >= 0 {
			t.at[f] = len(t.want)
			t.want = append(t.want, c)
		}
	}
	for _, f := range []field{fieldStart, fieldEnd, fieldDuration} {
		if c := t.of[f]; c >= 0 {
			fractions = fractions || columns[c].Kind == arrowdir.FloatCells
		}
	}
	otherwise := 1.0
	if fractions {
		otherwise = 1e9
	}
	for f := fieldStart; f <= fieldDuration; f++ {
		t.scale[f] = scale{cmp.Or(t.unit[f], units[o.Unit], otherwise)}
	}
	return t, nil
}

// rows passes rows on with their cells, and what cannot be decoded to bad.
func (t *table) rows(ctx context.Context, only []field, each func(r *row) error, bad func(row int64, err error)) error {
	want, r := t.want, &row{table: t, at: t.at}
	if only != nil { // of the wanted ones
		want = nil
		for f := range r.at {
			if r.at[f] = -1; t.of[f] >= 0 && slices.Contains(only, field(f)) {
				r.at[f] = len(want)
				want = append(want, t.of[f])
			}
		}
	}
	return t.Read(want, func(first int64, n int, cells []arrowdir.Cells) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.cells = cells
		for r.i = range n {
			r.number = first + int64(r.i)
			if err := each(r); err != nil {
				return err
			}
		}
		return nil
	}, bad)
}

// A row is one row of a table.
type row struct {
	*table
	number int64
	i      int // among the cells
	at     [fields]int
	cells  []arrowdir.Cells
}

// text returns the value of a column of texts, or of numbers; nil if there is none.
func (r *row) text(f field) []byte {
	at := r.at[f]
	if at < 0 || !r.cells[at].Valid[r.i] {
		return nil
	}
	c := &r.cells[at]
	switch {
	case len(c.Texts) > r.i:
		return c.Texts[r.i]
	case len(c.Ints) > r.i:
		return strconv.AppendInt(nil, c.Ints[r.i], 10)
	case len(c.Floats) > r.i:
		return strconv.AppendFloat(nil, c.Floats[r.i], 'g', -1, 64)
	}
	return nil
}

// belongs reports whether a row is one of a job.
func (r *row) belongs(job string) bool {
	return job == "" || string(bytes.TrimSpace(r.text(fieldJob))) == job
}

// integer returns the value of a column; ok is false if there is none, or none that is an integer.
func (r *row) integer(f field) (v int64, ok bool) {
	at := r.at[f]
	if at < 0 || !r.cells[at].Valid[r.i] {
		return 0, false
	}
	c := &r.cells[at]
	switch {
	case len(c.Ints) > r.i:
		return c.Ints[r.i], true
	case len(c.Floats) > r.i:
		v = int64(c.Floats[r.i])
		return v, float64(v) == c.Floats[r.i]
	case len(c.Texts) > r.i:
		text := string(bytes.TrimSpace(c.Texts[r.i]))
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil { // as pandas writes integers of which some are missing
			if x, err := strconv.ParseFloat(text, 64); err == nil {
				return int64(x), float64(int64(x)) == x
			}
			v, err = strconv.ParseInt(strings.TrimLeft(text, letters), 10, 64)
		}
		return v, err == nil
	}
	return 0, false
}

// letters are what a number may follow, as in cuda:0.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:- "

// wrong returns the name of a column of numbers of which the row has another value, "" if there is none.
func (r *row) wrong() string {
	for f := fieldRank; f <= fieldPeer; f++ {
		if f == fieldStream || f == fieldThread {
			continue
		}
		if _, ok := r.integer(f); !ok && len(bytes.TrimSpace(r.text(f))) > 0 {
			return synonyms[f][0]
		}
	}
	return ""
}

// time returns the value of a column of times in ns.
func (r *row) time(f field) (ns int64, ok bool) {
	at := r.at[f]
	if at < 0 || !r.cells[at].Valid[r.i] {
		return 0, false
	}
	c := &r.cells[at]
	switch {
	case len(c.Ints) > r.i:
		return r.scale[f].integer(c.Ints[r.i])
	case len(c.Floats) > r.i:
		return r.scale[f].number(c.Floats[r.i])
	case len(c.Texts) > r.i:
		text := string(bytes.TrimSpace(c.Texts[r.i]))
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return r.scale[f].integer(v)
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return r.scale[f].number(v)
		}
		if f == fieldDuration {
			return duration(text)
		}
		return moment(text)
	}
	return 0, false
}

// most bounds times, so that sums of two fit into 64 bits.
const most = 1 << 62

// layouts are the forms of dates with a time, with a fraction of the second or without one.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"}

// moment returns a date with a time, in ns since 1970.
func moment(text string) (ns int64, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixNano(), t.Year() > 1830 && t.Year() < 2110 // of which twice the ns fit into 64 bits
		}
	}
	return 0, false
}

// duration returns a duration in ns: 0 days 00:00:00.5, or without days.
func duration(text string) (ns int64, ok bool) {
	var days int64
	if count, rest, has := strings.Cut(text, " days "); has {
		v, err := strconv.ParseInt(count, 10, 16)
		if days, text = v, rest; err != nil || v < 0 {
			return 0, false
		}
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, false
	}
	d, err := time.ParseDuration(parts[0] + "h" + parts[1] + "m" + parts[2] + "s")
	return days*24*int64(time.Hour) + int64(d), err == nil && d >= 0
}

func (s scale) integer(v int64) (int64, bool) {
	if unit := int64(s.ns); float64(unit) == s.ns {
		return v * unit, v < most/unit && v > -most/unit
	}
	return s.number(float64(v))
}

func (s scale) number(v float64) (int64, bool) {
	ns := v * s.ns
	if !(ns > -most && ns < most) {
		return 0, false
	}
	if ns < 0 {
		return int64(ns - 0.5), true
	}
	return int64(ns + 0.5), true
}

// What may be wrong with a row.
var (
	errStart    = errors.New("no start, or none that is a time")
	errDuration = errors.New("no end or duration that is a time")
	errBackward = errors.New("it ends before it starts")
	errName     = errors.New("no name")
)

// span returns start and duration.
func (r *row) span() (start, duration int64, err error) {
	start, ok := r.time(fieldStart)
	if !ok {
		return 0, 0, errStart
	}
	if duration, ok = r.time(fieldDuration); !ok {
		end, ended := r.time(fieldEnd)
		if !ended {
			return 0, 0, errDuration
		}
		duration = end - start
	}
	if duration < 0 {
		return 0, 0, errBackward
	}
	return start, duration, nil
}

// stepLimit bounds the steps that are told apart; more are not placed.
const stepLimit = 1 << 20

// jobLimit bounds the jobs that a message names.
const jobLimit = 8

// survey finds whether times count from the begins of steps, and returns where these are placed then, by step. The error wraps
// trace.ErrNotATrace if the rows are not those of one job.
func survey(ctx context.Context, paths []string, o Options) (map[int64]int64, error) {
	type extent struct{ first, last int64 }
	steps := make(map[int64]*extent)
	var jobs []string
	for _, path := range paths {
		t, err := open(path, o)
		if err != nil {
			if len(paths) == 1 {
				return nil, err
			}
			continue // recording tells
		}
		if t.of[fieldStep] >= 0 {
			err = t.rows(ctx, []field{fieldStart, fieldEnd, fieldDuration, fieldStep, fieldJob}, func(r *row) error {
				if job := bytes.TrimSpace(r.text(fieldJob)); len(jobs) < jobLimit && len(job) > 0 &&
					!slices.ContainsFunc(jobs, func(known string) bool { return known == string(job) }) {
					jobs = append(jobs, wire.CutName(string(job)))
				}
				if !r.belongs(o.Job) {
					return nil
				}
				start, duration, err := r.span()
				step, ok := r.integer(fieldStep)
				if err != nil || !ok {
					return nil
				}
				e := steps[step]
				switch {
				case e != nil:
					e.first, e.last = min(e.first, start), max(e.last, start+duration)
				case len(steps) < stepLimit:
					steps[step] = &extent{start, start + duration}
				}
				return nil
			}, func(int64, error) {})
		}
		if err = errors.Join(err, t.file.Close()); err != nil {
			return nil, err
		}
	}
	slices.Sort(jobs)
	switch listed := strings.ToValidUTF8(strings.Join(jobs, ", "), "\uFFFD"); {
	case o.Job == "" && len(jobs) > 1:
		return nil, fmt.Errorf("%s: %w: it has the rows of several jobs (%s); choose one with --job", paths[0], trace.ErrNotATrace, listed)
	case o.Job != "" && len(steps) == 0 && !slices.Contains(jobs, o.Job):
		return nil, fmt.Errorf("%s: %w: it has no job %q; its jobs are %s", paths[0], trace.ErrNotATrace, o.Job, cmp.Or(listed, "not named"))
	}
	if len(steps) < 2 {
		return nil, nil
	}
	numbers := slices.Sorted(maps.Keys(steps))
	var begins, lengths []int64
	for _, e := range steps {
		begins, lengths = append(begins, e.first), append(lengths, e.last-e.first)
	}
	slices.Sort(begins)
	slices.Sort(lengths)
	if begins[len(begins)/2]-begins[0] >= lengths[len(lengths)/2]/2 {
		return nil, nil
	}
	starts, at := make(map[int64]int64, len(steps)), int64(0)
	for _, step := range numbers {
		e := steps[step]
		starts[step] = at - e.first
		if at += e.last - e.first; at >= most {
			return nil, nil
		}
	}
	return starts, nil
}
