package otf2

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// The archives of the goldens are written by an assembler that shares no code with the
// package. Words are separated by blanks; # starts a comment.
//
//	chunk        a chunk header
//	t:5          a timestamp record
//	!12          a record id without length prefix
//	14( … )      a record with a length of one byte
//	14(( … ))    a record with a length of nine bytes
//	7  undef     a compressed number; all ones
//	c8:7         a compressed number in 8 bytes, more than needed
//	-7           a negative compressed number
//	b:7 w:7 q:7  a number of 1, 4, 8 bytes
//	d:0.5        a double
//	"text"       the text and a zero byte
//	'text'       the text alone
//	0x1f         a byte; with more digits a compressed number
//	pad:64       zeros up to a multiple of 64
//	order        changes the byte order
//	end          the end marks
type assembler struct {
	out   []byte
	order binary.AppendByteOrder
	open  []openRecord
}

type openRecord struct {
	at   int
	long bool
}

// assemble returns the bytes of a text; big chooses the byte order.
func assemble(t testing.TB, text string, big bool) []byte {
	a := &assembler{order: binary.LittleEndian}
	if big {
		a.order = binary.BigEndian
	}
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != ""; {
			var word string
			if word, line = nextWord(line); word == "" {
				break
			}
			line = strings.TrimSpace(line)
			if err := a.word(word); err != nil {
				t.Fatalf("assembling %q: %v", word, err)
			}
		}
	}
	return a.out
}

func nextWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t")
	if line == "" || line[0] == '#' {
		return "", ""
	}
	if q := line[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(line[1:], q) + 2
		return line[:end], line[end:]
	}
	word, rest, _ = strings.Cut(line, " ")
	return word, rest
}

func (a *assembler) word(w string) error {
	switch w {
	case "chunk":
		a.out = append(a.out, 3, a.mark())
		a.out = a.order.AppendUint64(a.out, 1)
		a.out = a.order.AppendUint64(a.out, 0)
		return nil
	case "order":
		if a.mark() == 0x42 {
			a.order = binary.BigEndian
		} else {
			a.order = binary.LittleEndian
		}
		return nil
	case "mark":
		a.out = append(a.out, a.mark())
		return nil
	case "end":
		a.out = append(a.out, 2, 1)
		return nil
	case "undef":
		a.out = append(a.out, 0xFF)
		return nil
	case ")", "))":
		a.close()
		return nil
	}
	if w[0] == '"' || w[0] == '\'' {
		a.out = append(a.out, w[1:len(w)-1]...)
		if w[0] == '"' {
			a.out = append(a.out, 0)
		}
		return nil
	}
	return a.number(w)
}

func (a *assembler) mark() byte {
	if a.order == binary.AppendByteOrder(binary.BigEndian) {
		return 0x23
	}
	return 0x42
}

func (a *assembler) close() {
	r := a.open[len(a.open)-1]
	a.open = a.open[:len(a.open)-1]
	body := append([]byte(nil), a.out[r.at:]...)
	a.out = a.out[:r.at]
	if r.long {
		a.out = append(a.out, 0xFF)
		a.out = a.order.AppendUint64(a.out, uint64(len(body)))
	} else {
		a.out = append(a.out, byte(len(body)))
	}
	a.out = append(a.out, body...)
}

// number assembles the words that hold a number.
func (a *assembler) number(w string) error {
	if id, ok := strings.CutSuffix(w, "(("); ok {
		return a.record(id, true)
	}
	if id, ok := strings.CutSuffix(w, "("); ok {
		return a.record(id, false)
	}
	prefix, digits := "", w
	if i := strings.IndexByte(w, ':'); i >= 0 {
		prefix, digits = w[:i], w[i+1:]
	} else if w[0] == '!' {
		prefix, digits = "b", w[1:]
	} else if strings.HasPrefix(w, "0x") && len(w) == 4 {
		prefix = "b"
	}
	if prefix == "d" {
		f, err := strconv.ParseFloat(digits, 64)
		a.out = a.order.AppendUint64(a.out, math.Float64bits(f))
		return err
	}
	v, err := strconv.ParseUint(digits, 0, 64)
	if err != nil {
		var s int64
		s, err = strconv.ParseInt(digits, 0, 64)
		v = uint64(s)
	}
	a.fixed(prefix, v)
	return err
}

func (a *assembler) record(id string, long bool) error {
	v, err := strconv.ParseUint(id, 10, 8)
	a.out = append(a.out, byte(v))
	a.open = append(a.open, openRecord{len(a.out), long})
	return err
}

func (a *assembler) fixed(prefix string, v uint64) {
	switch prefix {
	case "t":
		a.out = a.order.AppendUint64(append(a.out, 5), v)
	case "b":
		a.out = append(a.out, byte(v))
	case "h":
		a.out = a.order.AppendUint16(a.out, uint16(v))
	case "w":
		a.out = a.order.AppendUint32(a.out, uint32(v))
	case "q":
		a.out = a.order.AppendUint64(a.out, v)
	case "c4":
		a.out = a.order.AppendUint32(append(a.out, 4), uint32(v))
	case "c8":
		a.out = a.order.AppendUint64(append(a.out, 8), v)
	case "pad":
		for uint64(len(a.out))%v != 0 {
			a.out = append(a.out, 0)
		}
	default:
		n := 0
		for x := v; x > 0; x >>= 8 {
			n++
		}
		full := a.order.AppendUint64(nil, v)
		if a.mark() == 0x23 {
			full = full[8-n:]
		}
		a.out = append(append(a.out, byte(n)), full[:n]...)
	}
}

// usualAnchor is the anchor file of goldens that have none of their own.
const usualAnchor = `0x03 mark "OTF2" b:3 b:2 b:3 b:0 b:2 q:%d q:%d b:1 b:1 q:%d q:%d
"machine" "golden" "" w:1 "OTF2::MPI_COMMUNICATION_COMPLETE" "true" q:77 w:0 w:0 end 0x00`

// countDefinitions counts the records of an assembler text.
func countDefinitions(text string) (n int) {
	for line := range strings.Lines(text) {
		for line = strings.TrimSpace(line); line != ""; {
			var word string
			word, line = nextWord(line)
			line = strings.TrimSpace(line)
			if word == "" {
				break
			}
			if strings.HasSuffix(word, "(") {
				n++
			}
		}
	}
	return n
}

// writeArchive assembles the files of an archive into a directory; chunkSize is that of
// the anchor file if the archive does not bring its own. The files are named
// otf2, def, marker, 0.thumb, and 7.evt, 7.def, 7.snap for location 7.
func writeArchive(t testing.TB, dir string, files []txtar.File, big bool, chunkSize int) string {
	if err := os.MkdirAll(filepath.Join(dir, "traces"), 0o777); err != nil {
		t.Fatal(err)
	}
	locations := 0
	text := map[string]string{}
	for _, f := range files {
		text[f.Name] = string(f.Data)
		if strings.HasSuffix(f.Name, ".evt") {
			locations++
		}
	}
	if _, ok := text["otf2"]; !ok {
		text["otf2"] = fmt.Sprintf(usualAnchor, chunkSize, chunkSize, locations, countDefinitions(text["def"]))
	}
	for name, content := range text {
		path := filepath.Join(dir, "traces."+name)
		if _, local := map[string]bool{".evt": true, ".def": true, ".snap": true}[filepath.Ext(name)]; local && name != "def" {
			path = filepath.Join(dir, "traces", name)
		} else if name == "want" || name == "error" {
			continue
		}
		if err := os.WriteFile(path, assemble(t, content, big), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "traces.otf2")
}

func mustWrite(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}
