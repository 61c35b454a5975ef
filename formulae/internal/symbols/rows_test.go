package symbols_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/internal/symbols"
	"tracekit/formulae/partners"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A location's events as symbols.
type coded struct {
	table  *symbols.Table
	ids    []uint32
	times  []int64
	values [][]uint64
}

// read makes symbols of the events of a location, with and without guesses.
func read(t *testing.T, src *trace.MemorySource, l int) coded {
	t.Helper()
	c := coded{table: symbols.NewTable()}
	rows, again := symbols.Rows{Table: c.table}, symbols.Rows{Table: c.table}
	for _, b := range src.Batches[l] {
		rows.Begin(b, b.First)
		again.Begin(b, b.First)
		for seq, at := range b.Events {
			id, time := rows.Read(b, seq, at, 0, c.table.Len() > 0)
			if guessed, _ := again.Read(b, seq, at, id, true); guessed != id {
				t.Fatalf("event %d of location %d is symbol %d and symbol %d", seq, l, id, guessed)
			}
			if n := rows.Count(id); n != len(rows.Values) {
				t.Fatalf("event %d of location %d has %d values, its symbol says %d", seq, l, len(rows.Values), n)
			}
			c.ids, c.times, c.values = append(c.ids, id), append(c.times, time), append(c.values, slices.Clone(rows.Values))
		}
	}
	c.table.Freeze()
	return c
}

// write makes events of symbols with a table that says what they mean.
func (c *coded) write(t *testing.T, table *symbols.Table, l int) []*trace.Batch {
	t.Helper()
	b := &trace.Batch{}
	b.Reset(trace.LocationID(l), 0)
	rows := symbols.Rows{Table: table}
	for i, id := range c.ids {
		if n := rows.Count(id); n != len(c.values[i]) {
			t.Fatalf("event %d of location %d needs %d values, of %d", i, l, n, len(c.values[i]))
		}
		if rows.Values = c.values[i]; !rows.Write(b, id, c.times[i]) {
			t.Fatalf("event %d of location %d cannot be written", i, l)
		}
	}
	return []*trace.Batch{b}
}

// classes puts locations with the same symbols into a class, and codes dictionary and classes.
func classes(defs *trace.Defs, parts []coded) []byte {
	d, ranks := symbols.NewDictionary(), partners.RanksOf(defs)
	var list []symbols.Class
	done := make([]bool, len(parts))
	for l := range parts {
		var members []trace.LocationID
		var tables []*symbols.Table
		for k := range parts {
			if !done[k] && slices.Equal(parts[k].ids, parts[l].ids) {
				members, tables, done[k] = append(members, trace.LocationID(k)), append(tables, parts[k].table), true
			}
		}
		if len(members) > 0 {
			list = append(list, d.Classify(ranks, members, tables))
		}
	}
	c := pack.NewColumns(pack.Form{Tables: coder.NewTables()})
	d.Code(c, list, len(parts))
	return c.Finish()
}

// rebuilt checks that a trace comes back from its symbols, and returns the block of its
// dictionary, the symbols of the location with the most, and the number of classes.
func rebuilt(t *testing.T, src *trace.MemorySource) (block []byte, most, n int) {
	t.Helper()
	var parts []coded
	for l := range src.Batches {
		parts = append(parts, read(t, src, l))
		most = max(most, parts[l].table.Len())
	}
	block = classes(src.Definitions, parts)
	c, d, ranks := pack.OpenColumns(pack.Form{Tables: coder.NewTables()}, block), symbols.NewDictionary(), partners.RanksOf(src.Definitions)
	list := d.Code(c, nil, len(parts))
	if c.Damaged {
		t.Fatal("the dictionary is damaged")
	}
	back := *src
	back.Batches = make([][]*trace.Batch, len(parts))
	for i := range list {
		for position, l := range list[i].Members {
			table, ok := d.Table(ranks, &list[i], position)
			if !ok || table.Len() != parts[l].table.Len() {
				t.Fatalf("location %d has no symbols", l)
			}
			back.Batches[l] = parts[l].write(t, table, int(l))
		}
	}
	if got, want := tracetest.MustFormat(t, &back), tracetest.MustFormat(t, src); got != want {
		t.Fatalf("the trace comes back as\n%s\nwant\n%s", got, want)
	}
	return block, most, len(list)
}

func TestEverythingComesBack(t *testing.T) {
	t.Parallel()
	rebuilt(t, tracetest.MustParse(t, tracetest.Everything))
}

