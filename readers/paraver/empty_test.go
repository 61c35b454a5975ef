package paraver

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"tracekit/trace"
)

// TestNoLocations: what is written of a trace without locations can be read.
func TestNoLocations(t *testing.T) {
	for name, change := range map[string]func(*trace.Defs){
		"nothing":     func(*trace.Defs) {},
		"late clock":  func(d *trace.Defs) { d.Clock.GlobalOffset = 1 << 60 },
		"early clock": func(d *trace.Defs) { d.Clock.GlobalOffset = -1 << 60 },
		"first tick":  func(d *trace.Defs) { d.Clock.GlobalOffset = math.MinInt64 },
		"coarse":      func(d *trace.Defs) { d.Clock.Resolution, d.Clock.GlobalOffset = 1, -1<<60 },
		"unmeasured":  func(d *trace.Defs) { d.Clock.Resolution = 0 },
		"ranks": func(d *trace.Defs) {
			d.Strings = []string{""}
			d.Groups = []trace.Group{{Kind: trace.GroupCommLocations, Members: []uint32{trace.None, trace.None}},
				{Ref: 1, Kind: trace.GroupComm, Members: []uint32{0, 1, 7}}}
			d.Comms = []trace.Comm{{Group: 1, Parent: trace.None, Remote: trace.None}}
		},
		"processes": func(d *trace.Defs) {
			d.Strings = []string{""}
			d.SystemTree = []trace.SystemTreeNode{{Parent: trace.None}}
			d.LocationGroups = []trace.LocationGroup{{Kind: 1, Creator: trace.None}}
		},
	} {
		for _, plain := range []bool{false, true} {
			src := &trace.MemorySource{Definitions: &trace.Defs{Clock: trace.ClockProperties{Resolution: 1e9}}}
			change(src.Definitions)
			path := filepath.Join(t.TempDir(), "empty.prv")
			write(t, src, path, CreateOptions{Plain: plain})
			back, err := Open(context.Background(), path, Options{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if len(back.Defs().Locations) != 0 || len(back.Findings()) > 0 {
				t.Errorf("%s: %d locations, findings %v", name, len(back.Defs().Locations), back.Findings())
			}
			back.Close()
		}
	}
}
