package spans

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"tracekit/readers/arrowdir"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// lineLimit bounds a line of CSV.
const lineLimit = 1 << 20

// columnLimit bounds the columns of CSV.
const columnLimit = 1 << 12

// errCells says that a line has more or fewer cells than the first one.
var errCells = errors.New("it has not as many cells as the first line")

// errText says that a line is no text.
var errText = errors.New("it is no text in UTF-8")

// csvTable is a CSV file. Its first line names the columns. Cells may be quoted, but do not extend over lines.
type csvTable struct {
	lines    *bufio.Reader
	comma    byte
	columns  []arrowdir.CellColumn
	fraction bool // some number of the first lines has a fraction
}

// openCSV opens a CSV file.
func openCSV(f *os.File) (*csvTable, error) {
	plain, err := wire.Uncompressed(f)
	if err != nil {
		return nil, err
	}
	t := &csvTable{lines: bufio.NewReaderSize(plain, lineLimit)}
	line, err := t.line()
	if err != nil {
		return nil, err
	}
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	t.comma = commaOf(line)
	cells, err := split(nil, line, t.comma, columnLimit)
	if err != nil {
		return nil, err
	}
	for _, c := range cells {
		name := strings.ToValidUTF8(wire.CutName(string(bytes.TrimSpace(c))), "\uFFFD")
		t.columns = append(t.columns, arrowdir.CellColumn{Name: name, Kind: arrowdir.TextCells})
	}
	const looked = 16 << 10
	some, _ := t.lines.Peek(looked)
	t.fraction = hasFraction(some)
	return t, nil
}

// hasFraction reports whether there is a digit behind a point that is behind a digit.
func hasFraction(text []byte) bool {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '.' && isDigit(text[i-1]) && isDigit(text[i+1]) {
			return true
		}
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// commaOf returns what separates the cells of a line: a comma, a semicolon or a tab, whichever is most frequent.
func commaOf(line []byte) byte {
	best := byte(',')
	for _, c := range []byte{';', '\t'} {
		if bytes.Count(line, []byte{c}) > bytes.Count(line, []byte{best}) {
			best = c
		}
	}
	return best
}

// line returns the next line without its end.
func (t *csvTable) line() ([]byte, error) {
	line, err := t.lines.ReadSlice('\n')
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}

// split adds the cells of a line to those of out.
func split(out [][]byte, line []byte, comma byte, most int) ([][]byte, error) {
	for {
		if len(out) == most {
			return out, errCells
		}
		var cell []byte
		if len(line) > 0 && line[0] == '"' {
			end := closing(line)
			if end < 0 {
				return out, errors.New("a quotation mark is not closed")
			}
			cell, line = bytes.ReplaceAll(line[1:end], []byte(`""`), []byte(`"`)), line[end+1:]
			if len(line) > 0 && line[0] != comma {
				return out, errors.New("text follows a quoted cell")
			}
		} else if end := bytes.IndexByte(line, comma); end >= 0 {
			cell, line = line[:end], line[end:]
		} else {
			cell, line = line, nil
		}
		out = append(out, cell)
		if len(line) == 0 {
			return out, nil
		}
		line = line[1:]
	}
}

// closing returns where a quoted cell at the begin of a line ends, -1 if it does not.
func closing(line []byte) int {
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] != '"':
		case i+1 < len(line) && line[i+1] == '"':
			i++
		default:
			return i
		}
	}
	return -1
}

// Columns implements arrowdir.CellTable.
func (t *csvTable) Columns() []arrowdir.CellColumn { return t.columns }

// errLong says that a line is too long.
var errLong = errors.New("a line is longer than 1 MiB; it was left out")

// Read implements arrowdir.CellTable. It can be called once.
func (t *csvTable) Read(want []int, each func(int64, int, []arrowdir.Cells) error, bad func(int64, error)) error {
	cells := make([]arrowdir.Cells, len(want))
	for i := range cells {
		cells[i].Texts, cells[i].Valid = make([][]byte, 1), make([]bool, 1)
	}
	var parts [][]byte
	for row := int64(1); ; row++ {
		line, err := t.line()
		switch {
		case err == io.EOF:
			return nil
		case err == bufio.ErrBufferFull:
			bad(row, errLong)
			for err == bufio.ErrBufferFull {
				_, err = t.lines.ReadSlice('\n')
			}
			continue
		case err != nil:
			bad(row, err)
			return nil
		case len(line) == 0:
			row--
			continue
		}
		if parts, err = split(parts[:0], line, t.comma, len(t.columns)); err == nil && len(parts) != len(t.columns) {
			err = errCells
		}
		if bytes.IndexByte(line, 0) >= 0 || !utf8.Valid(line) {
			err = errText
		}
		if err != nil {
			bad(row, err)
			continue
		}
		for i, c := range want {
			cells[i].Texts[0], cells[i].Valid[0] = parts[c], len(parts[c]) > 0
		}
		if err := each(row, 1, cells); err != nil {
			return err
		}
	}
}

// isCSV reports whether a text begins with the names of columns, and then with a line of as many cells.
func isCSV(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	lines := bytes.SplitN(head, []byte("\n"), 3)
	if len(lines) < 2 || bytes.IndexByte(lines[0], 0) >= 0 || !utf8.Valid(lines[0]) {
		return false
	}
	first := bytes.TrimSuffix(lines[0], []byte("\r"))
	comma := commaOf(first)
	names, err := split(nil, first, comma, columnLimit)
	if err != nil || len(names) < 3 {
		return false
	}
	known := 0
	for _, n := range names {
		n = bytes.TrimSpace(n)
		if len(n) == 0 || isDigit(n[0]) || bytes.ContainsAny(n, "{}<>=;#") {
			return false
		}
		if _, _, ok := meaning(string(n)); ok {
			known++
		}
	}
	second, err := split(nil, bytes.TrimSuffix(lines[1], []byte("\r")), comma, columnLimit)
	return known > 1 || err == nil && len(second) == len(names) && len(lines) > 2
}

// codeOf is the finding that the damage of a table becomes.
func codeOf(err error) trace.Code {
	switch {
	case errors.Is(err, wire.ErrDamaged), errors.Is(err, arrowdir.ErrCut):
		return trace.CodeTruncated
	case errors.Is(err, errCells), errors.Is(err, errLong), errors.Is(err, errText):
		return trace.CodeBadValue
	}
	return trace.CodeCorrupt
}
