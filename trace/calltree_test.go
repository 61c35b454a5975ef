package trace_test

import (
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func TestCallTree(t *testing.T) {
	tree := trace.NewCallTree()
	main := tree.Add(trace.PathNode{Parent: trace.None, Region: 0, Site: trace.None})
	send := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: trace.None})
	atLine := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: 4})
	if send == atLine {
		t.Error("two call sites have one node")
	}
	if again := tree.Add(trace.PathNode{Parent: main, Region: 1, Site: trace.None}); again != send {
		t.Errorf("the same step is node %d and %d", send, again)
	}
	if got := tree.Find(trace.PathNode{Parent: send, Region: 1, Site: trace.None}); got != trace.None {
		t.Errorf("found %d", got)
	}
	if got := tree.Regions(atLine); !slices.Equal(got, []trace.RegionID{0, 1}) {
		t.Errorf("Regions = %v", got)
	}
}

func TestCallTreeMerge(t *testing.T) {
	a, b := trace.NewCallTree(), trace.NewCallTree()
	a.Add(trace.PathNode{Parent: trace.None, Region: 5, Site: trace.None})
	root := b.Add(trace.PathNode{Parent: trace.None, Region: 7, Site: trace.None})
	b.Add(trace.PathNode{Parent: root, Region: 5, Site: trace.None})
	b.Add(trace.PathNode{Parent: trace.None, Region: 5, Site: trace.None})
	ids := a.Merge(b)
	if !slices.Equal(ids, []trace.PathID{1, 2, 0}) {
		t.Errorf("ids = %v", ids)
	}
	for i, id := range ids {
		if !slices.Equal(a.Regions(id), b.Regions(trace.PathID(i))) {
			t.Errorf("path %d becomes %v, was %v", i, a.Regions(id), b.Regions(trace.PathID(i)))
		}
	}
}

func TestSourceLine(t *testing.T) {
	m := tracetest.MustParse(t, `
region main file=main.c line=3
region MPI_Send
region nofile
site file=call.c line=12
location 0
`)
	d := m.Definitions
	tree := trace.NewCallTree()
	main := tree.Add(trace.PathNode{Parent: trace.None, Region: 0, Site: trace.None})
	inner := tree.Add(trace.PathNode{Parent: main, Region: 2, Site: trace.None})
	for _, c := range []struct {
		name string
		node trace.PathNode
		want trace.SourceLine
		file string
	}{
		{"by region", trace.PathNode{main, 1, trace.None}, trace.SourceLine{Region: 0, Line: 3}, "main.c"},
		{"by call site", trace.PathNode{main, 1, 0}, trace.SourceLine{Region: 0, Line: 12}, "call.c"},
		{"alone", trace.PathNode{trace.None, 1, trace.None}, trace.SourceLine{Region: trace.None}, ""},
		{"region without file", trace.PathNode{inner, 1, trace.None}, trace.SourceLine{Region: 2}, ""},
		{"user's region", trace.PathNode{trace.None, 0, trace.None}, trace.SourceLine{Region: 0, Line: 3}, "main.c"},
	} {
		got := tree.SourceLine(d, tree.Add(c.node))
		if got.Region != c.want.Region || got.Line != c.want.Line || d.String(got.File) != c.file {
			t.Errorf("%s: %+v in %q", c.name, got, d.String(got.File))
		}
	}
}

func TestMPIFunctionOf(t *testing.T) {
	for name, want := range map[string]trace.MPIFunction{
		"MPI_Send":        {Class: trace.ClassSend},
		"mpi_send_":       {Class: trace.ClassSend},
		"MPI_SEND":        {Class: trace.ClassSend},
		"PMPI_Waitall":    {Class: trace.ClassWait},
		"mpi_waitsome__":  {Class: trace.ClassWait},
		"MPI_Ibarrier":    {Class: trace.ClassIcoll, Op: trace.CollBarrier},
		"MPI_Iallreduce":  {Class: trace.ClassIcoll, Op: trace.CollAllreduce},
		"MPI_Exscan":      {Class: trace.ClassColl, Op: trace.CollExscan},
		"MPI_Init_thread": {Class: trace.ClassInit},
		"MPI_Isendrecv":   {Class: trace.ClassIsend},
		"MPI_Iprobe":      {Class: trace.ClassTest},
		"MPI_Comm_rank":   {Class: trace.ClassOther},
		"MPI_Send_init":   {Class: trace.ClassOther},
		"main":            {},
		"mpi":             {},
		"pmpi_":           {Class: trace.ClassOther},
		"":                {},
	} {
		if got := trace.MPIFunctionOf(name); got != want {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestKindNames(t *testing.T) {
	for i := range 256 {
		k := trace.Kind(i)
		named := !strings.HasPrefix(k.String(), "Kind(")
		if got, ok := trace.KindByName(k.String()); ok != named || ok && got != k {
			t.Errorf("%s is %v, %v", k, got, ok)
		}
	}
	if got := trace.Kind(250).String(); got != "Kind(250)" {
		t.Error(got)
	}
}

func TestWorldWithoutGroups(t *testing.T) {
	d := tracetest.MustParse(t, `
process 0 p
process 1 gpu kind=2
process 2 q
group 0 kind=0
location 0 metric kind=3 process=0
location 1 stream kind=2 process=1
location 2 a process=0
location 3 b process=2
location 4 c process=0
`).Definitions
	if got := d.World(); !slices.Equal(got, []trace.LocationID{2, 3}) {
		t.Errorf("World = %v", got)
	}
	if got := d.Ranks(); !slices.Equal(got, []uint32{0, trace.None, 0, 1, 0}) {
		t.Errorf("Ranks = %v", got)
	}
}
