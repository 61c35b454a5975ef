package query

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/libc"
	"modernc.org/sqlite"

	"tracekit/readers/arrowdir"
	"tracekit/spill"
)

// A Source is the tables of a trace.
type Source struct {
	Tables []arrowdir.Table
	Store  *spill.Store      // where their columns lie
	Empty  map[string]string // why tables and views have no rows, by name
	Doubts []string          // what makes them doubtful
}

// A Database answers queries about traces, one at a time.
type Database struct {
	db    *sql.DB
	conn  *sql.Conn
	names []string

	tables  map[string]arrowdir.Table // by their names in queries
	numbers []int64                   // of all tables
	views   []string
	empty   map[string]string   // why tables and views have no rows, by schema and name
	doubts  map[string][]string // by schema
	read    map[string]bool     // tables and views of the last statement, by schema and name
}

// Open returns a database of traces. The tables and views of a single trace have no schema; those of several have the schemas a, b, c and
// so on, and those of the first are found without, too.
func Open(ctx context.Context, sources []Source) (*Database, error) {
	const most = 9 // databases that SQLite attaches, one less than its limit
	if len(sources) > most {
		return nil, fmt.Errorf("there are %d traces: at most %d can be queried together", len(sources), most)
	}
	engine := new(sqlite.Driver)
	d := &Database{db: sql.OpenDB(memory{engine}), tables: make(map[string]arrowdir.Table),
		empty: make(map[string]string), doubts: make(map[string][]string), read: make(map[string]bool)}
	err := cmp.Or(registered(), functions(engine))
	if err == nil {
		d.conn, err = d.db.Conn(ctx)
	}
	if err == nil {
		err = d.prepare(ctx, sources)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// prepare makes all tables and views, and allows nothing but reading from then on.
func (d *Database) prepare(ctx context.Context, sources []Source) error {
	statements := []string{"PRAGMA temp_store = MEMORY", "PRAGMA trusted_schema = ON"}
	for i, s := range sources {
		schemas := []string{"main"}
		if own := schemaOf(i); len(sources) > 1 {
			statements = append(statements, "ATTACH ':memory:' AS "+own)
			if schemas = append(schemas, own); i > 0 {
				schemas = schemas[1:]
			}
		}
		first := len(d.numbers)
		has := make(map[string]bool)
		for _, t := range s.Tables {
			d.numbers = append(d.numbers, tables.add(newTable(t, s.Store)))
			has[t.Name] = true
			d.names = append(d.names, t.Name)
			for _, c := range t.Columns {
				d.names = append(d.names, c.Name)
			}
		}
		for _, schema := range schemas {
			d.doubts[schema] = s.Doubts
			for name, why := range s.Empty {
				d.empty[schema+"."+name] = why
			}
			for k, t := range s.Tables {
				if d.tables[schema+"."+t.Name] = t; schema == "main" {
					d.tables[t.Name] = t
				}
				statements = append(statements, fmt.Sprintf("CREATE VIRTUAL TABLE %s.%s USING %s(%d)", schema, t.Name, module, d.numbers[first+k]))
			}
			for _, v := range Views() {
				if !slices.ContainsFunc(v.Tables, func(name string) bool { return !has[name] }) {
					statements = append(statements, fmt.Sprintf("CREATE VIEW %s.%s AS %s", schema, v.Name, v.SQL))
					if schema == schemas[0] {
						d.views = append(d.views, v.Name)
					}
				}
			}
		}
	}
	for _, s := range append(statements, "PRAGMA query_only = ON") {
		if _, err := d.conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return d.conn.Raw(func(c any) error { return c.(sqlite.AuthorizerRegisterer).RegisterAuthorizer(d.readOnly) })
}

// schemaOf returns the name of the tables' schema of a trace, by its place among several.
func schemaOf(i int) string { return string(rune('a' + i)) }

// readOnly lets statements read tables and call functions, and notes what they read.
func (d *Database) readOnly(action sqlite.AuthorizerActionCode, argument, name, schema, view string) sqlite.AuthorizerReturnCode {
	switch action {
	case sqlite.AuthRead:
		schema = cmp.Or(schema, "main") // none is told of a table of which no column is read
		d.read[schema+"."+argument] = true
		if view != "" {
			d.read[schema+"."+view] = true
		}
		return sqlite.AuthorizerOK
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthFunction:
		if name != "load_extension" {
			return sqlite.AuthorizerOK
		}
	case sqlite.AuthPragma: // they describe tables
		if slices.Contains([]string{"table_info", "table_list", "table_xinfo", "database_list"}, argument) {
			return sqlite.AuthorizerOK
		}
	}
	return sqlite.AuthorizerDeny
}

// Close gives the database back.
func (d *Database) Close() error {
	var err error
	if d.conn != nil {
		err = d.conn.Close()
	}
	err = errors.Join(err, d.db.Close())
	tls := libc.NewTLS()
	defer tls.Close()
	for _, n := range d.numbers {
		tables.of(n).close(tls)
		tables.drop(n)
	}
	d.numbers = nil
	return err
}

// Query runs one statement. Take gets the names of its columns, then row after row: int64, float64, string, []byte or nil, valid until it
// returns; its first error ends the query.
func (d *Database) Query(ctx context.Context, statement string, head func(columns []string) error, take func(row []any) error) error {
	clear(d.read)
	if several(statement) {
		return errors.New("one query at a time: there is text behind a semicolon")
	}
	rows, err := d.conn.QueryContext(ctx, statement)
	if err != nil {
		return d.meant(ctx, statement, plain(err))
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return plain(err)
	}
	if err := head(columns); err != nil {
		return err
	}
	row, at := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		at[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(at...); err != nil {
			return plain(err)
		}
		if err := take(row); err != nil {
			return err
		}
	}
	return plain(rows.Err())
}

// plain says what SQLite says, without its numbers.
func plain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	text := strings.TrimPrefix(err.Error(), "SQL logic error: ")
	if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
		text = text[:at]
	}
	if strings.HasSuffix(text, "not authorized") || strings.HasSuffix(text, "may not be modified") {
		text = "queries may only read the tables of traces"
	}
	return errors.New(text)
}

// memory opens databases in memory.
type memory struct{ of *sqlite.Driver }

func (m memory) Connect(context.Context) (driver.Conn, error) { return m.of.Open(":memory:") }
func (m memory) Driver() driver.Driver                        { return m.of }
