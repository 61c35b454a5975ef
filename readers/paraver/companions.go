package paraver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
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
// The number before an event type is a color. Values belong to all types that were listed
// since EVENT_TYPE. Colors and the options of Paraver's windows are passed over.
//
// described is the number of labels that types kept which were described again.
type pcf struct {
	states    map[int64]string
	types     map[uint32]*eventType
	lines     lineCount
	described int
}

// maxDescribed bounds the labels that are copied because their type is described again.
const maxDescribed = 1 << 20

// An eventType is a type of event; several types may share their values.
type eventType struct {
	label  string
	values *valueLabels
}

// A valueLabels holds the labels of one group of event types.
type valueLabels struct {
	labels    map[int64]string
	earlier   map[int64]bool // labels that a type kept which is described again; they may be replaced
	precision int            // decimal digits of the values' fraction: 1234 with PRECISION 2 means 12.34
}

// A section is a part of a .pcf file that its keyword begins.
type section uint8

const (
	noSection section = iota // before the first
	otherSection
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

// errUnended says that the last line of a text has no end, so that more may be missing.
var errUnended = errors.New("the last line has no end")

// A lineCount counts the lines of a text, and those that cannot be understood.
type lineCount struct{ all, bad, firstBad int }

// lines calls f for each line of a text, without white space around it. What is not UTF-8
// becomes U+FFFD; such a line counts as one that f does not understand, and so does one with
// control characters, such as zeros of a block that was never written. A line that is longer
// than the limit ends the text.
func (c *lineCount) lines(r io.Reader, f func(line string) (ok bool)) error {
	s, ended := bufio.NewScanner(r), true
	s.Buffer(nil, lineLimit)
	s.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		if n > 0 {
			ended = data[n-1] == '\n'
		}
		return n, line, err
	})
	for s.Scan() {
		raw := string(bytes.TrimSpace(s.Bytes()))
		line := strings.ToValidUTF8(raw, "\uFFFD")
		control := strings.ContainsFunc(line, func(c rune) bool { return unicode.IsControl(c) && c != '\t' })
		ok := f(line) && line == raw && !control
		if c.all++; !ok {
			if c.bad++; c.bad == 1 {
				c.firstBad = c.all
			}
		}
	}
	if s.Err() == nil && !ended {
		return errUnended
	}
	return s.Err()
}

// readPCF reads labels. What it does not understand it passes over and counts: labels are a
// help.
func readPCF(r io.Reader) (*pcf, error) {
	p := &pcf{states: make(map[int64]string), types: make(map[uint32]*eventType)}
	at, group := noSection, &valueLabels{}
	err := p.lines.lines(r, func(line string) (ok bool) {
		if line == "" || line[0] == '#' {
			return true
		}
		if next, ok := sections[line]; ok {
			if at = next; next == typesSection {
				group = &valueLabels{labels: make(map[int64]string)}
			}
			return true
		}
		switch at {
		case noSection:
			return false
		case statesSection:
			n, label, ok := numbered(line)
			if ok {
				p.states[n] = label
			}
			return ok
		case typesSection:
			return p.typeLine(line, group)
		case valuesSection:
			return group.line(line)
		}
		return true
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
// label and keeps its values as well. It returns false for what is no such line.
func (p *pcf) typeLine(line string, group *valueLabels) bool {
	if group.precisionLine(line) {
		return true
	}
	_, rest, ok := numbered(line)
	if !ok {
		return false
	}
	n, label, ok := numbered(rest)
	if !ok || n < 0 || n > 1<<32-1 {
		return false
	}
	if old := p.types[uint32(n)]; old != nil && old.values != group {
		if p.described += len(old.values.labels); p.described <= maxDescribed {
			if group.earlier == nil {
				group.earlier = make(map[int64]bool)
			}
			for v, label := range old.values.labels {
				group.labels[v], group.earlier[v] = label, true
			}
		}
	}
	p.types[uint32(n)] = &eventType{label: label, values: group}
	return true
}

// line takes "value label"; it returns false for what is no such line, and for a value that the list has already: one of the two
// lines belongs elsewhere.
func (g *valueLabels) line(line string) bool {
	if g.precisionLine(line) {
		return true
	}
	v, label, ok := numbered(line)
	if !ok || g.labels == nil {
		return ok
	}
	_, known := g.labels[v]
	twice := known && !g.earlier[v]
	delete(g.earlier, v)
	g.labels[v] = label
	return !twice
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

// labeled reports whether values of a type have labels.
func (p *pcf) labeled(t uint32) bool {
	e := p.types[t]
	return e != nil && len(e.values.labels) > 0
}

// A rowFile holds the names of objects by level: CPU, NODE, THREAD, TASK, APPL …
type rowFile struct {
	names map[string][]string
	lines lineCount
}

// readRow reads a .row file: blocks of n names, which may be empty lines, in the order of the
// header's objects:
//
//	LEVEL TASK SIZE 2
//	rank 0
//	rank 1
//
// Levels come in any order, and n may differ from the number of objects. The error says that
// there are fewer names than a level announces.
func readRow(r io.Reader) (rowFile, error) {
	rows, level, left := rowFile{names: make(map[string][]string)}, "", 0
	err := rows.lines.lines(r, func(line string) (ok bool) {
		if left > 0 {
			rows.names[level] = append(rows.names[level], line)
			left--
			return true
		}
		f := strings.Fields(line)
		if len(f) == 4 && f[0] == "LEVEL" && f[2] == "SIZE" {
			n, err := strconv.Atoi(f[3])
			level, left = f[1], n
			return err == nil
		}
		return line == ""
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%w: %d names of level %s are missing", errUnended, left, level)
	}
	return rows, err
}

// name returns the name of object i of a level, "" if there is none.
func (r rowFile) name(level string, i int) string {
	if names := r.names[level]; i >= 0 && i < len(names) {
		return names[i]
	}
	return ""
}
