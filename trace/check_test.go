package trace_test

import (
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A mutation breaks one promise; the error must say which.
type mutation[T any] struct {
	name   string
	breach func(T)
	want   string
}

func expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want an error with %q", name, err, want)
	}
}

const soundDefs = `
node 0 root
process 0 p node=0
process 1 q node=0 creator=0
region 0 MPI_Send
region 1 main
group 0 kind=4 members=0,1
group 1 kind=5 members=0,1
group 2 kind=1 members=0
group 3 kind=2 members=0
group 4 kind=3 members=0
comm 0 WORLD group=1
comm 1 INTER group=1 remote=1 inter=1 parent=0
site 0 file=a.c line=1
context 0 region=0 site=0
context 1 region=1 parent=0
member 0 cycles
metric 0 members=0
metric 1 class=0 recorder=0
attribute 0 color
location 0 a process=0 offsets=0:0,10:0
location 1 b process=1
`

func TestDefsCheck(t *testing.T) {
	if err := tracetest.MustParse(t, soundDefs).Definitions.Check(); err != nil {
		t.Fatal(err)
	}
	for _, m := range []mutation[*trace.Defs]{
		{"resolution", func(d *trace.Defs) { d.Clock.Resolution = 0 }, "resolution is 0"},
		{"refs", func(d *trace.Defs) { d.StringRefs = []uint32{1} }, "1 identifiers of"},
		{"name", func(d *trace.Defs) { d.Regions[1].Name = 99 }, "region 1: name 99 of"},
		{"canonical", func(d *trace.Defs) { d.Regions[1].Canonical = 99 }, "canonical name"},
		{"file", func(d *trace.Defs) { d.Regions[0].File = 99 }, "region 0: file"},
		{"node name", func(d *trace.Defs) { d.SystemTree[0].Name = 99 }, "system tree node 0: name"},
		{"node parent", func(d *trace.Defs) { d.SystemTree[0].Parent = 1 }, "parent 1 of 1"},
		{"node loop", func(d *trace.Defs) { d.SystemTree[0].Parent = 0 }, "system tree node 0 is its own ancestor"},
		{"creator", func(d *trace.Defs) { d.LocationGroups[1].Creator = 2 }, "creator 2 of 2"},
		{"creator loop", func(d *trace.Defs) { d.LocationGroups[0].Creator = 1 }, "location group 0 is its own ancestor"},
		{"group node", func(d *trace.Defs) { d.LocationGroups[1].Node = 2 }, "node 2 of 1"},
		{"location group", func(d *trace.Defs) { d.Locations[1].Group = 2 }, "location 1: group 2 of 2"},
		{"offsets", func(d *trace.Defs) { d.Locations[0].ClockOffsets[1].Time = 0 }, "clock offset 1 is not later"},
		{"world member", func(d *trace.Defs) { d.Groups[0].Members[1] = 2 }, "group 0: member 2 of 2"},
		{"comm member", func(d *trace.Defs) { d.Groups[1].Members[1] = 2 }, "group 1: member 2 of 2"},
		{"location member", func(d *trace.Defs) { d.Groups[2].Members[0] = 2 }, "group 2: member 2"},
		{"region member", func(d *trace.Defs) { d.Groups[3].Members[0] = 2 }, "group 3: member 2"},
		{"metric group member", func(d *trace.Defs) { d.Groups[4].Members[0] = 2 }, "group 4: member 2"},
		{"comm group", func(d *trace.Defs) { d.Comms[0].Group = 5 }, "communicator 0: group 5"},
		{"remote", func(d *trace.Defs) { d.Comms[1].Remote = 5 }, "communicator 1: remote group 5"},
		{"not inter", func(d *trace.Defs) { d.Comms[1].Inter = false }, "is not an intercommunicator"},
		{"comm parent", func(d *trace.Defs) { d.Comms[1].Parent = 2 }, "parent 2 of 2"},
		{"comm loop", func(d *trace.Defs) { d.Comms[0].Parent = 1 }, "communicator 0 is its own ancestor"},
		{"site", func(d *trace.Defs) { d.SourceLocations[0].File = 99 }, "source location 0: file"},
		{"context region", func(d *trace.Defs) { d.CallingContexts[0].Region = 2 }, "calling context 0: region"},
		{"context site", func(d *trace.Defs) { d.CallingContexts[0].Site = 2 }, "source location 2 of 1"},
		{"context loop", func(d *trace.Defs) { d.CallingContexts[0].Parent = 1 }, "calling context 0 is its own ancestor"},
		{"member", func(d *trace.Defs) { d.Metrics[0].Members[0] = 1 }, "metric 0: member 1"},
		{"member unit", func(d *trace.Defs) { d.MetricMembers[0].Unit = 99 }, "unit 99"},
		{"instance of instance", func(d *trace.Defs) { d.Metrics[0].Class = 1 }, "metric 0 is an instance of metric 1"},
		{"recorder", func(d *trace.Defs) { d.Metrics[1].Recorder = 2 }, "recorder 2 of 2"},
		{"attribute", func(d *trace.Defs) { d.Attributes[0].Name = 99 }, "attribute 0: name"},
	} {
		d := tracetest.MustParse(t, soundDefs).Definitions
		m.breach(d)
		expect(t, m.name, d.Check(), m.want)
	}
}

