package tracetest

import (
	"context"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"tracekit/trace"
)

// Format returns a trace in the text form, which Parse reads; with an error, what precedes
// it.
func Format(s trace.Source) (string, error) {
	var out strings.Builder
	d := s.Defs()
	head, locations := textDefs(s.Info(), d)
	out.WriteString(head)
	names := newNames(d)
	for id := range d.Locations {
		out.WriteString(locations[id])
		e := &eventWriter{out: &out, defs: d, names: names}
		for b, err := range s.Events(context.Background(), trace.LocationID(id)) {
			if err != nil {
				return out.String(), fmt.Errorf("reading events of location %d: %w", id, err)
			}
			e.batch(b)
		}
		e.end()
	}
	return out.String(), nil
}

// MustFormat is Format for tests, which fail if there is an error.
func MustFormat(t testing.TB, s trace.Source) string {
	t.Helper()
	text, err := Format(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// textDefs returns the lines before the locations, and the line of each location, in
// the shortest of three forms that means these definitions.
func textDefs(info trace.Info, d *trace.Defs) (head string, locations []string) {
	want, _ := formatDefs(info, d, defsStrings)
	for _, form := range []defsForm{defsShort, defsLong} {
		head, locations = formatDefs(info, d, form)
		m, err := Parse(head + strings.Join(locations, ""))
		if err != nil {
			continue
		}
		if got, locs := formatDefs(m.About, m.Definitions, defsStrings); got == want {
			_, wantLocs := formatDefs(info, d, defsStrings)
			if strings.Join(locs, "") == strings.Join(wantLocs, "") {
				return head, locations
			}
		}
	}
	return formatDefs(info, d, defsStrings)
}

// A defsForm says how much of the definitions is written.
type defsForm uint8

const (
	defsShort   defsForm = iota // ranks instead of processes, groups and communicators
	defsLong                    // all definitions but the strings
	defsStrings                 // all definitions, complete beyond doubt
)

// formatDefs writes definitions in a form. The short form loses what is not the default.
func formatDefs(info trace.Info, d *trace.Defs, form defsForm) (head string, locations []string) {
	w := &defWriter{defs: d, first: make(map[string]trace.StringID)}
	for i := len(d.Strings) - 1; i >= 0; i-- {
		w.first[d.Strings[i]] = trace.StringID(i)
	}
	w.info(info)
	if form == defsStrings {
		w.strings()
	}
	var location trace.DefKind
	for _, k := range trace.DefKinds() {
		if k.Name == "location" {
			location = k
			continue
		}
		if form == defsShort && impliedByRanks(k.Name) {
			continue
		}
		for i := range k.Count(d) {
			w.definition(k.Name, i, k.Fields(d, i))
		}
	}
	head = w.take()
	ranks := d.Ranks()
	for i := range d.Locations {
		f := location.Fields(d, i)
		if form == defsShort {
			f = shortLocation(f, ranks[i])
		}
		w.definition("location", i, f)
		locations = append(locations, w.take())
	}
	return head, locations
}

// impliedByRanks tells the kinds of definition that the short form does without.
func impliedByRanks(kind string) bool {
	return kind == "node" || kind == "process" || kind == "group" || kind == "comm"
}

// shortLocation replaces the process of a location by its rank.
func shortLocation(fields []trace.Field, rank uint32) []trace.Field {
	if rank == trace.None {
		return fields
	}
	out := make([]trace.Field, 0, len(fields))
	for _, f := range fields {
		if f.Name == "process" {
			f = trace.Field{Name: "rank", Value: &rank, Default: trace.None}
		}
		out = append(out, f)
	}
	return out
}

// A defWriter writes definition lines.
type defWriter struct {
	out   strings.Builder
	defs  *trace.Defs
	first map[string]trace.StringID // the first string of each text
}

func (w *defWriter) take() string {
	s := w.out.String()
	w.out.Reset()
	return s
}

// info writes what precedes all definitions; properties are sorted, so that the same trace
// gives the same text.
func (w *defWriter) info(i trace.Info) {
	w.line("info", i.Fields())
	keys := make([]string, 0, len(i.Properties))
	for k := range i.Properties {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&w.out, "property %s value=%s\n", quote(k), quote(i.Properties[k]))
	}
	w.line("clock", w.defs.Clock.Fields())
}

// line writes a line unless all its values are defaults.
func (w *defWriter) line(keyword string, fields []trace.Field) {
	var b strings.Builder
	for _, f := range fields {
		w.field(&b, f)
	}
	if b.Len() > 0 {
		w.out.WriteString(keyword + b.String() + "\n")
	}
}

func (w *defWriter) strings() {
	for i, s := range w.defs.Strings {
		fmt.Fprintf(&w.out, "string %d %s", i, strconv.Quote(s))
		if w.defs.StringRefs != nil {
			fmt.Fprintf(&w.out, " ref=%d", w.defs.StringRefs[i])
		}
		w.out.WriteString("\n")
	}
}

// definition writes a line with its number, even if all its values are defaults.
func (w *defWriter) definition(keyword string, i int, fields []trace.Field) {
	fmt.Fprintf(&w.out, "%s %d", keyword, i)
	for _, f := range fields {
		w.field(&w.out, f)
	}
	w.out.WriteString("\n")
}

// field writes " key=value", or nothing if the value is the default.
func (w *defWriter) field(b *strings.Builder, f trace.Field) {
	s := w.text(f)
	switch {
	case s == "":
	case f.Name == "name":
		b.WriteString(" " + s)
	default:
		b.WriteString(" " + f.Name + "=" + s)
	}
}

// text returns a value as it is written, "" for the default.
func (w *defWriter) text(f trace.Field) string {
	switch v := f.Value.(type) {
	case *trace.StringID:
		return w.stringText(*v, f.Default)
	case *uint8:
		return numberText(uint64(*v), f.Default)
	case *uint32:
		return numberText(uint64(*v), f.Default)
	case *uint64:
		return numberText(*v, f.Default)
	case *int64:
		if *v != 0 {
			return strconv.FormatInt(*v, 10)
		}
	case *bool:
		if *v {
			return "1"
		}
	case *string:
		if *v != "" {
			return quote(*v)
		}
	case *[]byte:
		return hex.EncodeToString(*v)
	case *[]uint32:
		return listText(*v)
	case *[]trace.MetricMemberID:
		return listText(*v)
	case *[]trace.ClockOffset:
		return offsetsText(*v)
	default:
		panic(fmt.Sprintf("tracetest: no text form of %T", v))
	}
	return ""
}

// stringText writes a string as text if that means the same string again.
func (w *defWriter) stringText(id trace.StringID, def uint64) string {
	if uint64(id) == def {
		return ""
	}
	if id == trace.None {
		return "none"
	}
	if int(id) >= len(w.defs.Strings) || w.first[w.defs.Strings[id]] != id {
		return fmt.Sprintf("$%d", id)
	}
	return quote(w.defs.Strings[id])
}

// numberText returns "" for the default. None is a word in all types of number that can
// hold it, because parseNumber reads it so.
func numberText(v, def uint64) string {
	switch {
	case v == def:
		return ""
	case v == trace.None:
		return "none"
	}
	return strconv.FormatUint(v, 10)
}

func listText[T ~uint32](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = idText(uint32(v))
	}
	return strings.Join(words, ",")
}

func idText(v uint32) string {
	if v == trace.None {
		return "none"
	}
	return strconv.FormatUint(uint64(v), 10)
}

// offsetsText leaves a deviation of 0 out; others are written so that they are read as the
// same number.
func offsetsText(list []trace.ClockOffset) string {
	words := make([]string, len(list))
	for i, o := range list {
		words[i] = fmt.Sprintf("%d:%d", o.Time, o.Offset)
		if o.Deviation != 0 {
			words[i] += ":" + strconv.FormatFloat(o.Deviation, 'g', -1, 64)
		}
	}
	return strings.Join(words, ",")
}

// quote returns a text as a word, quoted if need be.
func quote(s string) string {
	if isWord(s) {
		return s
	}
	return strconv.Quote(s)
}

// isWord reports whether a text can be written without quotes.
func isWord(s string) bool {
	if s == "" || s == "none" || !isLetter(s[0]) {
		return false
	}
	for i := range len(s) {
		if !isLetter(s[i]) && (s[i] < '0' || s[i] > '9') && !strings.ContainsRune(".:/-", rune(s[i])) {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
