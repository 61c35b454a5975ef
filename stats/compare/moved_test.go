package compare

import (
	"testing"

	"tracekit/document/field"
)

// TestMovedLines states which places are one though their lines differ: as many in A alone as in B
// alone, of one region, operation and file, in order of lines.
func TestMovedLines(t *testing.T) {
	at := func(file string, line, a, b int) *place {
		p := &place{site: field.Site{SourceLine: field.SourceLine{Region: "solve", File: field.Name(file), Line: field.Line(line),
			LineOf: field.LineOfCall}, Operation: "MPI_Send"},
			sides: [2][]*series{make([]*series, 1), make([]*series, 1)}}
		for side, own := range []int{a, b} {
			if own > 0 {
				p.sides[side][0] = &series{own: [blocks]int64{int64(own)}}
			}
		}
		return p
	}
	got := joinMoved([]*place{
		at("a.c", 10, 1, 0), at("a.c", 12, 0, 2), at("a.c", 20, 3, 0), at("a.c", 25, 0, 4), at("a.c", 30, 5, 6), // two have moved, one has not
		at("b.c", 10, 7, 0), at("b.c", 11, 8, 0), at("b.c", 12, 0, 9), // two against one: nobody knows
	})
	want := []struct{ line, lineA, a, b int64 }{{12, 10, 1, 2}, {25, 20, 3, 4}, {30, 0, 5, 6}, {10, 0, 7, 0}, {11, 0, 8, 0}, {12, 0, 0, 9}}
	if len(got) != len(want) {
		t.Fatalf("%d places, want %d", len(got), len(want))
	}
	own := func(p *place, side int) int64 {
		if s := p.sides[side][0]; s != nil {
			return s.own[0]
		}
		return 0
	}
	for i, p := range got {
		if w := want[i]; int64(p.site.Line) != w.line || int64(p.lineA) != w.lineA || own(p, 0) != w.a || own(p, 1) != w.b {
			t.Errorf("place %d: line %d, %d in A, takes %d and %d; want %+v", i, p.site.Line, p.lineA, own(p, 0), own(p, 1), w)
		}
	}
}
