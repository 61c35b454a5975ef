package trace

import "strconv"

// A CollectiveOp says which collective operation an event or instance is. The numbers
// are OTF2's; files may hold larger ones, which are kept.
type CollectiveOp uint8

// The collective operations of MPI, the management operations of OTF2, and two of our own.
const (
	CollBarrier CollectiveOp = iota
	CollBcast
	CollGather
	CollGatherv
	CollScatter
	CollScatterv
	CollAllgather
	CollAllgatherv
	CollAlltoall
	CollAlltoallv
	CollAlltoallw
	CollAllreduce
	CollReduce
	CollReduceScatter
	CollScan
	CollExscan
	CollReduceScatterBlock
	CollCreateHandle
	CollDestroyHandle
	CollAllocate
	CollDeallocate
	CollCreateHandleAndAllocate
	CollDestroyHandleAndDeallocate

	CollFence  CollectiveOp = 64 // a barrier on a window of one-sided communication
	CollWindow CollectiveOp = 65 // makes or frees such a window
)

var collNames = []string{"Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv",
	"Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Allreduce", "Reduce",
	"Reduce_scatter", "Scan", "Exscan", "Reduce_scatter_block", "Create_handle", "Destroy_handle",
	"Allocate", "Deallocate", "Create_handle_and_allocate", "Destroy_handle_and_deallocate"}

// String returns the operation's name as in MPI, without the prefix.
func (op CollectiveOp) String() string {
	switch op {
	case CollFence:
		return "Fence"
	case CollWindow:
		return "Window"
	}
	return enumName(collNames, int(op))
}

// A Pattern says who exchanges data with whom in a collective operation. It decides who
// waits for whom (DEFINITIONS 2.2).
type Pattern uint8

// The patterns. Of the management of communicators and of unknown operations nothing is
// known.
const (
	PatternNone     Pattern = iota
	PatternBarrier          // nobody leaves before all have entered
	PatternAllToAll         // N×N: every rank needs data of every other
	PatternSparse           // N×N of which not all pairs need exchange data: Alltoallv, Alltoallw
	PatternOneToAll         // 1×N: the root's data reach all
	PatternAllToOne         // N×1: the data of all reach the root
	PatternScan             // the data of a rank reach those of higher rank
	PatternFence            // a barrier, unless somebody leaves before all have entered: what programs assert decides
)

var patterns = [...]Pattern{
	CollBarrier: PatternBarrier,
	CollBcast:   PatternOneToAll, CollScatter: PatternOneToAll, CollScatterv: PatternOneToAll,
	CollGather: PatternAllToOne, CollGatherv: PatternAllToOne, CollReduce: PatternAllToOne,
	CollAllgather: PatternAllToAll, CollAllgatherv: PatternAllToAll, CollAlltoall: PatternAllToAll,
	CollAllreduce: PatternAllToAll, CollReduceScatter: PatternAllToAll, CollReduceScatterBlock: PatternAllToAll,
	CollAlltoallv: PatternSparse, CollAlltoallw: PatternSparse,
	CollScan: PatternScan, CollExscan: PatternScan,
	CollFence: PatternFence, CollWindow: PatternFence,
}

// Pattern returns the operation's pattern.
func (op CollectiveOp) Pattern() Pattern {
	if int(op) < len(patterns) {
		return patterns[op]
	}
	return PatternNone
}

// Rooted reports whether operations of the pattern have a root.
func (p Pattern) Rooted() bool { return p == PatternOneToAll || p == PatternAllToOne }

// Special values of a collective's root, beside ranks.
const (
	RootNone      uint32 = 0xFFFFFFFF // the operation has no root
	RootSelf      uint32 = 0xFFFFFFFE // intercommunicator: the caller is the root
	RootThisGroup uint32 = 0xFFFFFFFD // intercommunicator: the root is in the caller's group
)

// A Paradigm is the programming model that a region or a group belongs to (OTF2 numbers).
type Paradigm uint8

// The paradigms that analyses distinguish.
const (
	ParadigmUnknown     Paradigm = 0
	ParadigmUser        Paradigm = 1
	ParadigmCompiler    Paradigm = 2
	ParadigmOpenMP      Paradigm = 3
	ParadigmMPI         Paradigm = 4
	ParadigmCUDA        Paradigm = 5
	ParadigmMeasurement Paradigm = 6
	ParadigmPthread     Paradigm = 7
	ParadigmOmpSs       Paradigm = 9
	ParadigmTBB         Paradigm = 17
	ParadigmOpenCL      Paradigm = 19
	ParadigmSampling    Paradigm = 21
	ParadigmHIP         Paradigm = 23
)

