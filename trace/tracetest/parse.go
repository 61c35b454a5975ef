package tracetest

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tracekit/trace"
)

// Parse reads a trace in text form. Each location has one batch. The errors are
// SyntaxErrors that name line and column.
func Parse(text string) (*trace.MemorySource, error) {
	p := &parser{
		src:       &trace.MemorySource{Definitions: &trace.Defs{}},
		kinds:     make(map[string]trace.DefKind),
		stringIDs: make(map[string]trace.StringID),
		masters:   make(map[uint32]trace.LocationID),
	}
	for _, f := range p.src.Definitions.Clock.Fields() {
		f.SetDefault()
	}
	for _, k := range trace.DefKinds() {
		p.kinds[k.Name] = k
	}
	if err := p.parse(text); err != nil {
		return nil, &trace.SyntaxError{File: "text", Offset: -1, Line: p.line, Err: err}
	}
	return p.src, nil
}

// MustParse is Parse for tests, which fail if there is an error.
func MustParse(t testing.TB, text string) *trace.MemorySource {
	t.Helper()
	m, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A parser reads the definitions first, whatever their order among the events, then
// the events.
type parser struct {
	src       *trace.MemorySource
	kinds     map[string]trace.DefKind
	stringIDs map[string]trace.StringID
	masters   map[uint32]trace.LocationID // the first location of each rank
	ranks     uint32
	numbered  bool // there are lines of strings
	grouped   bool // there are lines of groups or complete communicators
	deferred  []deferred
	names     *names
	line      int
	stacks    []trace.CallStack[visit] // by location
}

// deferred is a line of events, or a short communicator, that waits for its turn.
type deferred struct {
	number   int
	location int
	words    []word
}

// A word is a word of a line: key=value, or a value alone.
type word struct {
	column     int
	key, value string
	quoted     bool
}

func (w word) errorf(format string, args ...any) error {
	return fmt.Errorf("column %d: %s", w.column, fmt.Sprintf(format, args...))
}

// separator is the word between events.
const separator = ";"

// parse reads the lines. Definitions take effect at once, so that they are numbered in
// order; events wait, because a communicator may be defined below them.
func (p *parser) parse(text string) error {
	location := -1
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		words, err := splitWords(line)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' {
			if location < 0 {
				return words[0].errorf("events before the first location")
			}
			p.deferred = append(p.deferred, deferred{p.line, location, words})
			continue
		}
		if err := p.definition(words); err != nil {
			return err
		}
		location = len(p.src.Definitions.Locations) - 1
	}
	return p.finish()
}

// finish makes the world, the short communicators and the events.
func (p *parser) finish() error {
	d := p.src.Definitions
	if !p.grouped && p.ranks > 0 {
		p.world()
	}
	for _, l := range p.deferred {
		if p.line = l.number; l.location < 0 {
			if err := p.shortComm(l.words); err != nil {
				return err
			}
		}
	}
	p.names = newNames(d)
	p.stacks = make([]trace.CallStack[visit], len(d.Locations))
	for i := range d.Locations {
		b := &trace.Batch{}
		b.Reset(trace.LocationID(i), 0)
		p.src.Batches = append(p.src.Batches, []*trace.Batch{b})
	}
	for _, l := range p.deferred {
		if p.line = l.number; l.location >= 0 {
			if err := p.events(p.src.Batches[l.location][0], l.words); err != nil {
				return err
			}
		}
	}
	if !p.numbered {
		renumberStrings(d)
	}
	return nil
}

// renumberStrings numbers the strings in the order in which the definitions are written,
// so that a text written from these definitions need not say it.
func renumberStrings(d *trace.Defs) {
	number := make(map[trace.StringID]trace.StringID)
	var sorted []string
	for _, k := range trace.DefKinds() {
		for i := range k.Count(d) {
			for _, f := range k.Fields(d, i) {
				id, ok := f.Value.(*trace.StringID)
				if !ok || int(*id) >= len(d.Strings) {
					continue
				}
				n, ok := number[*id]
				if !ok {
					n = trace.StringID(len(sorted))
					number[*id] = n
					sorted = append(sorted, d.Strings[*id])
				}
				*id = n
			}
		}
	}
	d.Strings = sorted
}

// splitWords cuts a line into words, without comment.
func splitWords(line string) ([]word, error) {
	var words []word
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '#':
			return words, nil
		case c == ';':
			words = append(words, word{column: i + 1, value: separator})
			i++
		default:
			w, n, err := oneWord(line[i:], i+1)
			if err != nil {
				return nil, err
			}
			words, i = append(words, w), i+n
		}
	}
	return words, nil
}

