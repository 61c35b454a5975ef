package spill

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

type tableRow struct {
	A uint64
	B uint32
	C uint8
}

func rowOf(i int) tableRow { return tableRow{uint64(i) * 7, uint32(i), uint8(i)} }

// TestTableLikeSlice: whatever the budget, tables that share a store hold what slices hold.
func TestTableLikeSlice(t *testing.T) {
	for _, budget := range []int64{0, 1, pageBytes, 3 * pageBytes, 40 * pageBytes, 1 << 30} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			store := NewStore(budget, t.TempDir())
			defer store.Close()
			const tablesN, rows = 3, 30_000
			var list [tablesN]*Table[tableRow]
			var want [tablesN][]tableRow
			for i := range list {
				list[i] = NewTable[tableRow](store)
			}
			for i := range rows {
				for k := range list[:1+i%tablesN] {
					if n := list[k].Append(rowOf(i)); n != len(want[k]) {
						t.Fatalf("row %d was appended as %d", len(want[k]), n)
					}
					want[k] = append(want[k], rowOf(i))
				}
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 3_000 {
				k := r.IntN(tablesN)
				i := r.IntN(len(want[k]))
				switch r.IntN(3) {
				case 0:
					if got := list[k].At(i); got != want[k][i] {
						t.Fatalf("table %d, row %d: %v, want %v", k, i, got, want[k][i])
					}
				case 1:
					want[k][i] = rowOf(r.IntN(1 << 20))
					list[k].Set(i, want[k][i])
				default:
					want[k][i].C++
					list[k].Ptr(i).C++
				}
			}
			for k := range list {
				checkTable(t, list[k], want[k])
			}
			if err := store.Err(); err != nil {
				t.Error(err)
			}
			if spilled := store.Spilled() > 0; spilled != (budget < 1<<30) {
				t.Errorf("spilled %d bytes", store.Spilled())
			}
		})
	}
}

func checkTable(t *testing.T, table *Table[tableRow], want []tableRow) {
	t.Helper()
	if table.Len() != len(want) {
		t.Fatalf("%d rows, want %d", table.Len(), len(want))
	}
	next := 0
	for first, rows := range table.Rows {
		if first != next {
			t.Fatalf("a run begins at %d, want %d", first, next)
		}
		for i, r := range rows {
			if r != want[first+i] {
				t.Fatalf("row %d: %v, want %v", first+i, r, want[first+i])
			}
		}
		next += len(rows)
	}
	if next != len(want) {
		t.Fatalf("the runs end at %d of %d", next, len(want))
	}
	for from := 0; from <= len(want); from += 1 + len(want)/7 { // of rows wherever they lie
		table.ReadAhead(from, from)
		table.ReadAhead(from, len(want))
	}
	c := table.Cursor()
	for k := range 2 * len(want) { // forwards and backwards in turn
		i := k / 2
		if k%2 > 0 {
			i = len(want) - 1 - i
		}
		if got := *c.Ptr(i); got != want[i] {
			t.Fatalf("the cursor finds %v in row %d, want %v", got, i, want[i])
		}
	}
}

// TestZeros: a table of zeros holds what a slice of them holds, whatever of it is changed.
func TestZeros(t *testing.T) {
	const perPage = pageBytes / 16
	for _, n := range []int{0, 1, perPage/2 - 1, perPage / 2, perPage, perPage + 1, 9 * perPage} {
		store := NewStore(2*pageBytes, t.TempDir())
		defer store.Close()
		table, want := NewZeros[tableRow](store, n), make([]tableRow, n)
		checkTable(t, table, want)
		for i := 0; i < n; i += 1 + n/5 {
			want[i] = rowOf(i)
			table.Set(i, want[i])
		}
		checkTable(t, table, want)
		checkTable(t, table, want)
		table.Release()
		if err := store.Err(); err != nil {
			t.Error(err)
		}
	}
}

// TestStoreBounds: what is resident stays near the budget while pages come and go.
func TestStoreBounds(t *testing.T) {
	store := NewStore(4*pageBytes, t.TempDir())
	defer store.Close()
	table := NewTable[uint64](store)
	for i := range uint64(100_000) {
		table.Append(i)
	}
	for i := range 5_000 {
		table.At(i * 7919 % table.Len())
	}
	resident := 0
	for _, p := range table.pages {
		if p.resident() {
			resident++
		}
	}
	if resident > leastWindow*extentFrames || store.made > 0 {
		t.Errorf("%d pages are resident, %d frames in memory", resident, store.made)
	}
}

func TestTemporaryFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	store := NewStore(0, dir)
	table := NewTable[uint64](store)
	for i := range uint64(20_000) {
		table.Append(i)
	}
	if store.Spilled() == 0 {
		t.Fatal("nothing was written")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoRoomForTemporaryFile: tables stay usable in memory, and the failure is told.
func TestNoRoomForTemporaryFile(t *testing.T) {
	store := NewStore(0, filepath.Join(t.TempDir(), "missing"))
	table := NewTable[uint64](store)
	for i := range uint64(20_000) {
		table.Append(i)
	}
	for i := range table.Len() {
		if got := table.At(i); got != uint64(i) {
			t.Fatalf("row %d is %d", i, got)
		}
	}
	if err := store.Err(); err == nil || !strings.Contains(err.Error(), "TMPDIR") { // what helps
		t.Errorf("the failure is told as %v", err)
	}
}

// TestRetired: a table grows in memory, however large it is, and lies in the file but for what fits.
func TestRetired(t *testing.T) {
	store := NewStore(40*pageBytes, t.TempDir())
	defer store.Close()
	table := NewTable[uint64](store)
	var want []uint64
	for i := range uint64(200_000) {
		table.Append(i)
		want = append(want, i)
		if store.brought > 0 {
			t.Fatalf("row %d is added to a page of the file", i)
		}
	}
	table = table.Sealed()
	inFile := 0
	for _, p := range table.pages {
		if p.slot > 0 {
			inFile++
		}
	}
	kept := store.inMemory - store.reserved()
	if len(table.pages)-inFile != kept {
		t.Errorf("%d of %d pages lie in the file, all but %d should", inFile, len(table.pages), kept)
	}
	for i, x := range want {
		if got := table.At(i); got != x {
			t.Fatalf("row %d is %d", i, got)
		}
	}
}

// TestNotRetired: a page that cannot be written stays in memory, and the failure is told.
func TestNotRetired(t *testing.T) {
	store := NewStore(40*pageBytes, t.TempDir())
	defer store.Close()
	table := NewTable[uint64](store)
	for i := range uint64(200_000) {
		table.Append(i)
		if i == 100_000 {
			file, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			store.file.Close()
			store.file = file
		}
	}
	for i := range table.Len() {
		if got := table.At(i); got != uint64(i) {
			t.Fatalf("row %d is %d", i, got)
		}
	}
	if err := store.Err(); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("the failure is told as %v", err)
	}
}

// TestReadAhead: of a page that has to be read the extents on both sides are read ahead, each once, unless they are resident.
func TestReadAhead(t *testing.T) {
	if !canMap {
		t.Skip("everything stays in memory")
	}
	store := NewStore(64*leastWindow*extentBytes, t.TempDir())
	defer store.Close()
	table := NewTable[uint64](store)
	for i := range uint64(400 * extentBytes / 8) {
		table.Append(i)
	}
	table = table.Sealed()
	const middle = 300 * extentFrames
	table.rowsOf(middle + 3*extentFrames)
	for _, c := range []struct{ page, want int }{{middle, 2}, {middle, 0}, {middle + extentFrames, 1}, {middle + 2*extentFrames, 0},
		{middle - extentFrames, 1}, {middle - 3*extentFrames, 1}, {len(table.pages) - 1, 1}} {
		store.admit(table.pages[c.page])
		if got := store.beside(table.pages, c.page); len(got) != c.want {
			t.Errorf("of page %d, %d extents are read ahead, want %d", c.page, len(got), c.want)
		}
	}
}

