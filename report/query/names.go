package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/words"
	"tracekit/trace"
)

// Names returns the names of tables, views and their columns, for completion.
func (d *Database) Names(ctx context.Context) ([]string, error) {
	names := slices.Concat(d.names, d.views)
	for _, v := range d.views {
		columns, err := d.columns(ctx, v)
		if err != nil {
			return nil, err
		}
		names = append(names, columns...)
	}
	return names, nil
}

// columns returns the names of the columns of a table or view.
func (d *Database) columns(ctx context.Context, of string) (names []string, err error) {
	rows, err := d.conn.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", of)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		name := ""
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

var (
	unknownName = trace.Expression(`^no such (table|column): (.+)$`)
	identifiers = trace.Expression(`\w+`)
)

// meant adds the nearest name to an error about one that SQLite does not know.
func (d *Database) meant(ctx context.Context, statement string, err error) error {
	parts := unknownName().FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	var known []string
	for key := range d.tables {
		if !strings.Contains(key, ".") {
			known = append(known, key)
		}
	}
	known = append(known, d.views...)
	slices.Sort(known)
	if parts[1] == "column" {
		var columns []string
		for _, of := range identifiers().FindAllString(strings.ToLower(statement), -1) {
			if slices.Contains(known, of) {
				more, err := d.columns(ctx, of)
				if err != nil {
					return err
				}
				columns = append(columns, more...)
			}
		}
		known = columns
	}
	name := parts[2][strings.LastIndexByte(parts[2], '.')+1:]
	if near := nearest(name, known); near != "" {
		return fmt.Errorf("%w: did you mean %s?", err, near)
	}
	if len(known) == 0 { // columns of a query in a query
		return err
	}
	return fmt.Errorf("%w: there are %s", err, strings.Join(known, ", "))
}

// nearest returns the known name that is most like another: with the fewest letters to change, at most one of three; or else
// the shortest that begins like it. It is "" if there is none.
func nearest(name string, known []string) (best string) {
	name = strings.ToLower(name)
	least := len(name)/3 + 1
	for _, k := range known {
		if n := words.Distance(name, k); n < least {
			best, least = k, n
		}
	}
	for _, k := range known {
		if len(name) > 2 && strings.HasPrefix(k, name) && (best == "" || least > 1 && len(k) < len(best)) {
			best = k
		}
	}
	return best
}

// quoted are the texts, names and comments of a statement in which semicolons end nothing.
var quoted = trace.Expression("(?s)'[^']*(?:'|$)|\"[^\"]*(?:\"|$)|`[^`]*(?:`|$)|\\[[^]]*(?:]|$)|--[^\n]*|/\\*.*?(?:\\*/|$)")

// several reports whether there is more behind a semicolon that ends a statement.
func several(statement string) bool {
	return strings.Contains(strings.TrimRight(quoted().ReplaceAllString(statement, " "), "; \t\r\n"), ";")
}

// Notes says what makes tables that the last statement read doubtful, and why some have no rows.
func (d *Database) Notes() (notes []string) {
	read := make([]string, 0, len(d.read))
	for key := range d.read {
		read = append(read, key)
	}
	slices.Sort(read)
	tables := slices.DeleteFunc(slices.Clone(read), func(key string) bool { _, table := d.tables[key]; return !table })
	views := slices.DeleteFunc(read, func(key string) bool { _, table := d.tables[key]; return table })
	read = slices.Concat(views, tables) // views before what they read
	said := make(map[string]bool)
	for _, key := range read {
		schema, name, _ := strings.Cut(key, ".")
		if _, table := d.tables[key]; table {
			for _, doubt := range d.doubts[schema] {
				if schema != "main" {
					doubt = schema + ": " + doubt
				}
				if !said[doubt] {
					said[doubt], notes = true, append(notes, doubt)
				}
			}
		}
		why := d.empty[key]
		if why == "" {
			continue
		}
		if schema != "main" {
			name = key
		}
		if !said[why] {
			said[why] = true
			notes = append(notes, name+" is empty: "+why)
		}
	}
	return notes
}