// oneWord cuts the first word off s; n is its length.
func oneWord(s string, column int) (w word, n int, err error) {
	w.column = column
	if s[0] != '"' {
		n = strings.IndexAny(s, " \t\r;#\"=")
		if n < 0 {
			n = len(s)
		}
		if w.value = s[:n]; n == len(s) || s[n] != '=' {
			if n == 0 || n < len(s) && s[n] == '"' {
				return w, n, w.errorf("misplaced %q", s[n])
			}
			return w, n, nil
		}
		w.key, w.value = s[:n], ""
		n++
	}
	if n < len(s) && s[n] == '"' {
		q, err := strconv.QuotedPrefix(s[n:])
		if err != nil {
			return w, n, w.errorf("a quoted text does not end")
		}
		w.value, _ = strconv.Unquote(q)
		w.quoted = true
		return w, n + len(q), nil
	}
	end := strings.IndexAny(s[n:], " \t\r;#\"")
	if end < 0 {
		end = len(s) - n
	}
	w.value = s[n : n+end]
	return w, n + end, nil
}

// definition reads a line that is not indented.
func (p *parser) definition(words []word) error {
	keyword, rest := words[0], words[1:]
	if keyword.key != "" || keyword.quoted {
		return keyword.errorf("a line begins with a keyword")
	}
	switch keyword.value {
	case "clock":
		return p.set(p.src.Definitions.Clock.Fields(), rest)
	case "info":
		return p.set(p.src.About.Fields(), rest)
	case "property":
		return p.property(keyword, rest)
	case "string":
		return p.stringLine(keyword, rest)
	}
	kind, ok := p.kinds[keyword.value]
	if !ok {
		return keyword.errorf("unknown definition %q", keyword.value)
	}
	if keyword.value == "comm" && isShortComm(rest) {
		p.deferred = append(p.deferred, deferred{p.line, -1, words})
		return nil
	}
	p.grouped = p.grouped || keyword.value == "group" || keyword.value == "comm"
	return p.add(kind, rest)
}

// add appends a definition: [number] [name] key=value …
func (p *parser) add(kind trace.DefKind, words []word) error {
	d := p.src.Definitions
	i := kind.Count(d)
	words, err := checkNumber(words, i)
	if err != nil {
		return err
	}
	kind.Grow(d)
	if len(words) > 0 && words[0].key == "" {
		words[0].key = "name"
	}
	// The name first: the defaults of a region depend on it.
	var rest, rank []word
	for _, w := range words {
		switch {
		case w.key == "name":
			if err := p.set(kind.Fields(d, i), []word{w}); err != nil {
				return err
			}
		case w.key == "rank" && kind.Name == "location":
			rank = append(rank, w)
		default:
			rest = append(rest, w)
		}
	}
	fields := kind.Fields(d, i)
	for _, f := range fields {
		if f.Name != "name" {
			f.SetDefault()
		}
	}
	for _, w := range rank {
		if err := p.rank(trace.LocationID(i), w); err != nil {
			return err
		}
	}
	return p.set(fields, rest)
}

// checkNumber takes the number off a definition if there is one.
func checkNumber(words []word, want int) ([]word, error) {
	if len(words) == 0 || words[0].key != "" || words[0].quoted {
		return words, nil
	}
	n, err := strconv.ParseUint(words[0].value, 10, 32)
	if err != nil {
		return words, nil
	}
	if int(n) != want {
		return nil, words[0].errorf("number %d where %d is next", n, want)
	}
	return words[1:], nil
}

// field is a key of a line that is no definition.
func field(key string, value any, def uint64) trace.Field {
	return trace.Field{Name: key, Value: value, Default: def}
}

// set gives fields the values of words.
func (p *parser) set(fields []trace.Field, words []word) error {
next:
	for _, w := range words {
		for _, f := range fields {
			if f.Name == w.key {
				if err := p.value(f, w); err != nil {
					return err
				}
				continue next
			}
		}
		return w.errorf("unknown key %q", w.key)
	}
	return nil
}

func (p *parser) value(f trace.Field, w word) (err error) {
	switch v := f.Value.(type) {
	case *trace.StringID:
		*v, err = p.stringRef(w)
	case *uint8:
		err = parseNumber(v, w, 8)
	case *uint32:
		err = parseNumber(v, w, 32)
	case *uint64:
		err = parseNumber(v, w, 64)
	case *int64:
		*v, err = parseInt(w)
	case *bool:
		*v = w.value == "1"
	case *string:
		*v = w.value
	case *[]byte:
		if *v, err = hex.DecodeString(w.value); err != nil {
			err = w.errorf("%v", err)
		}
	case *[]uint32:
		*v, err = parseList[uint32](w)
	case *[]trace.MetricMemberID:
		*v, err = parseList[trace.MetricMemberID](w)
	case *[]trace.ClockOffset:
		*v, err = parseOffsets(w)
	}
	return err
}

