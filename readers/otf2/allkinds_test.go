package otf2

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace"
)

// everyEvent returns a trace with one event of every kind that OTF2 has, at the times 1,
// 2, … The arguments of an event are distinct numbers from 100·kind on where the format
// has room for them.
func everyEvent() *trace.MemorySource {
	d := &trace.Defs{Clock: trace.ClockProperties{Resolution: 1, Realtime: undefined64}, Strings: []string{"s"},
		Locations:      []trace.Location{{Kind: trace.LocationCPUThread, Group: 0}},
		LocationGroups: []trace.LocationGroup{{Kind: 1, Node: 0, Creator: trace.None}},
		SystemTree:     []trace.SystemTreeNode{{Parent: trace.None}},
		Regions:        []trace.Region{{Role: 1, Paradigm: 1, File: trace.None}},
		Groups: []trace.Group{{Kind: trace.GroupCommLocations, Paradigm: 4, Members: []uint32{0}},
			{Ref: 1, Kind: trace.GroupComm, Paradigm: 4, Members: []uint32{0}}},
		Comms:           []trace.Comm{{Group: 1, Remote: trace.None, Parent: trace.None}},
		CallingContexts: []trace.CallingContext{{Site: trace.None, Parent: trace.None}},
		MetricMembers:   []trace.MetricMember{{Value: trace.TypeUint64}},
		Metrics:         []trace.Metric{{Members: []trace.MetricMemberID{0}, Class: trace.None, Recorder: trace.None}},
		Attributes:      []trace.Attribute{{Type: trace.TypeUint8}},
	}
	b := new(trace.Batch)
	time := int64(0)
	for id, layout := range eventRecords() {
		kind := trace.Kind(id)
		if layout.name == "" {
			continue
		}
		time++
		n := uint64(id) * 100
		switch kind.Table() {
		case trace.TableFlow:
			if kind == trace.KindEnter || kind == trace.KindLeave {
				b.AddFlow(time, kind, 0)
			} else {
				b.AddContext(time, kind, 0, 0, uint32(n)*uint32(len(layout.fields)-1))
			}
		case trace.TableP2P:
			if layout.noLength {
				b.AddRequest(time, kind, n)
				continue
			}
			row := trace.P2PRow{Time: time, Kind: kind, Peer: 0, Comm: 0, Tag: uint32(n) + 2, Bytes: n + 3}
			if len(layout.fields) == 5 {
				row.Request = n + 4
			}
			b.AddP2P(row)
		case trace.TableColl:
			b.AddColl(collRow(time, kind, n))
		case trace.TableMetric:
			b.AddMetric(time, 0, []trace.ValueType{trace.TypeUint64}, []uint64{n})
		default:
			b.AddOther(time, kind, otherArgs(&layout, n)...)
		}
	}
	return &trace.MemorySource{Definitions: d, Batches: [][]*trace.Batch{{b}}}
}

func collRow(time int64, kind trace.Kind, n uint64) trace.CollRow {
	row := trace.CollRow{Time: time, Kind: kind, Comm: trace.None, Root: trace.None}
	if kind == trace.KindCollectiveEnd || kind == trace.KindNonBlockingCollectiveComplete {
		row = trace.CollRow{Time: time, Kind: kind, Op: trace.CollBcast, Comm: 0, Root: 0, Sent: n + 3, Received: n + 4}
	}
	if kind == trace.KindNonBlockingCollectiveRequest || kind == trace.KindNonBlockingCollectiveComplete {
		row.Request = n + 5
	}
	return row
}

// otherArgs returns arguments for an event: references are 0, bytes 1, others distinct.
func otherArgs(layout *recordLayout, n uint64) (args []uint64) {
	for i, f := range layout.fields {
		switch {
		case f.enc == encGroup:
			args[i-1] = 2
			args = append(args, 0, 0)
		case f.space != noSpace:
			args = append(args, 0)
		case f.enc == encU8:
			args = append(args, 1)
		default:
			args = append(args, n+uint64(i))
		}
	}
	return args
}

// TestEveryKind writes and reads every kind of event: the tables are the same, and
// otf2-print shows each event with its time and all its numbers in their places.
func TestEveryKind(t *testing.T) {
	m := everyEvent()
	dir := filepath.Join(t.TempDir(), "all")
	copyArchive(t, m, dir, Options{}, false)
	s, err := Open(context.Background(), dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Definitions.Locations[0].Events = uint64(m.Batches[0][0].Len())
	if got, want := eventsOnly(tables(t, s)), eventsOnly(tables(t, m)); got != want {
		t.Errorf("read\n%s\nwritten\n%s", got, want)
	}
	if f := s.Findings(); len(f) > 0 {
		t.Errorf("findings %v", f)
	}
	var printed strings.Builder
	for _, line := range otf2Print(t, s.path) {
		printed.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	golden := filepath.Join("testdata", "every-kind.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(printed.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || printed.String() != string(want) {
		t.Errorf("otf2-print has\n%s\nwant\n%s%v", printed.String(), want, err)
	}
}
