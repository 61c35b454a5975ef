package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/trace"
)

// A Table describes a table of an analysis: what its rows are in the document, and what its columns mean. Text and page show the
// columns that have their face.
type Table struct {
	Key      string   `json:"key"`
	Title    string   `json:"title"`
	Tab      string   `json:"tab"`             // part of the page that shows it; "": text alone does
	Path     string   `json:"path"`            // of its rows in the document: devices[].streams[] are all streams of all devices
	Where    string   `json:"where,omitempty"` // key of what a row must have on the page
	Note     string   `json:"note,omitempty"`
	Modelled bool     `json:"modelled,omitempty"` // all of it is a model's if the trace was rebuilt
	Columns  []Column `json:"columns"`
	What     string   `json:"-"` // its rows are, where text tells how many there are
}

// A Column describes a column. Its value is what a row, or what the row lies in, has at Key.
type Column struct {
	Key      string    `json:"key"` // dots lead into blocks, numbers into lists
	Title    string    `json:"title"`
	Unit     unit.Unit `json:"unit,omitempty"`
	Of       string    `json:"of,omitempty"`       // key of the whole of which text shows the share
	With     string    `json:"with,omitempty"`     // key without which there is no value
	Says     string    `json:"says,omitempty"`     // what a Flag says, an Operation or a Launcher that is none
	Term     string    `json:"term,omitempty"`     // the word of the glossary that explains it
	Modelled bool      `json:"modelled,omitempty"` // it is a model's if the trace was rebuilt
	Bar      bool      `json:"bar,omitempty"`      // the page draws it behind the number
	Faces    Faces     `json:"faces,omitempty"`

	Value func(Row) any `json:"-"` // instead of what is at Key: nil where it is not known; in text alone
}

// Of makes the value of a column from what rows of a type have.
func Of[T any](value func(*T) any) func(Row) any {
	return func(r Row) any { return value(r[0].(*T)) }
}

// Faces are where a column is shown; 0 is in text and on the page, of the whole run.
type Faces uint8

// The faces of an analysis.
const (
	InText Faces = 1 << iota
	OnPage
	Selected   // on the page, of a selected time, as far as the timeline tells
	Everywhere = InText | OnPage | Selected
)

// has reports whether a face shows a column.
func (f Faces) has(face Faces) bool { return f == 0 || f&face != 0 }

// A Row is a row of the document and what it lies in, the innermost first.
type Row []any

// RowsOf makes rows of a list of the document.
func RowsOf[T any](list []T) []Row {
	out := make([]Row, len(list))
	for i := range list {
		out[i] = Row{&list[i]}
	}
	return out
}

// rows returns the rows of a table: each with what it lies in, the document last.
func (s *Sections) rows(t *Table) []Row { return Row{s.Analysis}.Below(t.Path) }

// Below returns the rows at a path from a row.
func (r Row) Below(path string) (out []Row) {
	if path == "" {
		return []Row{r}
	}
	step, rest, _ := strings.Cut(path, ".")
	name, list := strings.CutSuffix(step, "[]")
	v, ok := member(reflect.Indirect(reflect.ValueOf(r[0])), name)
	switch {
	case !ok || v.Kind() == reflect.Pointer && v.IsNil():
	case list:
		for i := range v.Len() {
			out = append(out, append(Row{v.Index(i).Addr().Interface()}, r...).Below(rest)...)
		}
	default:
		out = append(Row{v.Interface()}, r...).Below(rest)
	}
	return out
}

// longest sorts rows by a time or a slowdown, the longest first.
func longest(rows []Row, key string) []Row {
	of := func(r Row) float64 {
		v, _ := r.Value(key)
		switch x := v.(type) {
		case int64:
			return float64(x)
		case float64:
			return x
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(of(b), of(a)) })
	return rows
}

// top returns the first rows, as many as a table shows.
func top[T any](s *Sections, rows []T) []T { return rows[:min(s.Top, len(rows))] }

// Value returns what a row has at a key: nil where it is not known, and whether it has such a place at all.
func (r Row) Value(key string) (value any, ok bool) {
	for _, of := range r {
		v := reflect.ValueOf(of)
		ok = true
		for part := range strings.SplitSeq(key, ".") {
			if key == "" {
				break
			}
			for v.Kind() == reflect.Pointer && !v.IsNil() {
				v = v.Elem()
			}
			if v, ok = member(v, part); !ok {
				break
			}
		}
		if ok && v.Kind() == reflect.Pointer && v.IsNil() {
			return nil, true
		}
		if ok {
			return v.Interface(), true
		}
	}
	return nil, false
}

// member returns a field of a block by its name in the document, or an element of a list.
func member(v reflect.Value, name string) (reflect.Value, bool) {
	switch v.Kind() {
	case reflect.Slice:
		i, err := strconv.Atoi(name)
		if err != nil || i >= v.Len() {
			return v, false
		}
		return v.Index(i), true
	case reflect.Struct:
		if index := fieldOf(v.Type(), name); index != nil {
			at, err := v.FieldByIndexErr(index)
			return at, err == nil
		}
	}
	return v, false
}

// fieldsOf holds the fields of types by their names in the document: map[string][]int by reflect.Type.
var fieldsOf sync.Map