// parseNumber reads decimal and, with 0x, hexadecimal numbers; "none" is None.
func parseNumber[T ~uint8 | ~uint32 | ~uint64](v *T, w word, bits int) error {
	if w.value == "none" && bits > 8 {
		n := uint64(trace.None)
		*v = T(n)
		return nil
	}
	n, err := strconv.ParseUint(w.value, 0, bits)
	if err != nil {
		return w.errorf("%q is no number of %d bits", w.value, bits)
	}
	*v = T(n)
	return nil
}

func parseInt(w word) (int64, error) {
	n, err := strconv.ParseInt(w.value, 10, 64)
	if err != nil {
		return 0, w.errorf("%q is no integer", w.value)
	}
	return n, nil
}

func parseList[T ~uint32](w word) ([]T, error) {
	var list []T
	for _, s := range strings.Split(w.value, ",") {
		var n T
		if err := parseNumber(&n, word{column: w.column, value: s}, 32); err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

func parseOffsets(w word) ([]trace.ClockOffset, error) {
	var list []trace.ClockOffset
	for _, s := range strings.Split(w.value, ",") {
		var o trace.ClockOffset
		parts := strings.Split(s, ":")
		if len(parts) < 2 || len(parts) > 3 {
			return nil, w.errorf("%q is not TIME:OFFSET[:DEVIATION]", s)
		}
		var err [3]error
		o.Time, err[0] = strconv.ParseInt(parts[0], 10, 64)
		o.Offset, err[1] = strconv.ParseInt(parts[1], 10, 64)
		if len(parts) == 3 {
			o.Deviation, err[2] = strconv.ParseFloat(parts[2], 64)
		}
		for _, e := range err {
			if e != nil {
				return nil, w.errorf("%q is not TIME:OFFSET[:DEVIATION]", s)
			}
		}
		list = append(list, o)
	}
	return list, nil
}

// intern returns the string with a text and makes it if there is none.
func (p *parser) intern(s string) trace.StringID {
	if id, ok := p.stringIDs[s]; ok {
		return id
	}
	d := p.src.Definitions
	id := trace.StringID(len(d.Strings))
	d.Strings = append(d.Strings, s)
	if d.StringRefs != nil {
		d.StringRefs = append(d.StringRefs, uint32(id))
	}
	p.stringIDs[s] = id
	return id
}

func (p *parser) stringRef(w word) (trace.StringID, error) {
	if !w.quoted && w.value == "none" {
		return trace.None, nil
	}
	if !w.quoted && strings.HasPrefix(w.value, "$") {
		n, err := strconv.ParseUint(w.value[1:], 10, 32)
		if err != nil {
			return 0, w.errorf("%q is no number of a string", w.value)
		}
		return trace.StringID(n), nil
	}
	return p.intern(w.value), nil
}

// stringLine adds a string even if there is one with the same text: only string lines can
// make duplicates, which $n then tells apart.
func (p *parser) stringLine(keyword word, words []word) error {
	p.numbered = true
	d := p.src.Definitions
	id := trace.StringID(len(d.Strings))
	words, err := checkNumber(words, int(id))
	if err != nil {
		return err
	}
	if len(words) == 0 || words[0].key != "" {
		return keyword.errorf("a string has a text")
	}
	d.Strings = append(d.Strings, words[0].value)
	if _, ok := p.stringIDs[words[0].value]; !ok {
		p.stringIDs[words[0].value] = id
	}
	ref := uint32(id)
	if err := p.set([]trace.Field{field("ref", &ref, 0)}, words[1:]); err != nil {
		return err
	}
	if len(words) > 1 || d.StringRefs != nil {
		for len(d.StringRefs) < int(id) {
			d.StringRefs = append(d.StringRefs, uint32(len(d.StringRefs)))
		}
		d.StringRefs = append(d.StringRefs, ref)
	}
	return nil
}

func (p *parser) property(keyword word, words []word) error {
	if len(words) != 2 || words[0].key != "" || words[1].key != "value" {
		return keyword.errorf("a property is a name and value=…")
	}
	if p.src.About.Properties == nil {
		p.src.About.Properties = make(map[string]string)
	}
	p.src.About.Properties[words[0].value] = words[1].value
	return nil
}
