package trace

import (
	"slices"
	"testing"
)

func TestCallTree(t *testing.T) {
	tree := NewCallTree()
	main := tree.Add(PathNode{Parent: None, Region: 0, Site: None})
	send := tree.Add(PathNode{Parent: main, Region: 1, Site: None})
	atLine := tree.Add(PathNode{Parent: main, Region: 1, Site: 4})
	if send == atLine {
		t.Error("two call sites have one node")
	}
	if again := tree.Add(PathNode{Parent: main, Region: 1, Site: None}); again != send {
		t.Errorf("the same step is node %d and %d", send, again)
	}
	if got := tree.Find(PathNode{Parent: send, Region: 1, Site: None}); got != None {
		t.Errorf("found %d", got)
	}
	if got := tree.Regions(atLine); !slices.Equal(got, []RegionID{0, 1}) {
		t.Errorf("Regions = %v", got)
	}
}

func TestCallTreeMerge(t *testing.T) {
	a, b := NewCallTree(), NewCallTree()
	a.Add(PathNode{Parent: None, Region: 5, Site: None})
	root := b.Add(PathNode{Parent: None, Region: 7, Site: None})
	b.Add(PathNode{Parent: root, Region: 5, Site: None})
	b.Add(PathNode{Parent: None, Region: 5, Site: None})
	ids := a.Merge(b)
	if !slices.Equal(ids, []PathID{1, 2, 0}) {
		t.Errorf("ids = %v", ids)
	}
	for i, id := range ids {
		if !slices.Equal(a.Regions(id), b.Regions(PathID(i))) {
			t.Errorf("path %d becomes %v, was %v", i, a.Regions(id), b.Regions(PathID(i)))
		}
	}
}

func TestSourceLine(t *testing.T) {
	m := mustParse(t, `
region main file=main.c line=3
region MPI_Send
region nofile
site file=call.c line=12
location 0
`)
	d := m.Definitions
	tree := NewCallTree()
	main := tree.Add(PathNode{Parent: None, Region: 0, Site: None})
	inner := tree.Add(PathNode{Parent: main, Region: 2, Site: None})
	for _, c := range []struct {
		name string
		node PathNode
		want SourceLine
		file string
	}{
		{"by region", PathNode{main, 1, None}, SourceLine{Region: 0, Line: 3}, "main.c"},
		{"by call site", PathNode{main, 1, 0}, SourceLine{Region: 0, Line: 12}, "call.c"},
		{"alone", PathNode{None, 1, None}, SourceLine{Region: None}, ""},
		{"region without file", PathNode{inner, 1, None}, SourceLine{Region: 2}, ""},
		{"user's region", PathNode{None, 0, None}, SourceLine{Region: 0, Line: 3}, "main.c"},
	} {
		got := tree.SourceLine(d, tree.Add(c.node))
		if got.Region != c.want.Region || got.Line != c.want.Line || d.String(got.File) != c.file {
			t.Errorf("%s: %+v in %q", c.name, got, d.String(got.File))
		}
	}
}

func TestMPIFunctionOf(t *testing.T) {
	for name, want := range map[string]MPIFunction{
		"MPI_Send":        {Class: ClassSend},
		"mpi_send_":       {Class: ClassSend},
		"MPI_SEND":        {Class: ClassSend},
		"PMPI_Waitall":    {Class: ClassWait},
		"mpi_waitsome__":  {Class: ClassWait},
		"MPI_Ibarrier":    {Class: ClassIcoll, Op: CollBarrier},
		"MPI_Iallreduce":  {Class: ClassIcoll, Op: CollAllreduce},
		"MPI_Exscan":      {Class: ClassColl, Op: CollExscan},
		"MPI_Init_thread": {Class: ClassInit},
		"MPI_Isendrecv":   {Class: ClassIsend},
		"MPI_Iprobe":      {Class: ClassTest},
		"MPI_Comm_rank":   {Class: ClassOther},
		"MPI_Send_init":   {Class: ClassOther},
		"main":            {},
		"mpi":             {},
		"pmpi_":           {Class: ClassOther},
		"":                {},
	} {
		if got := MPIFunctionOf(name); got != want {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestKindNames(t *testing.T) {
	for i := range 256 {
		k := Kind(i)
		if got, ok := KindByName(kindNames[k]); kindNames[k] != "" && (!ok || got != k) {
			t.Errorf("%s is %v, %v", k, got, ok)
		}
	}
	if got := Kind(250).String(); got != "Kind(250)" {
		t.Error(got)
	}
}

func TestWorldWithoutGroups(t *testing.T) {
	d := mustParse(t, `
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
	if got := d.World(); !slices.Equal(got, []LocationID{2, 3}) {
		t.Errorf("World = %v", got)
	}
	if got := d.Ranks(); !slices.Equal(got, []uint32{0, None, 0, 1, 0}) {
		t.Errorf("Ranks = %v", got)
	}
}
