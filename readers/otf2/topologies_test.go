package otf2

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/trace"
)

// TestTopologies: definitions of Cartesian topologies come in any order; places that the grid
// or the communicator does not have are findings. They are written again as they were.
func TestTopologies(t *testing.T) {
	d := smallTrace(3)
	d.Strings = append(d.Strings, "torus")
	d.StringRefs = nil
	d.Groups = []trace.Group{
		{Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI, Members: []uint32{2, 1, 0}},
		{Ref: 1, Kind: trace.GroupComm, Paradigm: trace.ParadigmMPI, Members: []uint32{0, 1}},
	}
	d.Comms = []trace.Comm{{Group: 1, Remote: trace.None, Parent: trace.None}}
	for kind, payloads := range map[uint8][][]byte{
		defCartCoordinate: { // topology, rank, number of dimensions, coordinates
			{0, 0, 2, 0, 1, 2}, {0, 1, 1, 2, 1, 1, 0},
			{0, 1, 1, 2, 1, 2, 0}, {0, 1, 2, 2, 0, 0}, {0, 0, 1, 0}, {1, 5, 0, 2, 0, 0},
		},
		defCartTopology:  {{0, 1, 1, 0, 2, 0, 1, 1}},            // name 1, communicator 0, dimensions 0 and 1
		defCartDimension: {{0, 0, 1, 2, 0}, {1, 1, 0, 1, 3, 1}}, // sizes 2 and 3, the second one periodic
	} {
		for _, p := range payloads {
			d.Opaque = append(d.Opaque, trace.OpaqueDefinition{Format: Format, Kind: kind, Payload: p})
		}
	}
	for range 2 { // written, and written again
		dir := filepath.Join(t.TempDir(), "a")
		copyArchive(t, &trace.MemorySource{Definitions: d}, dir, Options{}, false)
		s, err := Open(t.Context(), dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := []trace.Topology{{Name: "torus", Sizes: []uint32{2, 3}, Torus: []bool{false, true}, Places: []trace.Coordinate{
			{Location: 2, At: []uint32{0, 2}}, {Location: 1, At: []uint32{1, 0}}}}}
		if diff := cmp.Diff(want, s.Defs().Topologies); diff != "" {
			t.Error(diff)
		}
		bad := uint64(0)
		for _, f := range s.Findings() {
			if f.Code == trace.CodeBadDefinition {
				bad += f.Count
			}
		}
		if bad != 4 {
			t.Errorf("%d places are bad, want 4: %v", bad, s.Findings())
		}
		d = s.Defs()
		s.Close()
	}
}
