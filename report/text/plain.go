package text

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Names of regions, files, machines and paths are what someone else wrote. What in them is no
// graphic character (controls, those of direction, unassigned ones, bytes that are no UTF-8)
// could steer a terminal or make one line look like two, so nothing of it is printed as it
// stands: tables and lines show it as an escape, before they are laid out, and a plainWriter in
// front of both streams keeps back whatever came another way.

// Plain returns a text as one line of graphic characters: others as \u001b, the bytes that are
// no UTF-8 as \xff.
func Plain(s string) string { return escape(s, false) }

// escape escapes what is not graphic and, of a text of several lines, no end of one or tab.
func escape(s string, lines bool) string {
	var b *strings.Builder // nil: all so far is shown
	for i := 0; i < len(s); {
		from := i
		for i < len(s) && (s[i] >= ' ' && s[i] <= '~' || lines && (s[i] == '\n' || s[i] == '\t')) { // nearly all
			i++
		}
		if b != nil {
			b.WriteString(s[from:i])
		}
		if i == len(s) {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		broken := r == utf8.RuneError && n == 1
		ok := unicode.IsGraphic(r) && !broken
		if b == nil && !ok {
			b = new(strings.Builder)
			b.WriteString(s[:i])
		}
		switch {
		case ok && b != nil:
			b.WriteString(s[i : i+n])
		case ok:
		case broken:
			fmt.Fprintf(b, `\x%02x`, s[i])
		default:
			writeEscaped(b, r)
		}
		i += n
	}
	if b == nil {
		return s
	}
	return b.String()
}

// shown returns how many bytes at the begin of a text of several lines need no look: nearly all.
func shown(text []byte) int {
	for i, c := range text {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			return i
		}
	}
	return len(text)
}

// writeEscaped writes a character as JSON escapes it, so that in the string of a document it
// stays what it is.
func writeEscaped(b *strings.Builder, r rune) {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

// Line prints one line, whatever its parts hold.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, Plain(fmt.Sprintf(format, args...)))
}

// A Writer escapes, of text or of JSON, all that is not graphic but ends of lines and tabs.
// A character must not be cut between two writes.
type Writer struct{ W io.Writer }

func (p Writer) Write(text []byte) (written int, err error) {
	if shown(text) == len(text) {
		return p.W.Write(text)
	}
	const piece = 64 << 10 // of a document of any size
	for written < len(text) && err == nil {
		end := min(written+piece, len(text))
		for k := 1; k < utf8.UTFMax && end < len(text) && !utf8.RuneStart(text[end]); k++ {
			end--
		}
		if _, err = io.WriteString(p.W, escape(string(text[written:end]), true)); err == nil {
			written = end
		}
	}
	return written, err
}
