// Package prompt reads statements that end with a semicolon, from a terminal with history and completion, or from any other input.
package prompt

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tracekit/document/words"
)

// Statements are read line by line.
type Statements struct {
	line     func(more bool) (string, error)
	Terminal bool // a prompt asks for them
}

// Next returns the lines up to one that ends with a semicolon.
func (s *Statements) Next() (string, error) {
	var text strings.Builder
	for {
		line, err := s.line(text.Len() > 0)
		text.WriteString(line + "\n")
		alone := strings.HasPrefix(text.String(), ".") // .help
		if err != nil || alone || strings.HasSuffix(strings.TrimSpace(line), ";") {
			return text.String(), err
		}
	}
}

// New returns what reads statements: with history and completion of names, if the input is a terminal and there is an output to prompt on.
func New(input io.Reader, output io.Writer, names func() ([]string, error)) (*Statements, error) {
	in, ok := input.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || output == nil {
		return lines(input), nil
	}
	fd := int(in.Fd())
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, output}, "")
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		terminal.SetSize(width, height)
	}
	known, err := names()
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(output, "Queries end with a semicolon. '.help' shows more.")
	terminal.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		added := completion(known, line[:at])
		return line[:at] + added + line[at:], at + len(added), true
	}
	return &Statements{Terminal: true, line: func(more bool) (string, error) {
		terminal.SetPrompt("sql> ")
		if more {
			terminal.SetPrompt("...> ")
		}
		state, err := term.MakeRaw(fd)
		if err != nil {
			return "", err
		}
		defer term.Restore(fd, state) // answers are written as everywhere
		return terminal.ReadLine()
	}}, nil
}

// Scanned says why a scan of lines of at most so many bytes has ended, unless the input has.
func Scanned(s *bufio.Scanner, most int) error {
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("standard input has a line of more than %s", words.Bytes(uint64(most)))
	}
	return s.Err()
}

// lines reads from what is no terminal.
func lines(r io.Reader) *Statements {
	const most = 1 << 20
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, most)
	return &Statements{line: func(bool) (string, error) {
		if scanner.Scan() {
			return scanner.Text(), nil
		}
		if err := Scanned(scanner, most); err != nil {
			return "", err
		}
		return "", io.EOF
	}}
}

// completion returns what all names that begin as the last word of a text have in common behind that.
func completion(names []string, text string) string {
	begin := text[strings.LastIndexAny(text, " \t(,=<>+-*/")+1:]
	if begin == "" {
		return ""
	}
	rest, found := "", false
	for _, n := range names {
		tail, ok := strings.CutPrefix(strings.ToLower(n), strings.ToLower(begin))
		switch {
		case !ok:
		case !found:
			rest, found = tail, true
		default:
			for !strings.HasPrefix(tail, rest) {
				rest = rest[:len(rest)-1]
			}
		}
	}
	return rest
}
