package palette

import (
	"slices"
	"strings"

	"tracekit/document/words"
	"tracekit/stats/threads"
	"tracekit/trace"
)

// Regions are the classes of a trace's regions: on hosts, and on the streams of devices.
type Regions struct{ Host, Device []Class }

// Of returns what the regions of a trace do. Where a region has neither role nor paradigm, its name decides.
func Of(d *trace.Defs) Regions {
	n := len(d.Regions)
	out := Regions{make([]Class, n), make([]Class, n)}
	functions, meanings, works := d.MPIFunctions(), threads.Meanings(d), d.DeviceWorks()
	training := d.IsTraining()
	blocking, sleeping, loading := d.DeviceWaits(), d.Sleeps(), d.LoadsData()
	for i := range d.Regions {
		r, id := &d.Regions[i], trace.RegionID(i)
		name := d.RegionLabel(id)
		switch out.Device[i] = ofKernel(r, works[i], name); {
		case functions[i].Class != trace.ClassNone:
			out.Host[i] = ofMPI(functions[i].Class, r.Role, strings.ToLower(name))
		case blocking[i] || sleeping[i]:
			out.Host[i] = Waiting
		case meanings[i].Activity != threads.Useful:
			out.Host[i] = Threads
		case loading[i] || r.Role == trace.RoleFileIO || r.Role == trace.RoleFileIOMetadata:
			out.Host[i] = IO
		case training && slices.Contains(trace.TrainingOperations[trace.TrainingComputations:], name):
			out.Host[i] = Communication
		default:
			if out.Host[i] = OfParadigm(r.Paradigm); out.Host[i] == Threads {
				out.Host[i] = Computing // what a team works on is the program
			}
		}
	}
	return out
}

// ofMPI returns the class of a function of MPI.
func ofMPI(c trace.CallClass, role trace.RegionRole, name string) Class {
	switch c {
	case trace.ClassInit, trace.ClassFinalize:
		return Startup
	case trace.ClassColl, trace.ClassIcoll:
		return Collective
	case trace.ClassOther:
		return ofOtherMPI(role, strings.TrimPrefix(strings.TrimPrefix(name, "p"), "mpi_"))
	}
	return PointToPoint
}

// ofOtherMPI returns the class of a function of MPI that no analysis knows, whose name follows without prefix.
func ofOtherMPI(role trace.RegionRole, name string) Class {
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case role == trace.RoleFileIO || role == trace.RoleFileIOMetadata || has("file_"):
		return IO
	case role == trace.RoleRMA || has("win_", "put", "get_accumulate", "accumulate", "fetch_and_op", "compare_and_swap", "rput", "rget",
		"raccumulate") || name == "get":
		return OneSided
	case role >= trace.RoleCollOne2All && role <= trace.RoleCollOther || has("neighbor_", "ineighbor_"):
		return Collective
	case role == trace.RolePoint2Point || has("psend", "precv", "pready", "parrived", "cancel", "request_"):
		return PointToPoint
	}
	return Management
}

// OfParadigm returns the class that stands for all of a paradigm.
func OfParadigm(p trace.Paradigm) Class {
	switch p.String() {
	case "mpi":
		return PointToPoint
	case "shmem", "gaspi", "upc":
		return OneSided
	case "openmp", "pthread", "ompss", "winthread", "qtthread", "acethread", "tbbthread", "mtapi":
		return Threads
	case "cuda", "hip", "opencl", "openacc", "hmpp":
		return Runtime
	case "measurement", "hardware", "none":
		return Measurement
	}
	return Computing
}

// kernels are the classes of kernels by the name that words.KernelClass gives.
var kernels = map[string]Class{"GEMM": GEMM, "attention": Attention, "convolution": Convolution, "normalization": Normalization,
	"elementwise": Elementwise, "reduction": Reduction, "communication": Communication, "copy": Copy, "other": Kernel}

// ofKernel returns the class of what a stream executes.
func ofKernel(r *trace.Region, work trace.DeviceWork, name string) Class {
	switch {
	case r.Role == trace.RoleTaskWait || r.Role == trace.RoleThreadWait:
		return Waiting
	case work == trace.DeviceIdle:
		return Annotation
	}
	return kernels[words.KernelClass(work.String(), name)]
}