// ring is some steps of ranks which send to the right, with requests numbered in their own way.
func ring(ranks, steps int) string {
	var b strings.Builder
	for r := range ranks {
		fmt.Fprintf(&b, "location %d rank=%d\n", r, r)
		for i := range steps {
			req := 1000*r + 2*i
			fmt.Fprintf(&b, " %d Enter MPI_Isend ; %d MpiIsend to=%d tag=3 bytes=64 req=%d ; %d Leave MPI_Isend\n",
				9*i, 9*i, (r+1)%ranks, req, 9*i)
			fmt.Fprintf(&b, " %d Enter MPI_Irecv ; %d MpiIrecvRequest req=%d ; %d Leave MPI_Irecv\n", 9*i, 9*i, req+1, 9*i)
			fmt.Fprintf(&b, " %d Enter MPI_Waitall ; %d MpiIsendComplete req=%d\n", 9*i, 9*i, req)
			fmt.Fprintf(&b, " %d MpiIrecv from=%d tag=3 bytes=64 req=%d ; %d Leave MPI_Waitall\n", 9*i, (r+ranks-1)%ranks, req+1, 9*i)
		}
	}
	return b.String()
}

// Ranks that do the same are one class, however many there are and however long they do it.
func TestRingIsOneClass(t *testing.T) {
	t.Parallel()
	_, symbolsOfFew, classesOfFew := rebuilt(t, tracetest.MustParse(t, ring(4, 5)))
	_, symbolsOfMany, classesOfMany := rebuilt(t, tracetest.MustParse(t, ring(32, 40)))
	if classesOfFew != 1 || classesOfMany != 1 || symbolsOfFew != symbolsOfMany {
		t.Errorf("%d classes and %d symbols of 4 ranks, %d and %d of 32", classesOfFew, symbolsOfFew, classesOfMany, symbolsOfMany)
	}
}

// Numbers that follow no rule do not make a symbol each.
func TestVarietyIsBounded(t *testing.T) {
	t.Parallel()
	const n = 1<<14 + 300 // more than there may be lists
	for name, add := range map[string]func(b *trace.Batch, i int64){
		"sizes": func(b *trace.Batch, i int64) {
			b.AddP2P(trace.P2PRow{Time: i, Kind: trace.KindMpiSend, Bytes: uint64(i)})
		},
		"roots": func(b *trace.Batch, i int64) {
			b.AddColl(trace.CollRow{Time: i, Kind: trace.KindCollectiveEnd, Root: uint32(i), Sent: 3, Received: uint64(i) * 5})
		},
		"arguments": func(b *trace.Batch, i int64) { b.AddOther(i, trace.KindThreadFork, uint64(i), 7) },
		"requests": func(b *trace.Batch, i int64) {
			b.AddP2P(trace.P2PRow{Time: i, Kind: trace.KindMpiIsendComplete, Request: uint64(i * i)})
		},
	} {
		src := tracetest.MustParse(t, "location 0 rank=0")
		b := &trace.Batch{}
		b.Reset(0, 0)
		for i := range int64(n) {
			add(b, i)
		}
		src.Batches = [][]*trace.Batch{{b}}
		if _, most, _ := rebuilt(t, src); most > 257 {
			t.Errorf("%s: %d symbols", name, most)
		}
	}
}

// A damaged dictionary is known to be so, or its classes still share out the locations: there is
// no panic, and no location in two of them.
func TestDamagedDictionary(t *testing.T) {
	t.Parallel()
	src := tracetest.MustParse(t, ring(6, 2))
	whole, _, _ := rebuilt(t, src)
	ranks, form, damaged := partners.RanksOf(src.Definitions), pack.Form{Tables: coder.NewTables()}, 0
	for at := range whole {
		for _, block := range [][]byte{whole[:at], flipped(whole, at, 0x01), flipped(whole, at, 0x80), flipped(whole, at, 0xff)} {
			c, d := pack.OpenColumns(form, block), symbols.NewDictionary()
			list := d.Code(c, nil, 6)
			if c.Damaged {
				damaged++
				continue
			}
			var members []trace.LocationID
			for i := range list {
				members = append(members, list[i].Members...)
				for position := range list[i].Members {
					d.Table(ranks, &list[i], position)
				}
			}
			if slices.Sort(members); !slices.Equal(members, []trace.LocationID{0, 1, 2, 3, 4, 5}) {
				t.Fatalf("byte %d: the members of classes are %v", at, members)
			}
		}
	}
	if damaged < len(whole) {
		t.Errorf("damage is noticed in %d of %d blocks", damaged, 4*len(whole))
	}
}

func flipped(block []byte, at int, bits byte) []byte {
	out := slices.Clone(block)
	out[at] ^= bits
	return out
}

// A symbol that names a request which is not open means nothing.
func TestUnknownRequest(t *testing.T) {
	t.Parallel()
	src := tracetest.MustParse(t, "location 0 rank=0\n 1 MpiIsend to=0 bytes=8 req=7 ; 2 MpiIsendComplete req=7")
	c := read(t, src, 0)
	b := &trace.Batch{}
	b.Reset(0, 0)
	rows := symbols.Rows{Table: c.table}
	if rows.Values = c.values[1]; rows.Write(b, c.ids[1], 2) || b.Len() > 0 {
		t.Error("a request that was not started is completed")
	}
	if rows.Values = c.values[0]; !rows.Write(b, c.ids[0], 1) || !rows.Write(b, c.ids[1], 2) || rows.Write(b, c.ids[1], 3) {
		t.Error("a request is not started and completed once")
	}
}
