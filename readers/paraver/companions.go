package paraver

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// A pcf holds the labels of a .pcf file, which has sections that begin with a keyword on a
// line of its own:
//
//	STATES
//	1    Running
//
//	EVENT_TYPE
//	9    50000001    MPI Point-to-point
//	VALUES
//	1    MPI_Send
//	0    Outside MPI
//
// The number before an event type is a colour. Values belong to all types that were listed
// since EVENT_TYPE. Colours and the options of Paraver's windows are passed over.
type pcf struct {
	states map[int64]string
	types  map[uint32]*eventType
}

// An eventType is a type of event; several types may share their values.
type eventType struct {
	label  string
	values *valueLabels
}

// A valueLabels holds the labels of one group of event types.
type valueLabels struct {
	labels    map[int64]string
	precision int // decimal digits of the values' fraction: 1234 with PRECISION 2 means 12.34
}

// A section is a part of a .pcf file that its keyword begins.
type section uint8

const (
	otherSection section = iota
	statesSection
	typesSection
	valuesSection
)

var sections = map[string]section{
	"DEFAULT_OPTIONS": otherSection, "DEFAULT_SEMANTIC": otherSection, "STATES_COLOR": otherSection,
	"GRADIENT_COLOR": otherSection, "GRADIENT_NAMES": otherSection,
	"STATES": statesSection, "EVENT_TYPE": typesSection, "VALUES": valuesSection,
}

// lineLimit is the longest line of a .pcf or .row file that is read; labels are names of
// functions and files.
const lineLimit = 1 << 20

// lines calls f for each line of a text, without white space around it. A line that is
// longer than the limit ends the text.
func lines(r io.Reader, f func(line string)) error {
	s := bufio.NewScanner(r)
	s.Buffer(nil, lineLimit)
	for s.Scan() {
		f(string(bytes.TrimSpace(s.Bytes())))
	}
	return s.Err()
}

// readPCF reads labels. What it does not understand it passes over: labels are a help.
func readPCF(r io.Reader) (*pcf, error) {
	p := &pcf{states: make(map[int64]string), types: make(map[uint32]*eventType)}
	at, group := otherSection, &valueLabels{}
	err := lines(r, func(line string) {
		if line == "" || line[0] == '#' {
			return
		}
		if next, ok := sections[line]; ok {
			if at = next; next == typesSection {
				group = &valueLabels{labels: make(map[int64]string)}
			}
			return
		}
		switch at {
		case statesSection:
			if n, label, ok := numbered(line); ok {
				p.states[n] = label
			}
		case typesSection:
			p.typeLine(line, group)
		case valuesSection:
			group.line(line)
		}
	})
	return p, err
}

// numbered splits "12  label". Extrae writes numbers from 2⁶³ on for negative ones.
func numbered(line string) (n int64, label string, ok bool) {
	i := strings.IndexAny(line, " \t")
	if i < 0 {
		i = len(line)
	}
	n, err := strconv.ParseInt(line[:i], 10, 64)
	if err != nil {
		u, uerr := strconv.ParseUint(line[:i], 10, 64)
		n, err = int64(u), uerr
	}
	return n, strings.TrimSpace(line[i:]), err == nil
}

// typeLine takes "gradient type label". A type that was described before gets the new
// label and keeps its values as well.
func (p *pcf) typeLine(line string, group *valueLabels) {
	if group.precisionLine(line) {
		return
	}
	_, rest, ok := numbered(line)
	if !ok {
		return
	}
	n, label, ok := numbered(rest)
	if !ok || n < 0 || n > 1<<32-1 {
		return
	}
	if old := p.types[uint32(n)]; old != nil && len(old.values.labels) > 0 && old.values != group {
		for v, l := range old.values.labels {
			group.labels[v] = l
		}
	}
	p.types[uint32(n)] = &eventType{label: label, values: group}
}

// line takes "value label".
func (g *valueLabels) line(line string) {
	if g.precisionLine(line) {
		return
	}
	if v, label, ok := numbered(line); ok && g.labels != nil {
		g.labels[v] = label
	}
}

// precisionLine takes "PRECISION n"; it returns false for all other lines.
func (g *valueLabels) precisionLine(line string) bool {
	rest, ok := strings.CutPrefix(line, "PRECISION")
	if !ok {
		return false
	}
	if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil && n >= 0 && n <= 18 {
		g.precision = n
	}
	return true
}

// typeLabel returns the label of an event type, "" if there is none.
func (p *pcf) typeLabel(t uint32) string {
	if e := p.types[t]; e != nil {
		return e.label
	}
	return ""
}

// label returns the label of a value of an event type.
func (p *pcf) label(t uint32, value int64) (string, bool) {
	if e := p.types[t]; e != nil && e.values.labels != nil {
		l, ok := e.values.labels[value]
		return l, ok
	}
	return "", false
}

// labelled reports whether values of a type have labels.
func (p *pcf) labelled(t uint32) bool {
	e := p.types[t]
	return e != nil && len(e.values.labels) > 0
}

// A rowFile holds the names of objects by level: CPU, NODE, THREAD, TASK, APPL …
type rowFile map[string][]string

// readRow reads a .row file: blocks of n names, which may be empty lines, in the order of the
// header's objects:
//
//	LEVEL TASK SIZE 2
//	rank 0
//	rank 1
//
// Levels come in any order, and n may differ from the number of objects.
func readRow(r io.Reader) (rowFile, error) {
	rows, level, left := make(rowFile), "", 0
	err := lines(r, func(line string) {
		if left > 0 {
			rows[level] = append(rows[level], line)
			left--
			return
		}
		f := strings.Fields(line)
		if len(f) == 4 && f[0] == "LEVEL" && f[2] == "SIZE" {
			if n, err := strconv.Atoi(f[3]); err == nil {
				level, left = f[1], n
			}
		}
	})
	return rows, err
}

// name returns the name of object i of a level, "" if there is none.
func (r rowFile) name(level string, i int) string {
	if names := r[level]; i >= 0 && i < len(names) {
		return names[i]
	}
	return ""
}
