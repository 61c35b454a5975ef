package trace_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestRegionLabel states which names people see.
func TestRegionLabel(t *testing.T) {
	names := []string{"main", "_ZN6Domain16AllocateNodePersEi", "_Zbroken", "std::sort<int*>"}
	want := []string{"main", "Domain::AllocateNodePers(int)", "_Zbroken", "std::sort<int*>"}
	d := &trace.Defs{Strings: names}
	for i := range names {
		d.Regions = append(d.Regions, trace.Region{Name: trace.StringID(i)})
	}
	for i, w := range want {
		if got := d.RegionLabel(trace.RegionID(i)); got != w {
			t.Errorf("%s: got %q, want %q", names[i], got, w)
		}
	}
	if got := d.RegionLabel(trace.None); got != "" {
		t.Errorf("no region: got %q", got)
	}
}

// TestFieldsAreComplete: the lists of fields leave no member of a definition out.
func TestFieldsAreComplete(t *testing.T) {
	complete := func(name string, of reflect.Value, fields []trace.Field, but ...string) {
		listed := make(map[uintptr]bool)
		for _, f := range fields {
			listed[reflect.ValueOf(f.Value).Pointer()] = true
		}
		for i := range of.NumField() {
			if member := of.Type().Field(i).Name; !listed[of.Field(i).Addr().Pointer()] && !slices.Contains(but, member) {
				t.Errorf("%s: the fields have no %s", name, member)
			}
		}
	}
	kinds := 0
	for _, k := range trace.DefKinds() {
		d := &trace.Defs{}
		k.Grow(d)
		for _, list := range reflect.ValueOf(d).Elem().Fields() {
			if list.Kind() == reflect.Slice && list.Len() == 1 {
				complete(k.Name, list.Index(0), k.Fields(d, 0))
				kinds++
			}
		}
	}
	// clock, strings, their identifiers, topologies (made of opaque definitions)
	if members := reflect.TypeFor[trace.Defs]().NumField(); kinds != members-4 {
		t.Errorf("%d kinds of %d members of Defs", kinds, members)
	}
	d := &trace.Defs{}
	complete("clock", reflect.ValueOf(&d.Clock).Elem(), d.Clock.Fields())
	i := &trace.Info{}
	complete("info", reflect.ValueOf(i).Elem(), i.Fields(), "Properties")
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

// TestRoles: the roles that Score-P gives MPI functions.
func TestRoles(t *testing.T) {
	for name, want := range map[string]trace.RegionRole{
		"MPI_Isend":     trace.RolePoint2Point,
		"MPI_Waitall":   trace.RolePoint2Point,
		"MPI_Ibarrier":  trace.RoleBarrier,
		"MPI_Bcast":     trace.RoleCollOne2All,
		"MPI_Gatherv":   trace.RoleCollAll2One,
		"MPI_Alltoallw": trace.RoleCollAll2All,
		"MPI_Exscan":    trace.RoleCollOther,
		"MPI_Init":      trace.RoleFunction,
		"main":          trace.RoleFunction,
	} {
		if got := trace.MPIFunctionOf(name).Role(); got != want {
			t.Errorf("%s has role %d, want %d", name, got, want)
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