// TestResident: pages of one table that lie in one extent become resident together, and never more extents than may be.
func TestResident(t *testing.T) {
	if !canMap {
		t.Skip("everything stays in memory")
	}
	const window = 32
	store := NewStore(2*window*extentBytes, t.TempDir())
	defer store.Close()
	tables := make([]*Table[uint64], 3)
	for k := range tables {
		tables[k] = NewTable[uint64](store)
		for i := range uint64(100 * extentBytes / 8) {
			tables[k].Append(i)
		}
		tables[k] = tables[k].Sealed()
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		table := tables[random.IntN(len(tables))]
		k := random.IntN(len(table.pages))
		if table.pages[k].resident() {
			continue
		}
		if table.rowsOf(k); !table.pages[k].resident() {
			continue // as many were as may be: they were given back
		}
		extents := make(map[slot]bool)
		for _, other := range tables {
			for _, p := range other.pages {
				if p.slot > 0 && p.resident() {
					extents[p.slot/extentFrames] = true
				}
			}
		}
		for i := max(0, k-extentFrames+1); i < min(len(table.pages), k+extentFrames); i++ {
			if p := table.pages[i]; p.slot > 0 && p.slot/extentFrames == table.pages[k].slot/extentFrames && !p.resident() {
				t.Fatalf("page %d is not resident, %d is", i, k)
			}
		}
		if len(extents) > window || len(extents) != store.brought {
			t.Fatalf("%d extents are resident, %d were brought in, %d may be", len(extents), store.brought, window)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	table := NewTable[tableRow](NewStore(0, t.TempDir()))
	for range table.Rows {
		t.Error("an empty table has rows")
	}
}

// TestRowsInPlace: rows can be filled in where they lie, and any of them be changed while
// the table grows.
func TestRowsInPlace(t *testing.T) {
	store := NewStore(0, t.TempDir())
	defer store.Close()
	table := NewTable[tableRow](store)
	const rows = 100_000
	var want []tableRow
	for i := range rows {
		if r := table.Next(); *r != (tableRow{}) {
			t.Fatalf("row %d is %v before it is filled in", i, *r)
		} else {
			*r = rowOf(i)
		}
		want = append(want, rowOf(i))
		back := i * 7919 % (i + 1)
		table.Ptr(back).C++
		want[back].C++
	}
	checkTable(t, table, want)
	table.Release()
}

// TestAppendRows: rows that are added many at a time are those added one by one.
func TestAppendRows(t *testing.T) {
	store := NewStore(2*pageBytes, t.TempDir())
	defer store.Close()
	table := NewTable[tableRow](store)
	var want []tableRow
	for i := range 300 {
		from := len(want)
		for range i {
			want = append(want, rowOf(len(want)))
		}
		table.AppendRows(want[from:])
	}
	checkTable(t, table, want)
}

// TestManyReaders: while some goroutines read a table whose pages come and go, others write
// rows of their own.
func TestManyReaders(t *testing.T) {
	store := NewStore(0, t.TempDir())
	defer store.Close()
	const rows, writers = 70_000, 4
	table, sums := NewTable[uint64](store), NewZeros[uint64](store, rows)
	for i := range uint64(rows) {
		table.Append(i * i)
	}
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range rows {
				k := i * 101 % rows
				if got := table.At(k); got != uint64(k)*uint64(k) {
					t.Errorf("row %d is %d", k, got)
					return
				}
				if k%writers == w {
					*sums.Ptr(k) += table.At(k)
				}
			}
		})
	}
	wait.Wait()
	for i := range rows {
		if sums.At(i) != uint64(i)*uint64(i) {
			t.Fatalf("row %d is %d after writing", i, sums.At(i))
		}
	}
}

// TestPlace: rows of all sizes are where the division says.
func TestPlace(t *testing.T) {
	store := NewStore(0, t.TempDir())
	r := rand.New(rand.NewPCG(3, 4))
	for _, table := range []interface {
		place(int) (int, int)
		rowsPerPage() int
	}{NewTable[uint8](store), NewTable[uint32](store), NewTable[tableRow](store), NewTable[[3]tableRow](store), NewTable[[7]byte](store)} {
		n := table.rowsPerPage()
		for range 10_000 {
			k := r.IntN((1 << 48) / n)
			for _, at := range []int{0, r.IntN(n), n - 1} {
				if page, row := table.place(k*n + at); page != k || row != at {
					t.Fatalf("%d rows in a page: row %d is row %d of page %d, want %d of %d", n, k*n+at, row, page, at, k)
				}
			}
		}
	}
}

func (t *Table[T]) rowsPerPage() int { return perPage[T]() }

