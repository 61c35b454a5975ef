package jsontrace

import (
	"strconv"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// A regionKey identifies a region of a file: name and category, both as numbers of names.
type regionKey struct{ name, cat uint32 }

// A region is what the slices of one name and category are.
type region struct {
	regionKey
	paradigm trace.Paradigm
	role     trace.RegionRole
	op       nest.Operation // that a kernel of this name does
	mpi      trace.MPIFunction
	args     bool // slices may have arguments that say something about communication
	gpu      bool
	nccl     bool // a collective or message of NCCL's profiler
	host     bool // the host's side of a collective of PyTorch
	gloo     bool // a collective or message of gloo, which hosts communicate by
	peers    bool // a collective that reaches into the memory of its peers itself, without a library
	asked    bool // PyTorch's call that asks for a message, with its other end
	records  bool // what PyTorch notes of a collective or message when it is called
	runtime  bool // a call of the accelerator's runtime, which may launch a kernel
	code     codePlace
	frame    bool // a function of Python
	torch    bool // an operator of PyTorch
	trivial  bool // the writer's bookkeeping
	training tri  // operations of steps of training
}

// regions finds regions by the raw text of name and category.
type regions struct {
	names   *names
	list    []region
	byKey   map[regionKey]trace.RegionID
	byRaw   map[string]trace.RegionID
	scratch []byte
	lost    uint64 // slices of regions beyond regionLimit
}

// regionLimit bounds the number of regions; slices of further ones are called otherName.
const regionLimit = 1 << 20

func newRegions(n *names) *regions {
	return &regions{names: n, byKey: make(map[regionKey]trace.RegionID), byRaw: make(map[string]trace.RegionID)}
}

// find returns the region of a raw name and category.
func (r *regions) find(name, cat []byte) trace.RegionID {
	r.scratch = append(append(append(r.scratch[:0], name...), 0), cat...)
	if id, ok := r.byRaw[string(r.scratch)]; ok {
		return id
	}
	id := r.get(regionKey{r.names.raw(name), r.names.raw(cat)})
	if r.names.bytes < nameLimit && len(r.scratch) <= wire.NameLimit {
		r.names.bytes += len(r.scratch)
		r.byRaw[string(r.scratch)] = id
	}
	return id
}

// get returns the region of a key.
func (r *regions) get(k regionKey) trace.RegionID {
	if id, ok := r.byKey[k]; ok {
		return id
	}
	if len(r.list) >= regionLimit {
		if other := (regionKey{r.names.text(otherName), r.names.text("")}); k != other {
			r.lost++
			return r.get(other)
		}
	}
	id := trace.RegionID(len(r.list))
	r.list = append(r.list, describe(k, r.names.list[k.name], r.names.list[k.cat]))
	r.byKey[k] = id
	return id
}

// describe says what name and category tell of a region.
func describe(k regionKey, name, cat string) region {
	r := region{regionKey: k, paradigm: paradigmOf(cat), role: roleOf(cat, name), code: codePlaceOf(name, cat)}
	r.mpi = trace.MPIFunctionOf(r.code.function)
	r.gpu = deviceCategories[cat]
	// Bookkeeping spans the whole recording and would hide everything else.
	r.trivial = cat == "Trace" || cat == "overhead"
	r.frame = cat == "python_function"
	r.torch = cat == "cpu_op"
	r.host = strings.HasPrefix(name, "nccl:")
	r.records = name == "record_param_comms"
	r.runtime = cat == "cuda_runtime" || cat == "cuda_driver" || cat == "Runtime"
	if r.mpi.Class != trace.ClassNone {
		r.paradigm = trace.ParadigmMPI
	}
	if r.gpu {
		r.op = nest.KernelOperation(name)
		if op, ok := trace.PeerKernel(name); ok {
			r.op, r.peers = nest.Collective(op), true
		}
	}
	if r.torch {
		if op, ok := trace.PeerOperator(name); ok {
			r.op, r.peers = nest.Collective(op), true
		}
	}
	if op, ok := strings.CutPrefix(name, "gloo:"); ok {
		r.op = nest.OperationByName(op)
		r.gloo = r.op != nest.OpNone
	}
	r.asked = name == "c10d::send" || name == "c10d::recv_"
	// Looking into the arguments costs more than all else; most slices can do without.
	r.args = r.op != nest.OpNone || r.paradigm == trace.ParadigmMPI
	if r.nccl = cat == "COLL" || cat == "P2P"; r.nccl {
		r.op = nest.OperationByName(name)
		r.role = trace.RoleKernel // what these slices last is what accelerators do
	}
	return r
}

// A codePlace is what a slice's name says about the source code.
type codePlace struct {
	function string // the name without the place
	file     string // "": not known
	line     uint32 // 0: not known
}

// The forms of names with a place in the source code: TAU's, and those of Python functions
// in the traces of PyTorch, VizTracer, and XLA (JAX, TensorFlow).
var (
	tauName   = trace.Expression(`^(.*?)(?:\(\))?\s*\[\{(.+?)\}\s*\{(\d{1,9})\b.*\]\s*$`)
	torchName = trace.Expression(`^(.+\.py)\((\d{1,9})\): `)
	vizName   = trace.Expression(`^(.+) \((.+\.py):(\d{1,9})\)$`)
	xlaName   = trace.Expression(`^\$(.+\.py):(\d{1,9}) (.+)$`)
)

// objectAddress is where the object of a built-in method of Python lay in memory: in each process
// elsewhere, so that one function would have as many names.
var objectAddress = trace.Expression(` at 0x[0-9a-fA-F]+>$`)

// codePlaceOf takes the place in the source code out of a name. MPI functions lose the
// parentheses that TAU gives them.
func codePlaceOf(name, cat string) codePlace {
	if m := tauName().FindStringSubmatch(name); m != nil {
		return codePlace{m[1], m[2], lineNumber(m[3])}
	}
	if cat == "python_function" {
		if m := torchName().FindStringSubmatch(name); m != nil {
			return codePlace{name, m[1], lineNumber(m[2])}
		}
		return codePlace{function: objectAddress().ReplaceAllLiteralString(name, ">")}
	}
	if m := vizName().FindStringSubmatch(name); m != nil && strings.EqualFold(cat, "fee") {
		return codePlace{m[1], m[2], lineNumber(m[3])}
	}
	if m := xlaName().FindStringSubmatch(name); m != nil && cat == "" {
		return codePlace{m[3], m[1], lineNumber(m[2])}
	}
	if s := strings.TrimSuffix(strings.TrimSpace(name), "()"); strings.HasPrefix(s, "MPI_") {
		return codePlace{function: s}
	}
	return codePlace{function: name}
}

func lineNumber(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

// paradigms are the categories that say something; all others are the user's.
var paradigms = map[string]trace.Paradigm{
	"mpi": trace.ParadigmMPI, "MPI": trace.ParadigmMPI,
	"omp": trace.ParadigmOpenMP, "openmp": trace.ParadigmOpenMP,
	"compiler": trace.ParadigmCompiler, "pthread": trace.ParadigmPthread,
	"measurement": trace.ParadigmMeasurement, "overhead": trace.ParadigmMeasurement,
	"unknown": trace.ParadigmUnknown, xlaCategory: trace.ParadigmUnknown,
	"kernel": trace.ParadigmCUDA, "Kernel": trace.ParadigmCUDA, "gpu_memcpy": trace.ParadigmCUDA,
	"Memcpy": trace.ParadigmCUDA, "gpu_memset": trace.ParadigmCUDA, "Memset": trace.ParadigmCUDA,
	"cuda": trace.ParadigmCUDA, "cuda_runtime": trace.ParadigmCUDA, "cuda_driver": trace.ParadigmCUDA,
	"cuda_sync": trace.ParadigmCUDA, "Runtime": trace.ParadigmCUDA,
}

// deviceCategories are those of slices that an accelerator executes.
var deviceCategories = map[string]bool{"kernel": true, "Kernel": true, "gpu_memcpy": true,
	"Memcpy": true, "gpu_memset": true, "Memset": true, "cuda": true, xlaCategory: true}

// paradigmOf returns the paradigm that a category, a list with commas, means.
func paradigmOf(cat string) trace.Paradigm {
	for c := range strings.SplitSeq(cat, ",") {
		if p, ok := paradigms[c]; ok {
			return p
		}
	}
	return trace.ParadigmUser
}

// roleOf returns the role of the slices of a category. On the tracks of an accelerator there are
// others than what it executes: the program's annotations, which span the kernels launched in
// them, and what a stream waits for. Of the calls of dftracer those that move data are told by name.
func roleOf(cat, name string) trace.RegionRole {
	switch cat {
	case "POSIX", "STDIO":
		if strings.Contains(name, "read") && name != "readlink" && name != "readdir" || strings.Contains(name, "write") {
			return trace.RoleFileIO
		}
		return trace.RoleFileIOMetadata
	case "IO": // of programs that dftracer's interfaces are called from
		return trace.RoleFileIO
	case "kernel", "Kernel", "gpu_memset", "Memset", xlaCategory:
		return trace.RoleKernel
	case "gpu_memcpy", "Memcpy":
		return trace.RoleDataTransfer
	case "gpu_user_annotation", "user_annotation":
		return trace.RoleArtificial
	case "cuda_sync":
		return trace.RoleThreadWait
	}
	if cat != "python_function" && cat != "cpu_op" && readsData().MatchString(name) {
		return trace.RoleFileIO
	}
	return trace.RoleFunction
}

// readsData are names of what reads a program's input.
var readsData = trace.Expression(`(?i)(?:^|[._])(?:get|load|read|fetch)_(?:data|batch|sample)|(?:^|[._])np_load\b`)