var paradigmNames = []string{"unknown", "user", "compiler", "openmp", "mpi", "cuda",
	"measurement", "pthread", "hmpp", "ompss", "hardware", "gaspi", "upc", "shmem", "winthread",
	"qtthread", "acethread", "tbbthread", "openacc", "opencl", "mtapi", "sampling", "none", "hip",
	"kokkos"}

// String returns the paradigm's name in lower case.
func (p Paradigm) String() string { return enumName(paradigmNames, int(p)) }

// A RegionRole says what a region does (OTF2 numbers; unknown ones are kept).
type RegionRole uint8

// The roles that analyses distinguish.
const (
	RoleUnknown         RegionRole = 0
	RoleFunction        RegionRole = 1
	RoleParallel        RegionRole = 5
	RoleCritical        RegionRole = 12
	RoleCriticalBlock   RegionRole = 13 // what is protected
	RoleBarrier         RegionRole = 15
	RoleImplicitBarrier RegionRole = 16
	RoleOrdered         RegionRole = 18
	RoleTask            RegionRole = 20
	RoleTaskCreate      RegionRole = 21
	RoleTaskWait        RegionRole = 22
	RoleThreadCreate    RegionRole = 32
	RoleThreadWait      RegionRole = 33
	RoleCollOne2All     RegionRole = 23
	RoleCollAll2One     RegionRole = 24
	RoleCollAll2All     RegionRole = 25
	RoleCollOther       RegionRole = 26
	RolePoint2Point     RegionRole = 28
	RoleFileIO          RegionRole = 27
	RoleRMA             RegionRole = 29
	RoleDataTransfer    RegionRole = 30 // to or from an accelerator
	RoleFileIOMetadata  RegionRole = 38 // to a file, but not its data
	RoleKernel          RegionRole = 40 // on an accelerator
	RoleArtificial      RegionRole = 31
)

// A LocationKind says what a location records (OTF2 numbers).
type LocationKind uint8

// The kinds of location.
const (
	LocationUnknown   LocationKind = 0
	LocationCPUThread LocationKind = 1
	LocationGPU       LocationKind = 2 // a stream of an accelerator
	LocationMetric    LocationKind = 3
)

var locationKindNames = []string{"unknown", "cpu_thread", "gpu", "metric"}

// String returns the kind's name in lower case.
func (k LocationKind) String() string { return enumName(locationKindNames, int(k)) }

// The modes of counters (OTF2 numbers): the low four bits, MetricProperty, say what a value is,
// those above what time it is about.
const (
	MetricAccumulated   uint8 = 0 // counts from the start of the measurement
	MetricAbsolute      uint8 = 1 // stands for itself
	MetricRelative      uint8 = 2 // an increment
	MetricProperty      uint8 = 15
	MetricAbsolutePoint uint8 = MetricAbsolute | 16 // holds at the moment of the event
	MetricRelativeLast  uint8 = MetricRelative | 32 // since the event before
	MetricAbsoluteNext  uint8 = MetricAbsolute | 48 // holds until the next event
)

// MetricPAPI is the type of metrics that are hardware counters of a processor (OTF2 number).
const MetricPAPI = 1

// RunningCounter names the counter by which a trace tells when its threads compute: they do not wait, schedule or idle: a value says for
// how many ticks the thread runs from the event on. It is of the mode MetricAbsoluteNext.
const RunningCounter = "thread runs"

// A GroupKind says what the members of a group are (OTF2 numbers).
type GroupKind uint8

// The kinds of group.
const (
	GroupUnknown       GroupKind = 0
	GroupLocations     GroupKind = 1
	GroupRegions       GroupKind = 2
	GroupMetric        GroupKind = 3
	GroupCommLocations GroupKind = 4 // all locations that communicate in a paradigm; the index is the world rank
	GroupComm          GroupKind = 5 // members are indexes into the COMM_LOCATIONS group
	GroupCommSelf      GroupKind = 6 // each location alone with itself; no members
)

// GroupGlobalMembers is the flag of a communicator group whose events name ranks of
// COMM_LOCATIONS instead of ranks of the group.
const GroupGlobalMembers = 1

// A ValueType is the type of a metric's, attribute's or parameter's value (OTF2 numbers).
type ValueType uint8

// The value types that are not references.
const (
	TypeNone   ValueType = 0
	TypeUint8  ValueType = 1
	TypeUint16 ValueType = 2
	TypeUint32 ValueType = 3
	TypeUint64 ValueType = 4
	TypeInt8   ValueType = 5
	TypeInt16  ValueType = 6
	TypeInt32  ValueType = 7
	TypeInt64  ValueType = 8
	TypeFloat  ValueType = 9
	TypeDouble ValueType = 10
	TypeString ValueType = 11
)

// MeasurementOn and MeasurementOff are the argument of a MeasurementOnOff event.
const (
	MeasurementOn  = 1
	MeasurementOff = 2
)

func enumName(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown_" + strconv.Itoa(i)
}
