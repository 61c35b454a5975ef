package otf2

import (
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/trace"
)

// TestDefinedTwice: what is defined again alike contradicts nothing; as something else it does.
func TestDefinedTwice(t *testing.T) {
	s, err := Open(t.Context(), writeArchive(t, t.TempDir(), []txtar.File{{Name: "def", Data: []byte(
		"chunk\n14( 0 undef 1 0 undef )\n10( 0 \"a\" )\n10( 0 \"a\" )\n10( 1 \"b\" )\n10( 1 \"c\" )\n10( 0 \"a\" )\nend")},
		{Name: "0.evt", Data: []byte("chunk end")}}, false, 4096), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts := make(map[trace.Code]uint64)
	for _, f := range s.Findings() {
		counts[f.Code] = f.Count
	}
	if counts[trace.CodeRedundantRecord] != 2 || counts[trace.CodeDuplicateDefinition] != 1 || s.Defs().String(1) != "b" {
		t.Errorf("%v, %q", counts, s.Defs().String(1))
	}
}
