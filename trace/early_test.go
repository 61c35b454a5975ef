package trace

import "testing"

// TestEndEarly: a rank whose records end long before those of others, in a region that it has not left, ends early; a process of which
// nothing says that it is a rank may end when it likes.
func TestEndEarly(t *testing.T) {
	for _, ranked := range []bool{true, false} {
		tr := &Trace{Defs: &Defs{}, World: []LocationID{0, 1}, Span: []Span{{Last: 10, Events: 3, Open: true}, {Last: 100, Events: 4}}}
		if ranked {
			tr.Defs.Groups = []Group{{Kind: GroupCommLocations, Paradigm: ParadigmMPI, Members: []uint32{0, 1}}}
		}
		if early := tr.EndEarly(); early[0] != ranked || early[1] {
			t.Errorf("ranks %v: %v end early", ranked, early)
		}
	}
}
