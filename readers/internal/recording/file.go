// Package recording makes one trace of the files of a recorder. The recorder knows processes, threads, devices and streams by numbers, and
// what they did as intervals. The recorders' readers fill a File each; Join makes their definitions those of one trace. So the same things
// have the same names whatever recorded them, and the same as in the traces of PyTorch (package jsontrace).
//
// # What becomes what
//
//	process                 LocationGroup of kind 1; "rank N: …" if there are several ranks
//	device of a process     LocationGroup of kind 2, "GPU N", created by the process
//	thread, stream          Location; one more for each depth of overlap
//	kernel                  Region of role Kernel, description "kernel", with the demangled name
//	copy, setting           Region "Memcpy HtoD …", "Memset …", roles DataTransfer and Kernel
//	call of the runtime     Region of the paradigm of the runtime, without the version in its name
//	launch link             the attribute correlation, on the call and on what it starts
//	range of the program    Region of role Artificial, description "user_annotation"
//	MPI call                Region of paradigm MPI, with messages and collectives if they are known
//	counter                 Metric event, on a location of kind Metric of its device or process
//
// # Ranks
//
// A process has the rank that its file says. If no file says any, the processes that use a device
// or communicate are ranks in the order of files and process numbers.
//
// # Clocks
//
// Times of a file count from its epoch, if it knows one: then all files are on the axis of UTC.
package recording

import (
	"math"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/wire"
	"tracekit/spill"
	"tracekit/trace"
)

// The attributes of all traces, by their numbers.
const (
	AttrCorrelation trace.AttributeID = iota
	AttrBytes
	AttrFlowOut // this and the next ones: in traces with flows alone
	AttrFlowStep
	AttrFlowIn
	AttrOperation // in traces of XLA alone, with those of flows
	attributes
)

// The attributes of tables of spans, which have no flows, behind AttrBytes.
const (
	AttrStep trace.AttributeID = AttrFlowOut + iota
	AttrDP
	AttrStage
	AttrMicroBatch
	AttrChunk
	AttrModelChunk
	AttrSeq
	AttrGroup
	AttrTP
)

// A File is what a file of a recorder holds. It is filled by one goroutine.
type File struct {
	Path       string
	Size       int64
	Host       string // "": not known
	Clock      string // names the clock of the times: files that have one in common need no epoch
	Epoch      int64  // ns since 1970 at the time 0
	HasEpoch   bool
	Rank       uint32 // of the only process that is a rank
	HasRank    bool
	JobSize    uint32 // ranks of the job, 0: not told
	Operations bool   // some events have AttrOperation
	Devices    bool   // its devices are ranks, by their numbers, if it is the only file
	Table      bool   // a table of spans, with the attributes of such
	Set        *nest.Set
	Ledger     trace.Ledger
	Creator    string
	Version    string            // of the format
	Properties map[string]string // of the recording

	names     map[string]uint32
	list      []string
	bytes     int // of names
	kept      int // bytes that Keep has given
	regions   map[regionKey]trace.RegionID
	described []region
	metrics   map[string]trace.MetricID
	meters    []meter
	comms     map[string]uint32
	groups    []Comm
	processes []*Process
	flows     flows
	devices   int
	lost      [limits]uint64
}

// What is limited, and how much there is told apart.
const (
	lostNames = iota
	lostRegions
	lostMetrics
	lostTracks
	lostKept
	lostComms
	lostFlows
	limits
)

const (
	nameLimit   = 64 << 20 // bytes
	regionLimit = 1 << 20
	metricLimit = 1 << 16
	commLimit   = 1 << 16
	memberLimit = 1 << 22
	worldLimit  = 1 << 18
	otherName   = "(other names)"
)

var lostTexts = [limits]string{
	lostNames:   "names; the last ones are called " + otherName,
	lostRegions: "regions; the last ones are called " + otherName,
	lostMetrics: "counters; values of the last ones are left out",
	lostTracks:  "threads and streams; the last ones are left out",
	lostKept:    "names of processes, threads and counters; the last ones are not known",
	lostComms:   "communicators; the last ones are taken for all ranks",
	lostFlows:   "arrows; the last ones are left out",
}

