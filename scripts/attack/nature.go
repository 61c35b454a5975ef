package main

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"unicode"
	"unicode/utf8"
)

// byNature says why a format cannot tell that the content of a mutant is not what was
// recorded; "" if it can. It judges by the mutated file alone, and by what the format's own
// definition asks of a file, not by what the reader thinks of it. The rules and their reasons
// are in docs/internals/ATTACK.md.
func byNature(name string, data []byte, mended bool) string {
	switch {
	case strings.HasSuffix(name, ".gz") && mended:
		plain, err := unzip(data)
		if err != nil {
			return ""
		}
		return byNature(strings.TrimSuffix(name, ".gz"), plain, false)
	case strings.HasSuffix(name, ".json") && isJSON(data):
		return "JSON"
	case strings.HasSuffix(name, ".prv") && isParaver(data):
		return "Paraver"
	case (strings.HasSuffix(name, ".pcf") || strings.HasSuffix(name, ".row")) && isLabels(data):
		return "labels"
	case (strings.HasSuffix(name, ".sqlite") || strings.HasSuffix(name, ".db")) && isSQLite(data):
		return "SQLite"
	case !strings.Contains(filepath.ToSlash(name), "/") && isTable(name, data):
		return "table"
	case isProtobuf(name) && isMessage(data, true):
		return "protobuf"
	case mended:
		return "mended"
	}
	return ""
}

// isTable reports whether a file is a table of spans as a profiler writes it: of Parquet or Arrow IPC, whose pages have no checksum, or of
// CSV, lines of text whose first names the columns as it likes. It may have taken the place of another table.
func isTable(name string, data []byte) bool {
	switch filepath.Ext(name) {
	case ".parquet", ".arrow", ".csv":
		header, _, _ := bytes.Cut(data, []byte("\n"))
		return bytes.HasPrefix(data, []byte("PAR1")) && bytes.HasSuffix(data, []byte("PAR1")) || bytes.HasPrefix(data, []byte("ARROW1")) ||
			bytes.Contains(header, []byte(",")) && !bytes.Contains(data, []byte{0})
	}
	return false
}

// repeated are the definitions of all parts of a trace but the first.
var repeated = regexp.MustCompile(`/[0-9]{5}-of-[0-9]{5}/defs/`)

// isRepeated reports whether a file holds what the first part of a trace holds as well, and is not read for that.
func isRepeated(name string) bool {
	return repeated.MatchString(name) && !strings.Contains(name, "/00001-of-")
}

// isJSON reports whether quotes and brackets of a file fit together: commas may be missing or
// doubled, words may stand for values, and the bracket that ends an array of events may be
// missing, as in what tools write.
func isJSON(data []byte) bool {
	var open []byte
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	for at := 0; at < len(data); at++ {
		switch c := data[at]; c {
		case '{', '[':
			open = append(open, c+2) // the bracket that closes it
		case '}', ']':
			if len(open) == 0 || open[len(open)-1] != c {
				return false
			}
			open = open[:len(open)-1]
		case '"':
			for at++; at < len(data) && data[at] != '"'; at++ {
				if data[at] == '\\' {
					at++
				}
			}
			if at >= len(data) {
				return false
			}
		case ' ', '\t', '\r', '\n', ',', ':', '-', '+', '.', '_':
		default:
			if !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) || c >= 0x80 {
				return false
			}
		}
	}
	return len(open) == 0 || string(open) == "]"
}

var paraverLine = regexp.MustCompile(`^(#.*|c:\d+(:-?\d+)*|i(:\d+)+|1(:\d+){4}(:-?\d+){3}|2(:\d+){5}(:\d+:-?\d+)+|3(:\d+){12}(:-?\d+){2}|4(:\d+){10})?$`)

// isParaver reports whether all lines of a trace are records as the format defines them.
func isParaver(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("#Paraver (")) {
		return false
	}
	for line := range bytes.Lines(data) {
		if !paraverLine.Match(bytes.TrimRight(line, "\r\n")) {
			return false
		}
	}
	return true
}

// isSQLite reports whether a database is as long as it says, in pages that are whole: its pages have no checksums.
func isSQLite(data []byte) bool {
	const header = 100
	if len(data) < header || !bytes.HasPrefix(data, []byte("SQLite format 3\x00")) {
		return false
	}
	page := int(binary.BigEndian.Uint16(data[16:]))
	return page >= 512 && len(data) == page*int(binary.BigEndian.Uint32(data[28:]))
}

// isProtobuf reports whether a file is a trace of Perfetto or a profile of XLA by its name. Such a file does not say how many others
// its trace has: one that is gone is missed only if it is not of the last rank.
func isProtobuf(name string) bool {
	return strings.HasSuffix(name, ".pftrace") || strings.HasSuffix(name, ".pb")
}

// isMessage reports whether a file is a protocol buffer of whole fields, and so are, if within, its parts, which have the number 1.
func isMessage(data []byte, within bool) bool {
	for len(data) > 0 {
		number, typ, n := protowire.ConsumeTag(data)
		if n < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(number, typ, data[n:])
		if size < 0 {
			return false
		}
		if part, _ := protowire.ConsumeBytes(data[n:]); within && number == 1 && (typ != protowire.BytesType || !isMessage(part, false)) {
			return false
		}
		data = data[n+size:]
	}
	return true
}

// isLabels reports whether a file is text, of whole lines.
func isLabels(data []byte) bool {
	control := func(c rune) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' || c == 0x7F }
	return utf8.Valid(data) && !bytes.ContainsFunc(data, control) && bytes.HasSuffix(data, []byte("\n"))
}

// byNatureOf says why a format cannot tell that one file of a trace stands in the place of
// another; "" if it can.
func byNatureOf(name, other string) string {
	switch ext := filepath.Ext(name); {
	case ext == ".parquet" && filepath.Ext(other) == ".csv", ext == ".csv" && filepath.Ext(other) == ".parquet":
		return "table" // of spans, by content
	case ext != filepath.Ext(other):
	case ext == ".json":
		return "JSON"
	case ext == ".sqlite" || ext == ".db":
		return "SQLite"
	case isProtobuf(name):
		return "protobuf"
	case (ext == ".def" || ext == ".evt") && filepath.Dir(name) == filepath.Dir(other):
		return "OTF2"
	}
	return ""
}
