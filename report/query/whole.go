package query

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"

	"tracekit/readers/arrowdir"
)

// WriteArrow writes the answer to a query in Arrow IPC, as a file or as a stream, and returns its columns. A query for columns of a
// whole table is answered by that table, without SQLite between.
func (d *Database) WriteArrow(ctx context.Context, statement string, w io.Writer, stream bool) (columns []string, err error) {
	table, wanted, whole := d.whole(statement)
	if !whole {
		var rows [][]any
		err := d.Query(ctx, statement, func(names []string) error {
			columns = names
			return nil
		}, func(row []any) error {
			rows = append(rows, slices.Clone(row))
			return nil
		})
		if err != nil {
			return columns, err
		}
		table = TableOf("rows", columns, rows)
		for i := range columns {
			wanted = append(wanted, i)
		}
		return columns, table.WriteArrow(w, stream, wanted)
	}
	for _, i := range wanted {
		columns = append(columns, table.Columns[i].Name)
	}
	return columns, table.WriteArrow(ended{ctx, w}, stream, wanted)
}

// An ended writer fails once its context has ended.
type ended struct {
	context.Context
	io.Writer
}

func (e ended) Write(p []byte) (int, error) {
	if err := e.Err(); err != nil {
		return 0, err
	}
	return e.Writer.Write(p)
}

// wholeForm is a query for columns of a whole table.
var wholeForm = regexp.MustCompile(`(?is)^\s*select\s+(.+?)\s+from\s+([\w."]+)\s*;?\s*$`)

// whole returns the table that a query wants columns of, and their indices; ok is false if it wants anything more.
func (d *Database) whole(statement string) (t arrowdir.Table, wanted []int, ok bool) {
	parts := wholeForm.FindStringSubmatch(statement)
	if parts == nil {
		return t, nil, false
	}
	plainName := func(s string) string { return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), `"`, "")) }
	if t, ok = d.tables[plainName(parts[2])]; !ok {
		return t, nil, false
	}
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
