package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

// dump returns all rows of a table, each value as it is written in SQL.
func dump(t testing.TB, f *File, table *Table) []string {
	t.Helper()
	var names []string
	for _, c := range table.columns {
		names = append(names, c.name)
	}
	var out []string
	if err := table.Rows(context.Background(), names, func(values []Value) bool {
		var row []string
		for _, v := range values {
			switch v.Type {
			case Null:
				row = append(row, "NULL")
			case Integer:
				row = append(row, fmt.Sprint(v.Int()))
			case Real:
				row = append(row, fmt.Sprintf("%.15g", v.Float()))
			case Text:
				text, _, _ := strings.Cut(string(v.Bytes()), "\x00") // as the reference program prints it
				row = append(row, string([]rune(text)))              // bytes that are no text as JSON has them
			case Blob:
				row = append(row, fmt.Sprintf("%X", v.Bytes()))
			}
		}
		out = append(out, strings.Join(row, "|"))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func open(t testing.TB, path string) (*File, *[]string) {
	t.Helper()
	var found []string
	f, err := Open(path, func(fault Fault, at int64, text string) { found = append(found, fmt.Sprint(fault, at, " ", text)) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, &found
}

// script makes a database with the reference program.
func script(t *testing.T, sql string) string {
	t.Helper()
	tracetest.Program(t, "sqlite3", "sqlite3")
	path := filepath.Join(t.TempDir(), "a.db")
	cmd := exec.Command("sqlite3", path)
	cmd.Stdin = strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	return path
}

// everything is a database with all that the format of tables knows: types, overflow pages, several levels, quoted
// names, comments, constraints, rows that are shorter than the table.
const everything = `
PRAGMA page_size = 512;
CREATE TABLE "a b" (
  [id] INTEGER PRIMARY KEY, -- the number, of course
  ` + "`x,y`" + ` TEXT DEFAULT 'it''s (', /* a, b */ n INT CHECK (n IN (1, 2) OR n IS NOT NULL), r REAL,
  CONSTRAINT c UNIQUE (n, r));
CREATE TABLE keyed (k INTEGER, v BLOB, PRIMARY KEY (k));
CREATE TABLE plain (k INTEGER PRIMARY KEY DESC, v);
CREATE TABLE indexed (k PRIMARY KEY) WITHOUT ROWID;
CREATE VIEW view AS SELECT * FROM plain;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
INSERT INTO "a b" SELECT i * 3, CASE i % 4 WHEN 0 THEN NULL ELSE printf('%.*c', i % 4 * i, 'x') END, i * i * i * (i % 2 * 2 - 1) * 7919, i / 7.0 FROM c;
INSERT INTO keyed VALUES (7, x'00ff'), (-9, zeroblob(5000)), (9223372036854775807, x'');
INSERT INTO plain VALUES (1, 0), (2, 1), (3, -1), (4, 1.0), (5, 127), (6, 32767), (7, -8388608), (8, 2147483648), (9, 1e300), (10, -140737488355328);
ALTER TABLE plain ADD COLUMN late INTEGER DEFAULT -5;
ALTER TABLE plain ADD COLUMN word TEXT DEFAULT 'none';
INSERT INTO plain VALUES (11, NULL, 4, 'some');
`

// All tables have the rows that the reference program finds.
func TestAgainstReference(t *testing.T) {
	path := script(t, everything)
	f, found := open(t, path)
	var names []string
	for _, table := range f.Tables() {
		names = append(names, table.Name)
		compare(t, path, f, table)
	}
	if want := []string{"a b", "keyed", "plain"}; !slices.Equal(names, want) {
		t.Errorf("tables %q, want %q", names, want)
	}
	if len(*found) != 1 || !strings.Contains((*found)[0], "WITHOUT ROWID") {
		t.Errorf("found %q, want the table without row numbers", *found)
	}
}

// compare holds the rows of a table against those that the reference program finds.
func compare(t *testing.T, path string, f *File, table *Table) {
	t.Helper()
	var columns []string
	for _, c := range table.columns {
		name := `"` + c.name + `"`
		columns = append(columns, fmt.Sprintf(
			"CASE typeof(%[1]s) WHEN 'null' THEN 'NULL' WHEN 'blob' THEN hex(%[1]s) WHEN 'real' THEN printf('%%.15g', %[1]s) ELSE %[1]s END AS c%d",
			name, len(columns)))
	}
	out, err := exec.Command("sqlite3", "-readonly", "-json", path,
		fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY rowid`, strings.Join(columns, ", "), table.Name)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if len(out) > 0 {
		d := json.NewDecoder(strings.NewReader(string(out)))
		d.UseNumber()
		if err := d.Decode(&rows); err != nil {
			t.Fatal(err)
		}
	}
	got := dump(t, f, table)
	if len(got) != len(rows) {
		t.Fatalf("%s has %d rows, want %d", table.Name, len(got), len(rows))
	}
	for i, r := range rows {
		var want []string
		for c := range columns {
			want = append(want, fmt.Sprint(r[fmt.Sprintf("c%d", c)]))
		}
		if w := strings.Join(want, "|"); !same(got[i], w) {
			t.Fatalf("%s row %d has %d bytes, or others than the %d wanted", table.Name, i, len(got[i]), len(w))
		}
	}
}

// same compares rows; the reference program writes whole reals with a point, as stored integers are read in a column of reals.
func same(got, want string) bool {
	g, w := strings.Split(got, "|"), strings.Split(want, "|")
	return slices.EqualFunc(g, w, func(a, b string) bool { return a == b || a == strings.TrimSuffix(b, ".0") })
}

// The real files in shared have the rows that the reference program finds.
func TestRealAgainstReference(t *testing.T) {
	tracetest.Program(t, "sqlite3", "sqlite3")
	for _, pattern := range []string{"recorders/nsys/*.sqlite", "recorders/rocpd/*.db", "recorders/rocpd/v3/*/*.db"} {
		for _, path := range tracetest.MoreTraces(t, pattern) {
			t.Run(filepath.Base(path), func(t *testing.T) {
				f, found := open(t, path)
				for _, table := range f.Tables() {
					compare(t, path, f, table)
				}
				if len(*found) > 0 {
					t.Errorf("found %q", *found)
				}
			})
		}
	}
}

// A file that was cut anywhere gives rows of the whole one, in order, and says that some are missing.
func TestCut(t *testing.T) {
	data, err := os.ReadFile(script(t, everything))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.db")
	for size := 1024; size < len(data); size += len(data) / 37 {
		if err := os.WriteFile(path, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		f, found := open(t, path)
		for _, table := range f.Tables() {
			dump(t, f, table)
		}
		if len(*found) == 0 {
			t.Errorf("cut at %d: nothing is found", size)
		}
	}
}

// A header that cannot be so is a finding, whatever the pages hold.
func TestHeader(t *testing.T) {
	data := tracetest.ReadFile(t, filepath.Join("..", "..", "nsight", "testdata", "run", "report0.sqlite"))
	for at, want := range map[int]bool{-1: false, 21: true, 23: true, 25: false, 31: true} {
		mutant := bytes.Clone(data)
		if at >= 0 {
			mutant[at]++
		}
		if at == 31 { // the number of pages, which is right
			mutant[25]++
		}
		path := filepath.Join(t.TempDir(), "a.sqlite")
		tracetest.WriteFile(t, path, mutant)
		got := false
		f, err := Open(path, func(fault Fault, _ int64, _ string) { got = got || fault == Corrupt })
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got != want {
			t.Errorf("byte %d: damage %t, want %t", at, got, want)
		}
	}
}

// Bytes behind the last page are damage: what was inserted in it has moved its end there.
func TestLonger(t *testing.T) {
	data := tracetest.ReadFile(t, filepath.Join("..", "..", "nsight", "testdata", "run", "report0.sqlite"))
	for _, more := range []int{0, 1, 12, 512} {
		path := filepath.Join(t.TempDir(), "a.sqlite")
		tracetest.WriteFile(t, path, slices.Insert(bytes.Clone(data), len(data)-100, make([]byte, more)...))
		got := false
		f, err := Open(path, func(fault Fault, at int64, _ string) { got = got || fault == Corrupt && at == int64(len(data)) })
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got != (more > 0) {
			t.Errorf("%d bytes more: damage %t", more, got)
		}
	}
}

// Newer pages beside a database are told of.
func TestUnsaved(t *testing.T) {
	path := script(t, "CREATE TABLE a (b); INSERT INTO a VALUES (1);")
	if err := os.WriteFile(path+"-journal", []byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found := open(t, path); len(*found) != 1 || !strings.Contains((*found)[0], "did not end") {
		t.Errorf("found %q", *found)
	}
	os.Remove(path + "-journal")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[18], data[19] = 2, 2
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+"-wal", make([]byte, 600), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found := open(t, path); len(*found) != 1 || !strings.Contains((*found)[0], "-wal") {
		t.Errorf("found %q", *found)
	}
}

// FuzzRows: whatever a file holds, reading it ends, with bounded work.
func FuzzRows(f *testing.F) {
	for _, name := range []string{"small.db"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	path := filepath.Join(f.TempDir(), "a.db")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path, func(Fault, int64, string) {})
		if err != nil {
			return
		}
		defer db.Close()
		for _, table := range db.Tables() {
			// A page has no more cells than room for their pointers, and is used once.
			if n := len(dump(t, db, table)); n > len(data)/2 {
				t.Fatalf("%d rows in %d bytes", n, len(data))
			}
		}
	})
}