// NewFile returns an empty file whose events wait in a store.
func NewFile(path string, store *spill.Store) *File {
	f := &File{Path: path, Set: nest.NewSet(store), Properties: make(map[string]string), names: make(map[string]uint32),
		regions: make(map[regionKey]trace.RegionID), metrics: make(map[string]trace.MetricID), comms: make(map[string]uint32),
		groups: make([]Comm, 1)}
	return f
}

// Place returns the place of a byte of the file, -1 for the file as a whole.
func (f *File) Place(offset int64) trace.Place {
	return trace.Place{Location: trace.None, File: f.Path, Offset: offset}
}

// Changed notes that the file is another than when it was opened, if it is.
func (f *File) Changed(yes bool) {
	if yes {
		f.Ledger.Add(trace.CodeChangedMeanwhile, f.Place(-1), "its size or time changed after it was opened")
	}
}

// Text returns the number of a text, as instants have it.
func (f *File) Text(s string) uint32 {
	s = strings.ToValidUTF8(wire.CutName(s), "\uFFFD")
	if id, ok := f.names[s]; ok {
		return id
	}
	if f.bytes+len(s) > nameLimit && s != otherName {
		f.lost[lostNames]++
		return f.Text(otherName)
	}
	id := uint32(len(f.list))
	f.list = append(f.list, s)
	f.names[s] = id
	f.bytes += len(s) + 64
	return id
}

// Room reports whether there is room for more processes, devices and tracks: what is added without belongs to nobody, and readers
// should not keep it.
func (f *File) Room() bool {
	return f.Set.Room() && len(f.processes) < worldLimit && f.devices < worldLimit
}

// Keep returns a name that a reader keeps beside the file's texts, cut if it is long; "" once these names have taken nameLimit.
func (f *File) Keep(name []byte) string {
	const longest = 1 << 10
	name = name[:min(len(name), longest)]
	if f.kept += len(name) + 16; f.kept > nameLimit {
		f.lost[lostKept]++
		return ""
	}
	return strings.ToValidUTF8(string(name), "\uFFFD")
}

// Describe keeps a property of the recording, if there are few.
func (f *File) Describe(key string, value []byte) {
	if len(f.Properties) < 64 {
		f.Properties[key] = f.Keep(value)
	}
}

// A What says what the visits of a region are.
type What struct {
	Category string // as PyTorch calls it
	Role     trace.RegionRole
	Paradigm trace.Paradigm
	File     string // of the source code; "": not known
	Line     uint32 // where the function begins; 0: not known
}

// Kernel is a kernel that a device executes, of the paradigm of its runtime.
func Kernel(p trace.Paradigm) What {
	return What{Category: "kernel", Role: trace.RoleKernel, Paradigm: p}
}

// Copy is the copying of memory by a device.
func Copy(p trace.Paradigm) What {
	return What{Category: "gpu_memcpy", Role: trace.RoleDataTransfer, Paradigm: p}
}

// Memset is the setting of memory by a device.
func Memset(p trace.Paradigm) What {
	return What{Category: "gpu_memset", Role: trace.RoleKernel, Paradigm: p}
}

// Runtime is a call of the runtime.
func Runtime(p trace.Paradigm) What {
	return What{Category: "cuda_runtime", Role: trace.RoleFunction, Paradigm: p}
}

// Driver is a call of the interface below the runtime.
func Driver(p trace.Paradigm) What {
	return What{Category: "cuda_driver", Role: trace.RoleFunction, Paradigm: p}
}

// The other things that regions are.
var (
	Annotation  = What{Category: "user_annotation", Role: trace.RoleArtificial, Paradigm: trace.ParadigmUser}
	Function    = What{Category: "", Role: trace.RoleFunction, Paradigm: trace.ParadigmUser}
	Measurement = What{Category: "overhead", Role: trace.RoleFunction, Paradigm: trace.ParadigmMeasurement}
)

