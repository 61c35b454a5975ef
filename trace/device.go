package trace

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// OverlapName returns the name of the location of a stream that takes what overlaps the rest of
// it without being nested; there may be several, which have numbers from 1.
func OverlapName(stream string, number int) string {
	return fmt.Sprintf("%s (overlap %d)", stream, number)
}

var overlapName = Expression(` \(overlap \d+\)$`)

// StreamName returns the name of the stream that a location is, or is a part of.
func StreamName(location string) string {
	return strings.TrimSpace(overlapName().ReplaceAllString(location, ""))
}

// DeviceWork says what an accelerator does while a region lasts on one of its streams.
type DeviceWork uint8

// What accelerators do.
const (
	DeviceIdle          DeviceWork = iota // nothing: an annotation, or waiting
	DeviceCompute                         // a kernel, or the setting of memory
	DeviceCommunication                   // a kernel that communicates with other accelerators
	DeviceMemory                          // copying
)

// String returns the word of the documents.
func (w DeviceWork) String() string {
	return [...]string{"idle", "compute", "communication", "memory"}[min(w, DeviceMemory)]
}

// DeviceWorks tells for each region what it is where a stream of an accelerator executes it:
// by its role and paradigm, and by its name where a format has neither.
func (d *Defs) DeviceWorks() []DeviceWork {
	out := make([]DeviceWork, len(d.Regions))
	for i, r := range d.Regions {
		out[i] = deviceWork(&r, strings.ToLower(d.String(r.Name)))
	}
	return out
}

func deviceWork(r *Region, name string) DeviceWork {
	switch r.Role {
	case RoleArtificial, RoleTaskWait, RoleThreadWait:
		return DeviceIdle
	case RoleRMA, RoleDataTransfer:
		return DeviceMemory
	case RoleCollOne2All, RoleCollAll2One, RoleCollAll2All, RoleCollOther, RolePoint2Point:
		return DeviceCommunication
	}
	if strings.HasPrefix(name, "profilerstep#") {
		return DeviceIdle
	}
	for _, library := range []string{"nccl", "rccl", "hcom_"} {
		if strings.Contains(name, library) {
			return DeviceCommunication
		}
	}
	if _, peer := PeerKernel(name); peer || r.Paradigm == ParadigmMPI {
		return DeviceCommunication
	}
	if r.Role != RoleKernel {
		for _, copying := range []string{"memcpy", "copyhostto", "copydeviceto"} {
			if strings.HasPrefix(name, copying) {
				return DeviceMemory
			}
		}
	}
	return DeviceCompute
}

// PeerKernel returns the collective operation of a kernel that reaches into the memory of other devices itself, without a library, by
// its name; ok is false for other kernels. Such are those of vLLM and SGLang (cross_device_reduce), of TensorRT-LLM and FlashInfer (one
// shot, two shot, fused, lamport), and of PyTorch's symmetric memory. Which devices take part its name does not tell.
func PeerKernel(name string) (op CollectiveOp, ok bool) {
	base := baseName(strings.ReplaceAll(strings.TrimPrefix(name, "void "), "(anonymous namespace)", ""))
	if strings.Contains(base, "crossdevicereduce") {
		return CollAllreduce, true
	}
	for _, way := range []string{"oneshot", "twoshot", "multimem", "lamport", "fusion"} {
		if strings.Contains(base, way) {
			return collectiveIn(base)
		}
	}
	return 0, false
}

// PeerOperator returns the collective operation of an operator of the host, by its name, that reaches into the memory of other processes
// itself. ok is false for other operators. Such are those of vLLM and SGLang on CPUs (_C::shm_allreduce).
func PeerOperator(name string) (op CollectiveOp, ok bool) {
	base := baseName(name)
	if !strings.HasPrefix(base, "shm") {
		return 0, false
	}
	return collectiveIn(base)
}

// baseName returns the name of a function of C++ in lower case, without what it is part of, its parameters and underscores.
func baseName(name string) string {
	name = strings.ToLower(name)
	if end := strings.IndexAny(name, "<("); end >= 0 {
		name = name[:end]
	}
	return strings.ReplaceAll(name[strings.LastIndexByte(name, ':')+1:], "_", "")
}

// collectiveIn returns the collective operation that a base name names.
func collectiveIn(base string) (CollectiveOp, bool) {
	switch {
	case strings.Contains(base, "allreduce"):
		return CollAllreduce, true
	case strings.Contains(base, "allgather"):
		return CollAllgather, true
	case strings.Contains(base, "reducescatter"):
		return CollReduceScatterBlock, true
	}
	return 0, false
}

// DeviceWaits tells for each region whether it is a call of the host that does nothing but wait
// for an accelerator: one that synchronises with it, or a copy that blocks. Such time is no
// useful time.
func (d *Defs) DeviceWaits() []bool {
	out := make([]bool, len(d.Regions))
	for i, r := range d.Regions {
		out[i] = waitsForDevice(d.String(r.Name))
	}
	return out
}

