package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/report/query"
)

const promptHelp = `.tables      list tables and views
.quit        end, as Ctrl-D does
Tab          complete a name
Up, Down     go through earlier lines
Ctrl-C       stop a query
Columns:     select name, type from pragma_table_info('calls');
The meaning of all: docs/reference/sql.md
`

// reader returns what reads queries: a prompt with history and completion on a terminal.
func reader(ctx context.Context, streams *cli.Streams, db *query.Database) (*statements, error) {
	in, ok := streams.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || streams.Terminal == nil {
		return lines(streams.In), nil
	}
	fd := int(in.Fd())
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, streams.Terminal}, "")
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		terminal.SetSize(width, height)
	}
	names, err := db.Names(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(streams.Terminal, "Queries end with a semicolon. '.help' shows more.")
	names = append(names, ".help", ".tables", ".quit", "select", "from", "where", "group by", "order by", "limit", "join", "using", "having", "distinct")
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
	}}, nil
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
