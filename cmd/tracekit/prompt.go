package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/report/query"
)

// reader returns what reads queries: a prompt with history and completion on a terminal.
func reader(streams *cli.Streams, db *query.Database) *statements {
	in, ok := streams.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || streams.Terminal == nil {
		return lines(streams.In)
	}
	fd := int(in.Fd())
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, streams.Terminal}, "")
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		terminal.SetSize(width, height)
	}
	names := append(db.Names(), "select", "from", "where", "group by", "order by", "limit", "join", "using", "having", "distinct")
	terminal.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		added := completion(names, line[:at])
		return line[:at] + added + line[at:], at + len(added), true
	}
	return &statements{terminal: true, line: func(more bool) (string, error) {
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
