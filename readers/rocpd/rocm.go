package rocpd

import (
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// kernelWhat and copyWhat are what devices do.
var (
	kernelWhat = recording.Kernel(trace.ParadigmHIP)
	copyWhat   = recording.Copy(trace.ParadigmHIP)
)

// whatOf returns what the calls of a category are, and whether their identifiers tell what they launch. The categories are
// those of rocprofv3 (HIP_RUNTIME_API_EXT) and of rocprofiler-systems (rocm_hip_api).
func whatOf(category, name string) (what recording.What, launches bool) {
	c := strings.TrimPrefix(strings.ToLower(category), "rocm_")
	switch {
	case strings.HasPrefix(name, "roctx"), strings.HasPrefix(c, "marker"):
		return recording.Annotation, false
	case strings.HasPrefix(c, "hip"):
		return recording.Runtime(trace.ParadigmHIP), true
	case strings.HasPrefix(c, "hsa"):
		return recording.Driver(trace.ParadigmHIP), true
	case strings.HasPrefix(c, "rccl"), strings.HasPrefix(c, "nccl"):
		return recording.Annotation, false
	case strings.HasPrefix(c, "ompt"), c == "openmp":
		return recording.What{Category: "openmp", Role: trace.RoleFunction, Paradigm: trace.ParadigmOpenMP}, false
	}
	return recording.Call(name), false
}

// copyName returns the name of a copy, as that of CUDA's: HOST_TO_DEVICE is HtoD.
func copyName(name string) string {
	direction := strings.TrimPrefix(name, "MEMORY_COPY_")
	from, to, ok := strings.Cut(direction, "_TO_")
	if !ok || from == "" || to == "" {
		return "Memcpy"
	}
	return "Memcpy " + from[:1] + "to" + to[:1]
}

// kernelName returns the name of a kernel, without the ending of its descriptor.
func kernelName(display, name string) string {
	if display != "" {
		return display
	}
	return strings.TrimSuffix(name, ".kd")
}

// An agent is a processor or a device.
type agent struct {
	gpu    bool
	number int64 // among those of its type
}

// A streamKey tells a stream of a device.
type streamKey struct{ device, stream int64 }

// A process is a process with what it uses.
type process struct {
	*recording.Process
	devices  map[int64]*recording.Device // by number
	streams  map[streamKey]*recording.Track
	samplers map[int64]*recording.Track // by device, -1: of the process
	used     map[int64]int64            // memory in use, by device, -1: of the host
	sizes    map[uint64]int64           // of allocations by address
}

func newProcess(p *recording.Process) *process {
	return &process{Process: p, devices: make(map[int64]*recording.Device), streams: make(map[streamKey]*recording.Track),
		samplers: make(map[int64]*recording.Track), used: make(map[int64]int64), sizes: make(map[uint64]int64)}
}

// device returns a device of the process.
func (p *process) device(number int64) *recording.Device {
	d := p.devices[number]
	if d == nil {
		room := p.Room()
		if d = p.NewDevice(number); room {
			p.devices[number] = d
		}
	}
	return d
}

// stream returns a stream of a device, whose name is made when it is new; nil if there are too many.
func (p *process) stream(device, stream int64, name func() string) *recording.Track {
	key := streamKey{device, stream}
	l, ok := p.streams[key]
	if !ok && p.Room() {
		l = p.device(device).NewStream(name(), stream)
		p.streams[key] = l
	}
	return l
}

// sampler returns the location of what is sampled on a device, or, of -1, in the process.
func (p *process) sampler(device int64) *recording.Track {
	l, ok := p.samplers[device]
	switch {
	case ok || !p.Room():
	case device < 0:
		l = p.NewSampler("samples")
		p.samplers[device] = l
	default:
		l = p.device(device).NewSampler("GPU metrics")
		p.samplers[device] = l
	}
	return l
}

// sizeLimit bounds the allocations whose sizes are kept for when they are given back.
const sizeLimit = 1 << 20

// allocate takes an allocation, or the end of one, on a device or, of -1, on the host.
func (p *process) allocate(f *recording.File, device, time int64, free bool, address uint64, size int64) {
	name := "device memory in use"
	if device < 0 {
		name = "host memory in use"
	}
	size = max(0, size)
	if free {
		if known, ok := p.sizes[address]; ok {
			size = known
			delete(p.sizes, address)
		}
		size = -min(size, p.used[device])
	} else if len(p.sizes) < sizeLimit {
		p.sizes[address] = size
	}
	p.used[device] = nest.AddTime(p.used[device], size)
	if id, ok := f.Metric(name, "B", trace.MetricAbsoluteNext, trace.TypeInt64); ok {
		if l := p.sampler(device); l != nil {
			f.Value(l, time, id, float64(p.used[device]))
		}
	}
}
