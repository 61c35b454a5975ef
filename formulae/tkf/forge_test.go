package tkf

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/reconstruct"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A forgery is the content of a file in stat mode, to be altered.
type forgery struct {
	about
	head
	locations []formulae.Location
}

// forge writes a file in stat mode as our writer does, with right checksums, but of what a
// forger makes of its content.
func forge(t testing.TB, alter func(*forgery)) []byte {
	t.Helper()
	ctx, src := context.Background(), tracetest.MustParse(t, small)
	p, err := formulae.Learn(ctx, src, formulae.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := &forgery{about: *aboutOf(src, src.Findings()), head: head{Mode: uint64(Statistics), Unit: 1, Leader: trace.None, Terms: 18},
		locations: p.Locations}
	alter(x)
	var out bytes.Buffer
	c := &compressor{src: src, tables: coder.NewTables()}
	s, err := c.begin(&out, &x.head, &x.about)
	if err == nil {
		_, err = c.writeTrees(ctx, s, x.locations)
	}
	if err == nil {
		err = s.write(sectionEnd, 0, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// announce makes the file announce what its formulae stand for.
func (x *forgery) announce() {
	for l := range x.locations {
		x.about.Defs.Locations[l].Events = x.locations[l].Tree.Events()
	}
}

// numbers returns all numbers of the trees, and those that are announced.
func (x *forgery) numbers() (out []*uint64) {
	var of func(f *sequence.Formula)
	terms := func(list []sequence.Term) {
		for i := range list {
			out = append(out, &list[i].Value, &list[i].Count)
		}
	}
	of = func(f *sequence.Formula) {
		out = append(out, &f.Seen, &f.Count, &f.Sum, &f.Start, &f.Step, &f.Length)
		terms(f.Prologue)
		terms(f.Body)
		if f.Nested != nil {
			terms(f.Nested.Values)
			of(&f.Nested.Top)
			for i := range f.Nested.Counts {
				of(&f.Nested.Counts[i])
			}
		}
	}
	for l := range x.locations {
		out = append(out, &x.about.Defs.Locations[l].Events)
		for n := range x.locations[l].Tree.Nodes {
			node := &x.locations[l].Tree.Nodes[n]
			out = append(out, &node.Visits)
			of(&node.Branch)
			for k := range node.Items {
				i := &node.Items[k]
				out = append(out, &i.Count)
				for _, f := range []*sequence.Formula{&i.Peer, &i.Tag, &i.Size, &i.Got, &i.Times} {
					of(f)
				}
				for v := range i.Values {
					of(&i.Values[v])
				}
			}
		}
	}
	return out
}

// endless makes formulae that go on for ever without an event: in the first call path that
// has an item beside its return, a loop of loops around an item that has taken place.
func (x *forgery) endless() {
	for n := range x.locations[0].Tree.Nodes {
		node := &x.locations[0].Tree.Nodes[n]
		if n == 0 || len(node.Items) < 2 {
			continue
		}
		long := sequence.Formula{Kind: sequence.Identity, Seen: 1 << 60, Count: 1 << 60,
			Prologue: []sequence.Term{{Value: 1 << 60, Count: 1 << 60}}}
		first := uint32(len(node.Items))
		body := []uint32{1}
		for k := range uint32(5) {
			node.Items = append(node.Items, formulae.Item{Body: body, Times: long})
			body = []uint32{first + k}
		}
		last := uint64(len(node.Items) - 1)
		node.Branch = sequence.Formula{Kind: sequence.Identity, Seen: 1 << 60, Count: 1 << 60,
			Prologue: []sequence.Term{{Value: last, Count: 1 << 60}}}
		times := &x.locations[0].Times
		times.Means = append(times.Means, make([]uint64, 5*partners.Regimes(0))...)
		return
	}
}

// TestForgedCounts: a few bytes may stand for any number of events; what is announced binds,
// and nobody has recorded without end.
func TestForgedCounts(t *testing.T) {
	item := func(x *forgery) *formulae.Item { return &x.locations[0].Tree.Nodes[1].Items[1] }
	for _, c := range []struct {
		name    string
		alter   func(*forgery)
		refused bool
		changed bool // in what is announced
	}{
		{"sound", (*forgery).announce, false, false},
		{"one more than announced", func(x *forgery) { x.announce(); item(x).Count++ }, false, true},
		{"one less than announced", func(x *forgery) { x.announce(); item(x).Count-- }, false, true},
		{"many more than announced", func(x *forgery) { x.announce(); item(x).Count += 2 * unannounced }, true, false},
		{"without end", func(x *forgery) { item(x).Count = math.MaxUint64; x.announce() }, true, false},
		{"without end together", func(x *forgery) {
			for l := range x.locations {
				x.locations[l].Tree.Nodes[1].Items[1].Count = formulae.MostEvents / 2
			}
			x.announce()
		}, true, false},
		{"without an event", func(x *forgery) { x.announce(); x.endless() }, false, false},
	} {
		file := forge(t, c.alter)
		src, err := open(bytes.NewReader(file), int64(len(file)), "file", 1, nil, func() error { return nil })
		if c.refused {
			if !isSyntaxError(err) {
				t.Errorf("%s: %v, want a syntax error", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		short := c.changed
		for l := range src.Defs().Locations {
			n := uint64(0)
			for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
				if err != nil {
					t.Fatal(c.name, err)
				}
				n += uint64(b.Len())
			}
			announced := src.(*reconstruct.Source).Model().Locations[l].Tree.Events()
			if n > announced {
				t.Errorf("%s: %d events of %d at location %d", c.name, n, announced, l)
			}
			short = short || n < announced
		}
		said := false
		for _, f := range src.Findings() {
			said = said || f.Code == trace.CodeCountMismatch
		}
		if said != short {
			t.Errorf("%s: events are missing: %t, findings %v", c.name, short, src.Findings())
		}
	}
}

// FuzzForge: whatever the numbers of a file are, reading it ends without panic, and gives no
// more events than are announced.
func FuzzForge(f *testing.F) {
	f.Add(uint16(0), uint64(math.MaxUint64), uint16(1), uint64(1)<<40, true)
	f.Add(uint16(20), uint64(1)<<60, uint16(30), uint64(0), false)
	f.Fuzz(func(t *testing.T, i uint16, a uint64, k uint16, b uint64, announced bool) {
		file := forge(t, func(x *forgery) {
			all := x.numbers()
			*all[int(i)%len(all)], *all[int(k)%len(all)] = a, b
			if announced {
				x.announce()
			}
		})
		if _, err := readAll(t, file, 10_000); err != nil && !isSyntaxError(err) && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v is not a syntax error", err)
		}
	})
}
