package trace

import (
	"encoding/hex"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// The text form's definitions: one list of fields for each kind of definition, which
// writing and parsing share. A field points at a member of the definition; its type says
// how it looks.

// A textField is a key of a definition line.
type textField struct {
	key   string // "name" is written without the key
	value any    // pointer
	def   uint64 // the value that is left out, of numbers and references
}

// A textKind is a kind of definition.
type textKind struct {
	keyword string
	implied bool // by the short form
	count   func(*Defs) int
	grow    func(*Defs) // appends one
	fields  func(*Defs, int) []textField
}

// textKinds returns the kinds in the order in which they are written.
func textKinds() []textKind {
	return []textKind{
		kindOf("node", true, func(d *Defs) *[]SystemTreeNode { return &d.SystemTree }, nodeFields),
		kindOf("process", true, func(d *Defs) *[]LocationGroup { return &d.LocationGroups }, processFields),
		kindOf("location", false, func(d *Defs) *[]Location { return &d.Locations }, locationFields),
		kindOf("region", false, func(d *Defs) *[]Region { return &d.Regions }, regionFields),
		kindOf("group", true, func(d *Defs) *[]Group { return &d.Groups }, groupFields),
		kindOf("comm", true, func(d *Defs) *[]Comm { return &d.Comms }, commFields),
		kindOf("site", false, func(d *Defs) *[]SourceLocation { return &d.SourceLocations }, siteFields),
		kindOf("context", false, func(d *Defs) *[]CallingContext { return &d.CallingContexts }, contextFields),
		kindOf("member", false, func(d *Defs) *[]MetricMember { return &d.MetricMembers }, memberFields),
		kindOf("metric", false, func(d *Defs) *[]Metric { return &d.Metrics }, metricFields),
		kindOf("attribute", false, func(d *Defs) *[]Attribute { return &d.Attributes }, attributeFields),
		kindOf("opaque", false, func(d *Defs) *[]OpaqueDefinition { return &d.Opaque }, opaqueFields),
	}
}

// kindOf describes a kind whose definitions are a slice of Defs. A new definition has the
// defaults of its fields, so that the parser only sets what a line says.
func kindOf[T any](keyword string, implied bool, list func(*Defs) *[]T, fields func(*Defs, int) []textField) textKind {
	grow := func(d *Defs) {
		var row T
		l := list(d)
		*l = append(*l, row)
		for _, f := range fields(d, len(*l)-1) {
			f.setDefault()
		}
	}
	return textKind{keyword, implied, func(d *Defs) int { return len(*list(d)) }, grow, fields}
}

func nodeFields(d *Defs, i int) []textField {
	n := &d.SystemTree[i]
	return []textField{{"name", &n.Name, None}, {"class", &n.Class, None}, {"parent", (*uint32)(&n.Parent), None},
		{"ref", &n.Ref, uint64(i)}}
}

// processFields: a location group is a process (kind 1) unless the line says otherwise.
func processFields(d *Defs, i int) []textField {
	g := &d.LocationGroups[i]
	return []textField{{"name", &g.Name, None}, {"kind", &g.Kind, 1}, {"node", (*uint32)(&g.Node), None},
		{"creator", (*uint32)(&g.Creator), None}, {"ref", &g.Ref, uint64(i)}}
}

func locationFields(d *Defs, i int) []textField {
	l := &d.Locations[i]
	return []textField{{"name", &l.Name, None}, {"process", (*uint32)(&l.Group), None},
		{"kind", (*uint8)(&l.Kind), uint64(LocationCPUThread)}, {"events", &l.Events, 0},
		{"offsets", &l.ClockOffsets, 0}, {"ref", &l.Ref, uint64(i)}}
}

// regionFields has the defaults that fit the region's name.
func regionFields(d *Defs, i int) []textField {
	r := &d.Regions[i]
	paradigm, role := ParadigmUser, RoleFunction
	if f := MPIFunctionOf(d.String(r.Name)); f.Class != ClassNone {
		paradigm, role = ParadigmMPI, roleOf(f)
	}
	return []textField{{"name", &r.Name, None}, {"canonical", &r.Canonical, uint64(r.Name)},
		{"description", &r.Description, None}, {"role", (*uint8)(&r.Role), uint64(role)},
		{"paradigm", (*uint8)(&r.Paradigm), uint64(paradigm)}, {"flags", &r.Flags, 0}, {"file", &r.File, None},
		{"line", &r.BeginLine, 0}, {"end", &r.EndLine, 0}, {"ref", &r.Ref, uint64(i)}}
}

// roleOf returns the role that Score-P gives an MPI function.
func roleOf(f MPIFunction) RegionRole {
	switch f.Class {
	case ClassColl, ClassIcoll:
		switch f.Op {
		case CollBarrier:
			return RoleBarrier
		case CollBcast, CollScatter, CollScatterv:
			return RoleCollOne2All
		case CollReduce, CollGather, CollGatherv:
			return RoleCollAll2One
		case CollScan, CollExscan:
			return RoleCollOther
		}
		return RoleCollAll2All
	case ClassOther, ClassInit, ClassFinalize:
		return RoleFunction
	}
	return RolePoint2Point
}

// groupFields: the text form is mostly about MPI, so that is the paradigm left out.
func groupFields(d *Defs, i int) []textField {
	g := &d.Groups[i]
	return []textField{{"name", &g.Name, None}, {"kind", (*uint8)(&g.Kind), 0}, {"paradigm", (*uint8)(&g.Paradigm), uint64(ParadigmMPI)},
		{"flags", &g.Flags, 0}, {"members", &g.Members, 0}, {"ref", &g.Ref, uint64(i)}}
}

func commFields(d *Defs, i int) []textField {
	c := &d.Comms[i]
	return []textField{{"name", &c.Name, None}, {"group", (*uint32)(&c.Group), None}, {"remote", (*uint32)(&c.Remote), None},
		{"parent", (*uint32)(&c.Parent), None}, {"flags", &c.Flags, 0}, {"inter", &c.Inter, 0}, {"ref", &c.Ref, uint64(i)}}
}

func siteFields(d *Defs, i int) []textField {
	s := &d.SourceLocations[i]
	return []textField{{"file", &s.File, None}, {"line", &s.Line, 0}, {"ref", &s.Ref, uint64(i)}}
}

func contextFields(d *Defs, i int) []textField {
	c := &d.CallingContexts[i]
	return []textField{{"region", (*uint32)(&c.Region), None}, {"site", (*uint32)(&c.Site), None},
		{"parent", (*uint32)(&c.Parent), None}, {"ref", &c.Ref, uint64(i)}}
}

func memberFields(d *Defs, i int) []textField {
	m := &d.MetricMembers[i]
	return []textField{{"name", &m.Name, None}, {"description", &m.Description, None}, {"type", &m.Type, 0},
		{"mode", &m.Mode, 0}, {"value", (*uint8)(&m.Value), 0}, {"base", &m.Base, 0}, {"exponent", &m.Exponent, 0},
		{"unit", &m.Unit, None}, {"ref", &m.Ref, uint64(i)}}
}

func metricFields(d *Defs, i int) []textField {
	m := &d.Metrics[i]
	return []textField{{"members", &m.Members, 0}, {"occurrence", &m.Occurrence, 0}, {"kind", &m.Kind, 0},
		{"class", (*uint32)(&m.Class), None}, {"recorder", (*uint32)(&m.Recorder), None}, {"scope", &m.Scope, 0},
		{"scoperef", &m.ScopeRef, 0}, {"ref", &m.Ref, uint64(i)}}
}

func attributeFields(d *Defs, i int) []textField {
	a := &d.Attributes[i]
	return []textField{{"name", &a.Name, None}, {"description", &a.Description, None}, {"type", (*uint8)(&a.Type), 0},
		{"ref", &a.Ref, uint64(i)}}
}

// opaqueFields: the payload is in hexadecimal digits; it has no identifier of its own.
func opaqueFields(d *Defs, i int) []textField {
	o := &d.Opaque[i]
	return []textField{{"format", &o.Format, 0}, {"kind", &o.Kind, 0}, {"bigendian", &o.BigEndian, 0}, {"payload", &o.Payload, 0}}
}

const defaultResolution = 1_000_000_000 // ticks are nanoseconds

func clockFields(c *ClockProperties) []textField {
	return []textField{{"resolution", &c.Resolution, defaultResolution}, {"offset", &c.GlobalOffset, 0}, {"length", &c.Length, 0},
		{"realtime", &c.Realtime, math.MaxUint64}}
}

func infoFields(i *Info) []textField {
	return []textField{{"path", &i.Path, 0}, {"format", &i.Format, 0}, {"version", &i.Version, 0}, {"creator", &i.Creator, 0},
		{"machine", &i.Machine, 0}, {"description", &i.Description, 0}, {"traceid", &i.TraceID, 0}, {"bytes", &i.Bytes, 0}}
}

// setDefault gives numbers and references the value that is left out.
func (f *textField) setDefault() {
	switch v := f.value.(type) {
	case *uint8:
		*v = uint8(f.def)
	case *uint32:
		*v = uint32(f.def)
	case *uint64:
		*v = f.def
	case *StringID:
		*v = StringID(f.def)
	}
}

// A defWriter writes definition lines.
type defWriter struct {
	out   strings.Builder
	defs  *Defs
	first map[string]StringID // the first string of each text
}

func (w *defWriter) take() string {
	s := w.out.String()
	w.out.Reset()
	return s
}

// info writes what precedes all definitions; properties are sorted, so that the same trace
// gives the same text.
func (w *defWriter) info(i Info) {
	w.line("info", infoFields(&i))
	keys := make([]string, 0, len(i.Properties))
	for k := range i.Properties {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Fprintf(&w.out, "property %s value=%s\n", quote(k), quote(i.Properties[k]))
	}
	w.line("clock", clockFields(&w.defs.Clock))
}

// line writes a line unless all its values are defaults.
func (w *defWriter) line(keyword string, fields []textField) {
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
func (w *defWriter) definition(keyword string, i int, fields []textField) {
	fmt.Fprintf(&w.out, "%s %d", keyword, i)
	for _, f := range fields {
		w.field(&w.out, f)
	}
	w.out.WriteString("\n")
}

// field writes " key=value", or nothing if the value is the default.
func (w *defWriter) field(b *strings.Builder, f textField) {
	s := w.text(f)
	switch {
	case s == "":
	case f.key == "name":
		b.WriteString(" " + s)
	default:
		b.WriteString(" " + f.key + "=" + s)
	}
}

// text returns a value as it is written, "" for the default.
func (w *defWriter) text(f textField) string {
	switch v := f.value.(type) {
	case *StringID:
		return w.stringText(*v, f.def)
	case *uint8:
		return numberText(uint64(*v), f.def)
	case *uint32:
		return numberText(uint64(*v), f.def)
	case *uint64:
		return numberText(*v, f.def)
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
	case *[]MetricMemberID:
		return listText(*v)
	case *[]ClockOffset:
		return offsetsText(*v)
	default:
		panic(fmt.Sprintf("trace: no text form of %T", v))
	}
	return ""
}

// stringText writes a string as text if that means the same string again.
func (w *defWriter) stringText(id StringID, def uint64) string {
	if uint64(id) == def {
		return ""
	}
	if id == None {
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
	case v == None:
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
	if v == None {
		return "none"
	}
	return strconv.FormatUint(uint64(v), 10)
}

// offsetsText leaves a deviation of 0 out; others are written so that they are read as the
// same number.
func offsetsText(list []ClockOffset) string {
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