// blockingCalls are those of the runtimes of CUDA and HIP, and of OpenCL and HSA, that return
// when an accelerator has done what they ask for.
var blockingCalls = Expression(`^(?:` +
	`(?:cuda|hip|musa|cu|mu)(?:Device|Stream|Event|Ctx|Thread|Context|Graph|ExternalSemaphore)?Synchronize` +
	`|(?:cuda|hip|musa)Memcpy(?:2D|3D)?(?:HtoD|DtoH|DtoD|Peer|ToSymbol|FromSymbol|ToArray|FromArray|WithStream|HtoA|AtoH)?` +
	`|(?:cu|mu)Memcpy(?:2D|3D)?(?:HtoD|DtoH|HtoA|AtoH)?` +
	`|clFinish|clWaitForEvents` +
	`|hsa_signal_wait_(?:scacquire|relaxed|acquire)|hsa_amd_signal_wait_(?:any|all)` +
	`)(?:_v\d)?(?:_pt[ds]s?z?|_spt)?(?:\(\))?$`)

func waitsForDevice(name string) bool {
	begins := func(with string) bool { return strings.HasPrefix(name, with) }
	return slices.ContainsFunc([]string{"cu", "hip", "mu", "cl", "hsa"}, begins) && blockingCalls().MatchString(name)
}

// Sleeps tells for each region whether a thread sleeps in it. That includes waiting for a condition, for another thread or for a file to be
// ready: what it is about happens elsewhere.
func (d *Defs) Sleeps() []bool {
	out := make([]bool, len(d.Regions))
	for i, r := range d.Regions {
		out[i] = r.Role == RoleThreadWait || sleepingCalls.match(d.String(r.Name))
	}
	return out
}

// named are names of a form. Each has one of some words, which are faster to look for.
type named struct {
	words []string
	form  func() *regexp.Regexp
}

func (n *named) match(name string) bool {
	for _, word := range n.words {
		if strings.Contains(name, word) {
			return n.form().MatchString(name)
		}
	}
	return false
}

// sleepingCalls are such functions of the C library and of Python, which profilers name by file and line, or as built in.
var sleepingCalls = named{[]string{"sleep", "pause", "poll", "select", "wait", "futex", "join", "acquire", "get"},
	Expression(`^(?:` +
		`(?:u|nano|clock_nano)?sleep|pause|p?poll|p?select|epoll_p?wait2?|sem_(?:timed|clock)?wait|futex|sigwait(?:info)?|sigtimedwait` +
		`|pthread_(?:cond_(?:timed|clock)?wait|(?:timed|clock)?join(?:_np)?|barrier_wait)` +
		`|time\.sleep` +
		`|<?built-in (?:function|method) (?:sleep|select|poll|acquire)\b.*|<method '(?:acquire|poll|wait)' of .*` +
		`|_thread\.R?[Ll]ock\.acquire|_multiprocessing\.SemLock\.acquire|select\.(?:select|e?poll\.poll)|_queue\.SimpleQueue\.get` + // VizTracer
		`|(?:.*/)?threading\.py\(\d+\): (?:wait|wait_for|join|_wait_for_tstate_lock|acquire)` +
		`|(?:.*/)?queue\.py\(\d+\): (?:get|join)` +
		`|(?:.*/)?selectors\.py\(\d+\): select` +
		`|(?:.*/)?multiprocessing/(?:connection|popen_fork|synchronize)\.py\(\d+\): (?:wait|_?poll|acquire)` +
		`)(?:\(\))?$`)}

// LoadsData tells for each region whether it is one in which a program waits for the next batch of its input: a DataLoader of PyTorch, an
// iterator of TensorFlow or DALI.
func (d *Defs) LoadsData() []bool {
	out := make([]bool, len(d.Regions))
	for i, r := range d.Regions {
		out[i] = loadingCalls.match(d.String(r.Name))
	}
	return out
}

var loadingCalls = named{[]string{"DataLoader", "dataloader", "Iterator", "dali"},
	Expression(`^enumerate\(DataLoader\)|DataLoaderIter\.__next__|(?:^|/)torch/utils/data/dataloader\.py\(\d+\): (?:__next__|_next_data)` +
		`|^IteratorGetNext|^Iterator(?:GetNext)?(?:Sync|AsOptional)\b|^DALIGenericIterator\b|nvidia/dali/plugin/.*: __next__`)}

// IsDeviceCall reports whether a region is a call of an accelerator's runtime.
func (d *Defs) IsDeviceCall(id RegionID) bool {
	if int(id) >= len(d.Regions) {
		return false
	}
	switch d.Regions[id].Paradigm {
	case ParadigmCUDA, ParadigmHIP, ParadigmOpenCL:
		return true
	}
	return false
}
