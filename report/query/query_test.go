package query

import (
	"bytes"
	"database/sql"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/ipc"

	"tracekit/document/outcome"
	"tracekit/readers/arrowdir"
	"tracekit/spill"
	"tracekit/trace"
)

func opened(t testing.TB, sources ...Source) *Database {
	t.Helper()
	d, err := Open(t.Context(), sources)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func sourceOf(t testing.TB, tables ...arrowdir.Table) Source {
	store := spill.NewStore(1<<20, t.TempDir())
	t.Cleanup(func() { store.Close() })
	return Source{Tables: tables, Store: store}
}

// answers returns the rows of an answer, a text each.
func answers(t testing.TB, d *Database, statement string) (out []string) {
	t.Helper()
	err := d.Query(t.Context(), statement, func([]string) error { return nil }, func(row []any) error {
		var cells []string
		for _, v := range row {
			cells = append(cells, outcome.Cell(v))
		}
		out = append(out, strings.Join(cells, "|"))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return out
}

// A value is one of a row: an integer, a number, a name or nothing.
type value any

// rowsOf makes rows of columns i, n, v, x and up: few integers, names of which some differ in case or in spaces at the end, many integers,
// numbers, and integers that ascend. Every fifth value is missing.
func rowsOf(rows int, seed uint64) (out [][]value) {
	g := rand.New(rand.NewPCG(seed, 1))
	names := []string{"b", "a", "B", "a ", "d", "", "é"}
	some := func(v value) value {
		if g.IntN(5) == 0 {
			return nil
		}
		return v
	}
	for i := range rows {
		out = append(out, []value{some(g.Int64N(50) - 20), some(names[g.IntN(len(names))]), some(g.Int64() >> g.IntN(64)),
			some(float64(g.IntN(9)-4) / 2), int64(i / 3)})
	}
	return out
}

// tableOfRows has the rows for a database of the package.
func tableOfRows(name string, rows [][]value) arrowdir.Table {
	t := tableOf(name, []string{"i", "n", "v", "x", "up"}, slices.Collect(func(yield func([]any) bool) {
		for _, r := range rows {
			if !yield([]any{r[0], r[1], r[2], r[3], r[4]}) {
				return
			}
		}
	}))
	return t
}

// inParts is the table in parts of 700 rows, which know where the values of up lie, and counts the rows that are filled.
func inParts(of arrowdir.Table, rows [][]value, filled *int) arrowdir.Table {
	var parts []arrowdir.Part
	for part := range slices.Chunk(rows, 700) {
		up := func(i int) int64 { return part[i][4].(int64) }
		parts = append(parts, arrowdir.Part{Rows: len(part), Fill: func(b *arrowdir.Block, first int) {
			*filled += b.Rows
			for k, c := range of.Columns {
				var values []int64
				var index []uint32
				if c.Names == nil {
					values = b.Ints(k)
				} else {
					index = b.Names(k)
				}
				for i := range b.Rows {
					switch v := part[first+i][k].(type) {
					case nil:
						b.SetID(k, values, i, trace.None)
						b.SetName(k, index, i, trace.None)
					case string:
						b.SetName(k, index, i, uint32(slices.Index(c.Names, v)))
					case float64:
						if values != nil {
							values[i] = int64(math.Float64bits(v))
						}
					case int64:
						if values != nil {
							values[i] = v
						}
					}
				}
			}
		}, Within: func(column int, least, greatest int64) (first, end int, ok bool) {
			if column != 4 {
				return 0, 0, false
			}
			first = search(len(part), func(i int) bool { return up(i) >= least })
			return first, max(first, search(len(part), func(i int) bool { return up(i) > greatest })), true
		}})
	}
	return arrowdir.Table{Name: of.Name, Columns: of.Columns, Parts: func() []arrowdir.Part { return parts }}
}

// appended is a table in parts whose rows come one after the other, those that are not wanted left out.
func appended(of arrowdir.Table) arrowdir.Table {
	t := of
	t.Parts = func() (parts []arrowdir.Part) {
		for _, p := range of.Parts() {
			reader := of.NewPartReader([]int{0, 1, 2, 3, 4}, 100, nil, nil)
			parts = append(parts, arrowdir.Part{Rows: p.Rows, Within: p.Within, Append: func(r *arrowdir.Rows) {
				least, greatest := r.Within(4)
				for chunk := range reader.Read(p, 0, p.Rows) {
					for i := range chunk.Rows {
						if up := chunk.Columns[4].Values[i]; up < least || up > greatest {
							r.Skip()
							continue
						}
						for k, c := range chunk.Columns {
							switch there := c.Valid[i/8]>>(i%8)&1 == 1; {
							case of.Columns[k].Names != nil && there:
								r.Name(c.Index[i])
							case of.Columns[k].Names != nil:
								r.Name(trace.None)
							case there:
								r.Int(c.Values[i])
							default:
								r.Missing()
							}
						}
						if !r.End() {
							return
						}
					}
				}
			}})
		}
		return parts
	}
	return t
}

// TestSelectionsReadFewRows states that a query reads the rows that its comparisons leave, blocks of some around them at most, and no other
// one; and that one that wants many rows fills the column.
func TestSelectionsReadFewRows(t *testing.T) {
	rows := rowsOf(50_000, 1)
	filled := 0
	d := opened(t, sourceOf(t, inParts(tableOfRows("t", rows), rows, &filled)))
	for _, c := range []struct {
		query string
		want  string
		most  int
	}{
		{"select count(*) from t where up = 5000", "3", 3},
		{"select count(*) from t where up between 5000 and 5009", "30", 30},
		{"select count(*) from t where 5000 <= up and up < 6000 and i > 100", "0", 3000},
		{"select count(*) from t where up > 1e9", "0", 0},
		{"select count(*) from t where up in (1, 16000)", "6", 50_000},
		{"select count(*) from t", "50000", 0},
		{"select max(up) from t where up > 10", "16666", 50_000},
		{"select count(*) from t where up = 5000", "3", 0}, // now the column is there
	} {
		filled = 0
		if got := strings.Join(answers(t, d, c.query), ";"); got != c.want || filled > c.most {
			t.Errorf("%s: %s, want %s; %d rows are read, at most %d", c.query, got, c.want, filled, c.most)
		}
	}
}

// plainSQLite has the rows in tables of its own.
func plainSQLite(t testing.TB, tables map[string][][]value) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	for name, rows := range tables {
		if _, err := db.Exec("create table " + name + "(i integer, n text, v integer, x real, up integer)"); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if _, err := db.Exec("insert into "+name+" values (?, ?, ?, ?, ?)", r[0], r[1], r[2], r[3], r[4]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return db
}

// TestEqualsSQLite states that every query has the answer that SQLite gives from tables of its own: comparisons of all kinds with values
// of all types, orders, groups and joins, drawn at random.
func TestEqualsSQLite(t *testing.T) {
	rows, others := rowsOf(5000, 1), rowsOf(60, 2)
	filled := 0
	whole := opened(t, sourceOf(t, tableOfRows("t", rows), tableOfRows("u", others)))
	t1, u1 := inParts(tableOfRows("t", rows), rows, &filled), inParts(tableOfRows("u", others), others, &filled)
	forms := map[string]Source{"in parts": sourceOf(t, t1, u1), "appended": sourceOf(t, appended(t1), appended(u1))}
	plain := plainSQLite(t, map[string][][]value{"t": rows, "u": others})
	g := rand.New(rand.NewPCG(3, 3))
	pick := func(of ...string) string { return of[g.IntN(len(of))] }
	for range 300 {
		var where []string
		for range g.IntN(3) {
			where = append(where, pick("t.i", "t.n", "t.v", "t.x", "t.up", "t.up")+" "+pick("=", "<", "<=", ">", ">=", "<>", "is", "is not")+" "+
				pick("3", "-7", "2.5", "'a'", "'b'", "'a' collate nocase", "'a' collate rtrim", "null", "'12'", "1000", "9e18", "-1e300", "''"))
		}
		from := "t"
		if g.IntN(3) == 0 {
			from = "u join t on " + pick("t.i = u.i", "t.n = u.n", "t.up = u.i", "t.up = u.up and t.n = u.n", "t.x = u.x and t.i = u.up")
		}
		q := "from " + from
		if len(where) > 0 {
			q += " where " + strings.Join(where, pick(" and ", " and ", " or "))
		}
		column := pick("t.i", "t.n", "t.v", "t.x", "t.up")
		switch g.IntN(3) {
		case 0:
			q = "select count(*), sum(t.i), min(t.n), max(t.v), total(t.x) " + q
		case 1:
			q = "select " + column + ", count(*), sum(t.i) " + q + " group by " + column + " order by " + column + pick("", " desc")
		default:
			q = "select t.i, t.n, t.v, t.x, t.up " + q + " order by " + column + pick("", " desc", " collate nocase") + ", 1, 2, 3, 4, 5 limit 40"
		}
		got := answers(t, whole, q)
		var want []string
		found, err := plain.Query(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		columns, _ := found.Columns()
		row, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			at[i] = &row[i]
		}
		for found.Next() {
			if err := found.Scan(at...); err != nil {
				t.Fatal(err)
			}
			var cells []string
			for _, v := range row {
				cells = append(cells, outcome.Cell(v))
			}
			want = append(want, strings.Join(cells, "|"))
		}
		found.Close()
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %.300q\nwant %.300q", q, got, want)
		}
		for name, source := range forms {
			if got := answers(t, opened(t, source), q); !slices.Equal(got, want) {
				t.Errorf("%s, %s:\n got %.300q\nwant %.300q", q, name, got, want)
			}
		}
	}
}

// TestWholeTables states which queries a table answers itself, and that Arrow has the rows that SQLite gives.
func TestWholeTables(t *testing.T) {
	d := opened(t, sourceOf(t, tableOfRows("t", rowsOf(10, 1))), sourceOf(t, tableOfRows("t", rowsOf(20, 1))))
	for q, whole := range map[string]bool{"select * from t": true, "SELECT i, \"n\" FROM a.t ;": true, "select *, i from\nb.t": true,
		"select I from main.t":     true,
		"select distinct i from t": false, "select i as j from t": false, "select count(*) from t": false, "select i from t where i > 3": false,
		"select i from t limit 3": false, "select rowid from t": false, "select i from t order by i": false, "select i from t, b.t": false,
		"select i from u": false, "select 'i' from t": false, `select i from "a"."t"`: true, `select i from "a.t"`: false,
		`select i" from t`: false,
		`select i from t"`: false, `select "i, n" from t`: false} {
		if _, _, ok := d.whole(q); ok != whole {
			t.Errorf("%s: a table answers: %t", q, ok)
		}
		var columns []string
		rows := 0
		err := d.Query(t.Context(), q, func(c []string) error { columns = c; return nil }, func([]any) error { rows++; return nil })
		if err != nil {
			continue
		}
		var b bytes.Buffer
		a, err := d.Answer(t.Context(), q)
		if err == nil {
			err = a.WriteArrow(&b)
		}
		if err != nil || !slices.Equal(a.Columns, columns) {
			t.Errorf("%s: Arrow has columns %v, SQLite %v: %v", q, a.Columns, columns, err)
		}
		in, err := ipc.NewReader(&b)
		if err != nil {
			t.Fatal(err)
		}
		for in.Next() {
			rows -= int(in.Record().NumRows())
		}
		if rows != 0 {
			t.Errorf("%s: Arrow has %d rows less", q, rows)
		}
	}
}

// TestOnlyReads states that a query neither changes anything nor reaches a file.
func TestOnlyReads(t *testing.T) {
	dir := t.TempDir()
	d := opened(t, sourceOf(t, tableOfRows("t", rowsOf(10, 1))))
	t.Chdir(dir)
	for _, q := range []string{"create table x(a)", "create temp table x(a)", "insert into t values (1, 'a', 1, 1, 1)", "delete from t",
		"update t set i = 1",
		"drop table t", "drop view late_ranks", "attach 'f.db' as f", "attach ':memory:' as f", "detach main", "vacuum into 'f.db'", "vacuum",
		"pragma query_only = off", "pragma journal_mode = wal", "pragma temp_store_directory = '.'", "select load_extension('x')",
		"create virtual table y using tracekit(0)", "begin", "savepoint a", "analyze", "select writefile('f', 'x')", "select readfile('f')",
		"create view y as select 1", "with x as (select 1) insert into t select 1, 'a', 1, 1, 1 from x"} {
		if err := d.Query(t.Context(), q, func([]string) error { return nil }, func([]any) error { return nil }); err == nil {
			t.Errorf("%s is allowed", q)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	if got := answers(t, d, "select count(*) from t"); got[0] != "10" {
		t.Errorf("there are %s rows", got)
	}
	if got := answers(t, d, "select name from pragma_table_info('t')"); len(got) != 5 {
		t.Errorf("columns are %v", got)
	}
}

// TestSchemas states that several traces have tables of their own, and that those without a schema are the first one's.
func TestSchemas(t *testing.T) {
	d := opened(t, sourceOf(t, tableOfRows("t", rowsOf(10, 1))), sourceOf(t, tableOfRows("t", rowsOf(20, 1))),
		sourceOf(t, tableOfRows("t", rowsOf(30, 1))))
	got := answers(t, d, "select (select count(*) from t), (select count(*) from a.t), (select count(*) from b.t), (select count(*) from c.t)")
	if got[0] != "10|10|20|30" {
		t.Errorf("the tables have %s rows", got)
	}
	if _, err := Open(t.Context(), make([]Source, 10)); err == nil {
		t.Error("ten traces are queried together")
	}
}

// TestFailures states that a table that cannot be filled fails the query, and no later one of other tables.
func TestFailures(t *testing.T) {
	bad := arrowdir.Table{Name: "bad", Columns: []arrowdir.TableColumn{{Name: "a"}}, Fill: func(r *arrowdir.Rows) {
		r.Int(1).End()
		r.Fail(trace.ErrNotATrace)
	}}
	d := opened(t, sourceOf(t, bad, tableOfRows("t", rowsOf(10, 1))))
	err := d.Query(t.Context(), "select * from bad", func([]string) error { return nil }, func([]any) error { return nil })
	if err == nil {
		t.Error("a table that cannot be filled is answered")
	}
	if got := answers(t, d, "select count(*) from t"); got[0] != "10" {
		t.Errorf("there are %s rows", got)
	}
	if err := d.Query(t.Context(), "select nowhere from t", func([]string) error { return nil },
		func([]any) error { return nil }); err == nil ||
		err.Error() != "no such column: nowhere: there are i, n, v, x, up" {
		t.Errorf("a column that is not there: %v", err)
	}
}

// BenchmarkGroups groups ten million rows by a name.
func BenchmarkGroups(b *testing.B) {
	names := []string{"MPI_Send", "MPI_Recv", "MPI_Waitall", "compute", "exchange"}
	const rows = 10_000_000
	table := arrowdir.Table{Name: "calls", Columns: []arrowdir.TableColumn{{Name: "region", Names: names}, {Name: "time_ns"}},
		Fill: func(r *arrowdir.Rows) {
			for i := range rows {
				if !r.Name(uint32(i % len(names))).Int(int64(i % 1000)).End() {
					return
				}
			}
		}}
	store := spill.NewStore(1<<30, b.TempDir())
	defer store.Close()
	d := opened(b, Source{Tables: []arrowdir.Table{table}, Store: store})
	answers(b, d, "select count(*), sum(time_ns) from calls") // fills
	for b.Loop() {
		if got := answers(b, d, "select region, count(*), sum(time_ns) from calls group by region"); len(got) != len(names) {
			b.Fatal(got)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// TestStatistics states what functions of statistics say, also of windows, and that NULL counts for nothing.
func TestStatistics(t *testing.T) {
	d := opened(t, sourceOf(t))
	const rows = "(select 1 as k, 4 as x union all select 2, 1 union all select 3, null union all select 4, 2.5 union all select 5, 3)"
	for q, want := range map[string]string{
		"select median(x), percentile(x, 0), percentile(x, 100), percentile(x, 90) from " + rows: "2.75|1|4|3.7",
		"select stddev(x) * stddev(x) from " + rows + " where k in (1, 2, 3)":                    "4.5",
		"select stddev(x), median(x) from " + rows + " where k = 2":                              "NULL|1",
		"select median(x) from " + rows + " where k = 3":                                         "NULL",
		"select median(x) over (order by k rows 1 preceding) from " + rows:                       "4;2.5;1;2.5;2.75",
	} {
		if got := strings.Join(answers(t, d, q), ";"); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}