// TestSealed: tables that are sealed hold what they held, whatever lies beside it; when all of
// them are gone the room is used again.
func TestSealed(t *testing.T) {
	for _, budget := range []int64{0, 3 * pageBytes, 1 << 30} {
		store := NewStore(budget, t.TempDir())
		defer store.Close()
		var spilled int64
		for round := range 5 {
			var list []*Table[tableRow]
			var odd []*Table[[7]byte]
			for i := range 3000 {
				table := NewTable[tableRow](store)
				for k := range i % 1500 {
					table.Append(rowOf(i + k))
				}
				list = append(list, table.Sealed())
				odd = append(odd, NewZeros[[7]byte](store, i%5))
			}
			for i, table := range list {
				var want []tableRow
				for k := range i % 1500 {
					want = append(want, rowOf(i+k))
				}
				checkTable(t, table, want)
				if i%1500 == 0 && table != nil {
					t.Errorf("a table without rows is %v", table)
				}
			}
			for i := range list {
				for k := range odd[i].Len() {
					if odd[i].At(k) != ([7]byte{}) {
						t.Errorf("rows of zeros are %v", odd[i].At(k))
					}
				}
				list[i].Release()
				odd[i].Release()
			}
			if round == 0 {
				spilled = store.Spilled()
			} else if store.Spilled() > spilled+leastSegment {
				t.Errorf("budget %d, round %d: %d bytes spilled, %d in the first", budget, round, store.Spilled(), spilled)
			}
		}
		if err := store.Err(); err != nil {
			t.Error(err)
		}
	}
}

// TestSealedMemory: however many rows a table has, it holds none of them on the heap once it is sealed.
func TestSealedMemory(t *testing.T) {
	if !canMap {
		t.Skip("everything stays in memory")
	}
	const tables, most = 500, 300 // bytes of a table
	for rows := 1; rows < 2*perPage[tableRow](); rows *= 2 {
		store := NewStore(0, t.TempDir())
		kept, before := make([]*Table[tableRow], tables), liveBytes()
		for i := range kept {
			table := NewTable[tableRow](store)
			for k := range rows {
				table.Append(rowOf(k))
			}
			kept[i] = table.Sealed()
		}
		if held := (liveBytes() - before) / tables; held > most {
			t.Errorf("%d rows: a table holds %d bytes, want at most %d", rows, held, most)
		}
		runtime.KeepAlive(kept)
		store.Close()
	}
}

func liveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkSmallTables: what a table of a few rows takes of the heap.
func BenchmarkSmallTables(b *testing.B) {
	for _, rows := range []int{0, 1, 4, 64} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			store := NewStore(0, b.TempDir())
			defer store.Close()
			kept := make([]*Table[tableRow], 0, b.N)
			b.ReportAllocs()
			for b.Loop() {
				table := NewTable[tableRow](store)
				for i := range rows {
					table.Append(rowOf(i))
				}
				kept = append(kept, table.Sealed())
			}
			runtime.KeepAlive(kept)
		})
	}
}

// BenchmarkPtr reads rows here and there.
func BenchmarkPtr(b *testing.B) {
	store := NewStore(1<<30, b.TempDir())
	defer store.Close()
	table := NewZeros[tableRow](store, 1<<16)
	sum, i := uint64(0), 0
	for b.Loop() {
		i = (i*5 + 1) & (1<<16 - 1)
		sum += table.Ptr(i).A
	}
	_ = sum
}

// TestEdit: what is changed in runs stays changed when their pages come and go.
func TestEdit(t *testing.T) {
	store := NewStore(2*pageBytes, t.TempDir())
	defer store.Close()
	table := NewTable[tableRow](store)
	var want []tableRow
	for i := range 30_000 {
		table.Append(rowOf(i))
		want = append(want, rowOf(i+1))
	}
	for first, rows := range table.Rows {
		for i := range rows {
			rows[i] = rowOf(first + i + 1)
		}
	}
	checkTable(t, table, want)
}

// TestFramesAreUsedAgain: tables that come and go one after the other need no more room
// than one of them.
func TestFramesAreUsedAgain(t *testing.T) {
	store := NewStore(4*leastWindow*extentBytes, t.TempDir())
	defer store.Close()
	const rows = 100 * pageBytes / 8
	var spilled int64
	for round := range 20 {
		table := NewTable[uint64](store)
		for i := range uint64(rows) {
			if *table.Next() != 0 {
				t.Fatalf("row %d is not zero at first", i)
			}
			*table.Ptr(table.Len() - 1) = i + 1
		}
		for i := range 1000 {
			i = i * 7919 % table.Len()
			if got := *table.Ptr(i); got != uint64(i+1) {
				t.Fatalf("row %d is %d", i, got)
			}
		}
		table.Release()
		if round == 0 {
			spilled = store.Spilled()
		}
	}
	if store.Spilled() != spilled || store.made > store.inMemory {
		t.Errorf("the file has grown from %d to %d bytes; %d frames in memory", spilled, store.Spilled(), store.made)
	}
}