// Call returns what a call of a library is, by its name: of MPI, of pthread, or another function.
func Call(name string) What {
	if fn := trace.MPIFunctionOf(name); fn.Class != trace.ClassNone {
		return What{Category: "mpi", Role: fn.Role(), Paradigm: trace.ParadigmMPI}
	}
	if role := trace.ConstructRole(trace.ParadigmPthread, name); role != trace.RoleFunction {
		return What{Category: "osrt", Role: role, Paradigm: trace.ParadigmPthread}
	}
	return What{Category: "osrt", Role: trace.RoleFunction, Paradigm: trace.ParadigmUser}
}

type regionKey struct {
	name uint32
	What
}

type region struct {
	regionKey
	op nest.Operation // that a kernel of this name does
}

// Region returns the region of a name.
func (f *File) Region(name string, what What) trace.RegionID {
	k := regionKey{f.Text(name), what}
	if id, ok := f.regions[k]; ok {
		return id
	}
	if len(f.described) >= regionLimit && name != otherName {
		f.lost[lostRegions]++
		return f.Region(otherName, what)
	}
	id := trace.RegionID(len(f.described))
	r := region{regionKey: k}
	if what.Role == trace.RoleKernel {
		r.op = nest.KernelOperation(name)
	}
	f.described = append(f.described, r)
	f.regions[k] = id
	return id
}

// Operation returns what a kernel communicates, by the name of its region.
func (f *File) Operation(id trace.RegionID) nest.Operation { return f.described[id].op }

// A meter is a counter.
type meter struct {
	name, unit string
	mode       uint8
	typ        trace.ValueType
}

// Metric returns the metric of a counter; ok is false if there are too many.
func (f *File) Metric(name, unit string, mode uint8, typ trace.ValueType) (id trace.MetricID, ok bool) {
	if id, ok = f.metrics[name]; ok {
		return id, true
	}
	if len(f.meters) >= metricLimit {
		f.lost[lostMetrics]++
		return 0, false
	}
	id = trace.MetricID(len(f.meters))
	f.meters = append(f.meters, meter{f.list[f.Text(name)], f.list[f.Text(unit)], mode, typ})
	f.metrics[name] = id
	return id, true
}

// A Comm says who is in a communicator.
type Comm struct {
	Key, Name string
	World     []uint32            // world ranks in order of rank; nil: all ranks, or Members
	Members   map[uint32]*Process // by rank; of those that are in this file
	Size      uint32              // with Members: 0 if it is not known
	Devices   bool                // World are numbers of devices
}

// Comm returns the number of the communicator with a key, which is the same in all files. describe makes it if it is new.
// Number 0 is that of all ranks.
func (f *File) Comm(key string, describe func() Comm) uint32 {
	if id, ok := f.comms[key]; ok {
		return id
	}
	if len(f.groups) >= commLimit {
		f.lost[lostComms]++
		return 0
	}
	c := describe()
	c.Key = key
	id := uint32(len(f.groups))
	f.groups = append(f.groups, c)
	f.comms[key] = id
	return id
}

// Member notes that a process has a rank in a communicator.
func (f *File) Member(comm, rank uint32, p *Process) {
	c := &f.groups[comm]
	if comm == 0 || rank >= worldLimit {
		return
	}
	if c.Members == nil {
		c.Members = make(map[uint32]*Process)
	}
	if c.Members[rank] == nil {
		c.Members[rank] = p
	}
}

// Value puts the value of a counter at a time onto a track.
func (f *File) Value(l *Track, time int64, id trace.MetricID, v float64) {
	bits := math.Float64bits(v)
	if f.meters[id].typ != trace.TypeDouble {
		bits = uint64(int64(v))
	}
	l.Moment()
	l.Stream.AddMetric(time, id, []trace.ValueType{f.meters[id].typ}, []uint64{bits})
}

// Said returns the text of a number that Text gave.
func (f *File) Said(id uint32) string { return f.list[id] }
