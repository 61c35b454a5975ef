package otf2

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestAnyReferences holds the promise of trace.Defs.Check on definitions of all kinds that
// the model has, in any order, that refer to anything: to what is not defined, to
// themselves, round in circles, to what is of another kind.
func TestAnyReferences(t *testing.T) {
	archives := 2000
	if testing.Short() {
		archives = 300
	}
	dir := t.TempDir()
	for seed := range archives {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		files := []txtar.File{{Name: "def", Data: []byte(randomDefinitions(r))}, {Name: "0.evt", Data: []byte("chunk end")},
			{Name: "0.def", Data: []byte(randomOffsets(r))}}
		s, err := Open(t.Context(), writeArchive(t, filepath.Join(dir, fmt.Sprint(seed%8)), files, seed%2 == 0, 4096), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Defs().Check(); err != nil {
			t.Errorf("archive %d: %v\n%s", seed, err, files[0].Data)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// randomDefinitions returns definitions in the language of the assembler.
func randomDefinitions(r *rand.Rand) string {
	kinds := []int{defClockProperties, defString, defAttribute, defSystemTreeNode, defLocationGroup, defLocation, defRegion,
		defGroup, defGroup, defMetricMember, defMetricClass, defMetricInstance, defMetricInstance, defComm, defSourceCodeLocation,
		defCallingContext, defInterComm}
	var b strings.Builder
	b.WriteString("chunk\n14( 0 undef 1 0 undef )\n") // so that something is defined
	for range 5 + r.IntN(40) {
		kind := kinds[r.IntN(len(kinds))]
		fmt.Fprintf(&b, "%d( %s)\n", kind, randomFields(r, definitionRecords()[kind].fields))
	}
	return b.String() + "end"
}

// randomFields returns fields of a record, at times without those that older versions lack.
func randomFields(r *rand.Rand, fields []field) string {
	var b strings.Builder
	count, older := 0, r.IntN(4) == 0
	for i, f := range fields {
		switch {
		case f.optional && older:
			return b.String()
		case f.enc == encGroup:
			for range count {
				b.WriteString(randomFields(r, f.group))
			}
		case f.enc == encCString:
			b.WriteString(`"text" `)
		case i+1 < len(fields) && fields[i+1].enc == encGroup: // how often the group is repeated
			count = r.IntN(5)
			if f.enc == encU8 {
				fmt.Fprintf(&b, "b:%d ", count)
			} else {
				fmt.Fprintf(&b, "%d ", count)
			}
		case f.enc == encU8:
			fmt.Fprintf(&b, "b:%d ", r.IntN(9))
		case r.IntN(6) == 0 && !f.self:
			b.WriteString("undef ")
		case r.IntN(20) == 0 && f.enc == encC64:
			fmt.Fprintf(&b, "%d ", r.Uint64())
		default:
			fmt.Fprintf(&b, "%d ", r.IntN(7))
		}
	}
	return b.String()
}

// randomOffsets returns a location's definitions with clock offsets in any order.
func randomOffsets(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("chunk\n")
	for range r.IntN(4) {
		fmt.Fprintf(&b, "6( q:%d %d d:0 )\n", r.IntN(5), r.IntN(5))
	}
	return b.String() + "end"
}
