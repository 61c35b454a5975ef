package query

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// An Answer is the rows of a query, to be written.
type Answer struct {
	Columns []string
	table   arrowdir.Table
	wanted  []int
}

// Answer answers a query. One for columns of a whole table is answered by that table, without SQLite between, while it is written.
func (d *Database) Answer(ctx context.Context, statement string) (*Answer, error) {
	a := new(Answer)
	var whole bool
	if a.table, a.wanted, whole = d.whole(statement); whole {
		for _, i := range a.wanted {
			a.Columns = append(a.Columns, a.table.Columns[i].Name)
		}
		return a, nil
	}
	a.wanted = nil
	var rows [][]any
	err := d.Query(ctx, statement, func(names []string) error {
		a.Columns = names
		return nil
	}, func(row []any) error {
		rows = append(rows, slices.Clone(row))
		return nil
	})
	a.table = tableOf("rows", a.Columns, rows)
	for i := range a.Columns {
		a.wanted = append(a.wanted, i)
	}
	return a, err
}

// WriteArrow writes the rows as a stream of Arrow IPC.
func (a *Answer) WriteArrow(w io.Writer) error { return a.table.WriteArrow(w, true, a.wanted) }

// WriteArrowFile writes the rows as a file of Arrow IPC, with so many goroutines.
func (a *Answer) WriteArrowFile(ctx context.Context, f *os.File, jobs int) error {
	return a.table.WriteArrowFile(ctx, f, jobs, a.wanted)
}

// wholeForm is a query for columns of a whole table.
var wholeForm = trace.Expression(`(?is)^\s*select\s+(.+?)\s+from\s+([\w."]+)\s*;?\s*$`)

// plainName returns a name in lower case without its quotes, or a text that is no name as it is.
func plainName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if inner, quoted := strings.CutPrefix(s, `"`); quoted {
		if inner, quoted = strings.CutSuffix(inner, `"`); quoted && !strings.ContainsAny(inner, `".`) {
			return inner
		}
	}
	return s
}

// whole returns the table that a query wants columns of, and their indices; ok is false if it wants anything more.
func (d *Database) whole(statement string) (t arrowdir.Table, wanted []int, ok bool) {
	parts := wholeForm().FindStringSubmatch(statement)
	if parts == nil {
		return t, nil, false
	}
	table := strings.Split(parts[2], ".")
	for i := range table {
		table[i] = plainName(table[i])
	}
	key := strings.Join(table, ".")
	if t, ok = d.tables[key]; !ok {
		return t, nil, false
	}
	if len(table) == 1 {
		key = "main." + key
	}
	clear(d.read)
	d.read[key] = true
	for name := range strings.SplitSeq(parts[1], ",") {
		if strings.TrimSpace(name) == "*" {
			for i := range t.Columns {
				wanted = append(wanted, i)
			}
			continue
		}
		i := slices.IndexFunc(t.Columns, func(c arrowdir.TableColumn) bool { return c.Name == plainName(name) })
		if i < 0 {
			return t, nil, false
		}
		wanted = append(wanted, i)
	}
	return t, wanted, true
}