const soundEvents = `
location 0 rank=0
  1 Enter main ; 2 MpiSend to=0 attr=0:uint8:1 ; 3 MpiCollectiveBegin ; 4 Metric 0 uint64:1 uint64:2
  5 ThreadFork 3 2 ; 6 Metric 0 uint64:1 ; 7 ThreadJoin 3 ; 8 CallingContextEnter main context=0 ; 9 Leave main attr=0:uint8:2
`

func TestBatchCheck(t *testing.T) {
	if err := tracetest.MustParse(t, soundEvents).Batches[0][0].Check(); err != nil {
		t.Fatal(err)
	}
	for _, m := range []mutation[*trace.Batch]{
		{"short column", func(b *trace.Batch) { b.Flow.Time = b.Flow.Time[1:] }, "table flow: column 1 has 2 rows"},
		{"short p2p", func(b *trace.Batch) { b.P2P.Request = nil }, "table p2p: column 7"},
		{"short coll", func(b *trace.Batch) { b.Coll.Sent = nil }, "table coll: column 6"},
		{"short metric", func(b *trace.Batch) { b.Metric.Value = nil }, "table metric: column 5"},
		{"short attrs", func(b *trace.Batch) { b.Attrs.Value = nil }, "table attrs: column 3"},
		{"contexts", func(b *trace.Batch) { b.Flow.Context = b.Flow.Context[1:] }, "2 contexts, 3 unwind distances"},
		{"contexts and unwind", func(b *trace.Batch) { b.Flow.Context, b.Flow.Unwind = b.Flow.Context[1:], b.Flow.Unwind[1:] }, "2 contexts"},
		{"no table", func(b *trace.Batch) { b.Order[0] = 5 }, "table 5, which does not exist"},
		{"wrong table", func(b *trace.Batch) { b.Order[0] = trace.TableP2P }, "event 0 is not in table 1"},
		{"seq", func(b *trace.Batch) { b.P2P.Seq[0] = 2 }, "event 1 is not in table 1"},
		{"first", func(b *trace.Batch) { b.First = 7 }, "event 7 is not in table 0"},
		{"dropped", func(b *trace.Batch) { b.Order = b.Order[:8] }, "rows that are not in the order"},
		{"kind", func(b *trace.Batch) { b.Flow.Kind[0] = trace.KindMpiSend }, "row 0 of table 0 is a MpiSend"},
		{"other kind", func(b *trace.Batch) { b.Other.Kind[0] = trace.KindEnter }, "row 0 of table 4 is a Enter"},
		{"metric member", func(b *trace.Batch) { b.Metric.Member[0] = 1 }, "begins with member 1"},
		{"metric time", func(b *trace.Batch) { b.Metric.Time[1]++ }, "do not fit together"},
		{"metric event without values", func(b *trace.Batch) {
			m := &b.Metric
			m.Seq, m.Time, m.Metric = m.Seq[:2], m.Time[:2], m.Metric[:2]
			m.Member, m.Type, m.Value = m.Member[:2], m.Type[:2], m.Value[:2]
		}, "event 5 is not in table 3"},
		{"offsets", func(b *trace.Batch) { b.Other.Offset = b.Other.Offset[:2] }, "do not span"},
		{"offset order", func(b *trace.Batch) { b.Other.Offset[1] = 9 }, "offsets decrease"},
		{"no events", func(b *trace.Batch) { b.Reset(0, 0); b.Other.Args = append(b.Other.Args, 1) }, "arguments without events"},
		{"attribute", func(b *trace.Batch) { b.Attrs.Seq[1] = 99 }, "attribute 1 belongs to event 99"},
		{"attribute order", func(b *trace.Batch) { b.Attrs.Seq[1] = 0 }, "attribute 1 belongs to event 0"},
	} {
		b := tracetest.MustParse(t, soundEvents).Batches[0][0]
		m.breach(b)
		expect(t, m.name, b.Check(), m.want)
	}
}

// TestCheckManyGroups: as many groups as communicators are usual; looking for the world of
// each once took a minute.
func TestCheckManyGroups(t *testing.T) {
	d := &trace.Defs{Clock: trace.ClockProperties{Resolution: 1}}
	for range 100_000 {
		d.Groups = append(d.Groups, trace.Group{Name: trace.None, Kind: trace.GroupComm, Paradigm: trace.ParadigmMPI})
	}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
}