// fieldOf returns the index of a field by its name in the document, nil if there is none.
func fieldOf(t reflect.Type, name string) []int {
	known, ok := fieldsOf.Load(t)
	if !ok {
		fields := make(map[string][]int)
		for _, f := range reflect.VisibleFields(t) {
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag != "" && fields[tag] == nil {
				fields[tag] = f.Index
			}
		}
		known, _ = fieldsOf.LoadOrStore(t, fields)
	}
	return known.(map[string][]int)[name]
}

// line returns the source line of a row, or of the block at a key.
func (r Row) line(key string) (line field.SourceLine, ok bool) {
	if key != "" {
		v, ok := r.Value(key)
		if !ok {
			return line, false
		}
		r = Row{v}
	}
	for _, of := range r {
		if f := reflect.Indirect(reflect.ValueOf(of)).FieldByName("SourceLine"); f.IsValid() {
			return f.Interface().(field.SourceLine), true
		}
	}
	return line, false
}

// cell returns the text of a column in a row.
func (s *Sections) cell(c *Column, r Row) string {
	if c.With != "" {
		if with, _ := r.Value(c.With); with == nil || with == field.Rank(trace.None) {
			return "-"
		}
	}
	if c.Unit == unit.Place {
		line, ok := r.line(c.Key)
		if !ok {
			return ""
		}
		return s.place(line)
	}
	value, ok := c.value(r)
	if !ok {
		return ""
	}
	v := reflect.ValueOf(value)
	if value == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return "-"
	}
	v = reflect.Indirect(v)
	if c.Of != "" {
		whole, _ := r.Value(c.Of)
		return words.PartOf(v.Int(), reflect.ValueOf(whole).Int())
	}
	var number int64
	switch {
	case v.CanInt():
		number = v.Int()
	case v.CanUint():
		number = int64(v.Uint())
	}
	switch c.Unit {
	case unit.Operation:
		line, _ := r.line("")
		if v.String() == "" && s.Analysis.Efficiency != nil && !strings.HasPrefix(string(line.Region), "(") {
			return c.Says
		}
	case unit.Launcher:
		if call, _ := r.Value("call"); call == field.Name("") {
			return c.Says
		}
	case unit.Flag:
		if v.Bool() {
			return c.Says
		}
		return ""
	case unit.Plain:
		return strconv.FormatInt(number, 10)
	case unit.Count:
		return words.Count(number)
	case unit.Time:
		return words.Time(number)
	case unit.Instant:
		return words.Time(number - s.Analysis.Trace.StartNs)
	case unit.Bytes:
		return words.Bytes(uint64(number))
	case unit.Rank:
		return words.Rank(field.Rank(number))
	case unit.Share:
		return words.Share(v.Float())
	case unit.Bandwidth:
		return words.Bytes(uint64(v.Float())) + "/s"
	case unit.Decimal:
		x := v.Float()
		return words.Decimal(&x)
	case unit.Number:
		x := v.Float()
		return words.Number(&x)
	case unit.Ratio:
		x := v.Float()
		return words.Thousandths(&x)
	case unit.Mean:
		return words.Nanoseconds(v.Float())
	case unit.Points:
		return strconv.FormatFloat(100*v.Float(), 'f', 2, 64)
	case unit.Gained:
		return fmt.Sprintf("%+.2f", 100*v.Float())
	case unit.YesNo:
		if v.Bool() {
			return "yes"
		}
		return "no"
	}
	return v.String()
}

// value returns what a column has in a row.
func (c *Column) value(r Row) (any, bool) {
	if c.Value != nil {
		return c.Value(r), true
	}
	return r.Value(c.Key)
}

// begin makes the text of a table: its title, what is added to it, how many rows there are of how many, notes, and the top rows.
func (s *Sections) begin(t *Table, added string, rows []Row, notes ...string) *text.Grid {
	g := s.Grid(t.Title + added)
	if t.Modelled {
		g.Heading = text.Modelled + g.Heading
	}
	if t.What != "" {
		g.Heading += s.Of(len(rows), t.What)
	}
	for _, note := range slices.Concat([]string{t.Note}, notes) {
		if note != "" {
			g.Note(note)
		}
	}
	var shown []*Column
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.Faces.has(InText) {
			continue
		}
		title := c.Title
		if c.Modelled {
			title = text.Modelled + title
		}
		switch {
		case c.Unit == unit.Label || c.Unit == unit.WaitState:
			title = "<"
		case c.Unit.Left():
			title = "<" + title
		}
		g.Titles, shown = append(g.Titles, title), append(shown, c)
	}
	if t.What != "" {
		rows = top(s, rows)
	}
	for _, r := range rows {
		var cells []string
		for _, c := range shown {
			cells = append(cells, s.cell(c, r))
		}
		g.Add(cells...)
	}
	return g
}

// Table prints a table.
func (s *Sections) Table(t *Table, rows []Row, notes ...string) {
	s.Show(s.begin(t, "", rows, notes...))
}

// A part is what a row has besides: its share of a whole that is known in the end.
type part struct {
	Share *float64 `json:"share"`
}

// partOf returns a part of a whole, nothing of nothing.
func partOf(ns int64, whole float64) part {
	if whole == 0 {
		return part{}
	}
	x := float64(ns) / whole
	return part{&x}
}
