package nsight

import (
	"fmt"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
)

// A streamKey tells a stream.
type streamKey struct {
	process                 uint64
	device, context, stream int64
}

// stream returns the stream that a row of device work names: its process, device, context and stream stand in four values.
func (r *report) stream(v []sqlite.Value) (p *process, l *recording.Track) {
	key := streamKey{uint64(v[0].Int()) >> tidBits, v[1].Int(), v[2].Int(), v[3].Int()}
	if p = r.processes[key.process]; !v[0].Is() {
		p = r.owner()
		key.process = 0
	} else if p == nil {
		p = r.process(key.process)
	}
	l, ok := r.streams[key]
	if ok || !r.f.Room() {
		return p, l
	}
	d := r.deviceOf(p, key.device)
	name := fmt.Sprintf("stream %d", key.stream)
	if context, taken := p.streams[[2]int64{key.device, key.stream}]; taken && context != key.context {
		name = fmt.Sprintf("stream %d (context %d)", key.stream, key.context)
	} else {
		p.streams[[2]int64{key.device, key.stream}] = key.context
	}
	l = d.NewStream(name, key.stream)
	r.streams[key] = l
	return p, l
}

// deviceOf returns a device of a process.
func (r *report) deviceOf(p *process, number int64) *recording.Device {
	d := p.devices[number]
	if d == nil {
		room := r.f.Room()
		if d = p.NewDevice(number); room {
			p.devices[number] = d
		}
	}
	return d
}

// owner returns the process of device work that names none: the only one with threads, else one that has nothing else.
func (r *report) owner() *process {
	if r.lone == nil {
		for _, t := range r.threads {
			if r.lone != nil && r.lone != t.process {
				r.lone = nil
				break
			}
			r.lone = t.process
		}
		if r.lone == nil {
			r.lone = r.process(0)
		}
	}
	return r.lone
}

// work puts what a stream executes.
func (r *report) work(v []sqlite.Value, region trace.RegionID, bytes *sqlite.Value) {
	begin, dur, ok := r.span(&v[0], &v[1])
	p, l := r.stream(v[3:7])
	if !ok || l == nil {
		return
	}
	id := v[2].Int()
	if id != 0 {
		l.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, uint64(id))
	}
	if bytes != nil && bytes.Is() {
		l.Stream.AddAttr(recording.AttrBytes, trace.TypeUint64, uint64(bytes.Int()))
	}
	l.Put(begin, dur, region, r.nccl.call(r.f, p, region, id))
}

// where are the columns of all device work.
var where = []string{"start", "end", "correlationId", "globalPid", "deviceId", "contextId", "streamId"}

// device reads what devices did.
func (r *report) device() error {
	type kernelName struct{ demangled, short int64 }
	kernels := make(map[kernelName]trace.RegionID)
	kernel := recording.Kernel(trace.ParadigmCUDA)
	if err := r.scan(kernelTable, append(where, "demangledName", "shortName", "mangledName"), func(v []sqlite.Value) {
		key := kernelName{v[7].Int(), v[8].Int()}
		region, known := kernels[key]
		if !known {
			name := "(kernel without a name)"
			for i := 9; i >= 7; i-- {
				if s := r.strings.Of(&v[i]); s != "" && (i != 9 || v[9].Is()) {
					name = s
				}
			}
			region = r.f.Region(name, kernel)
			if len(kernels) < nameLimit {
				kernels[key] = region
			}
		}
		r.work(v, region, nil)
	}); err != nil {
		return err
	}
	copies := make(map[[3]int64]trace.RegionID)
	if err := r.scan("CUPTI_ACTIVITY_KIND_MEMCPY", append(where, "copyKind", "srcKind", "dstKind", "bytes"), func(v []sqlite.Value) {
		key := [3]int64{v[7].Int(), kindOf(&v[8]), kindOf(&v[9])}
		region, known := copies[key]
		if !known {
			region = r.f.Region(copyName(key), recording.Copy(trace.ParadigmCUDA))
			if len(copies) < nameLimit {
				copies[key] = region
			}
		}
		r.work(v, region, &v[10])
	}); err != nil {
		return err
	}
	if err := r.scan("CUPTI_ACTIVITY_KIND_MEMSET", append(where, "memKind", "bytes"), func(v []sqlite.Value) {
		name := "Memset"
		if kind := memoryKind(kindOf(&v[7])); kind != "" {
			name += " (" + kind + ")"
		}
		r.work(v, r.f.Region(name, recording.Memset(trace.ParadigmCUDA)), &v[8])
	}); err != nil {
		return err
	}
	return r.scan("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", append(where, "graphId"), func(v []sqlite.Value) {
		r.work(v, r.f.Region(fmt.Sprintf("cudaGraph#%d", v[7].Int()), kernel), nil)
	})
}

// kindOf returns the kind of memory that a value tells, -1 if it tells none.
func kindOf(v *sqlite.Value) int64 {
	if !v.Is() {
		return -1
	}
	return v.Int()
}

// copyKinds are the directions of copies.
var copyKinds = map[int64]string{0: "", 1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH",
	10: "PtoP", 11: "HtoD (unified memory)", 12: "DtoH (unified memory)", 13: "DtoD (unified memory)"}

// copyName returns the name of a copy: its direction, and the kinds of memory, as PyTorch calls them.
func copyName(key [3]int64) string {
	name, known := copyKinds[key[0]]
	if !known {
		name = fmt.Sprintf("of kind %d", key[0])
	}
	if name != "" {
		name = " " + name
	}
	from, to := memoryKind(key[1]), memoryKind(key[2])
	if from == "" || to == "" {
		return "Memcpy" + name
	}
	return fmt.Sprintf("Memcpy%s (%s -> %s)", name, from, to)
}

// memoryKind names a kind of memory, "" if it is not known.
func memoryKind(kind int64) string {
	if kind < 0 || kind >= int64(len(memoryKinds)) {
		return ""
	}
	return memoryKinds[kind]
}

var memoryKinds = [...]string{"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}

// counters reads the counters of devices.
func (r *report) counters() error {
	if err := r.memory(); err != nil {
		return err
	}
	names := make(map[[2]int64]string)
	if err := r.scan("TARGET_INFO_GPU_METRICS", []string{"typeId", "metricId", "metricName"}, func(v []sqlite.Value) {
		if len(names) < nameLimit {
			names[[2]int64{v[0].Int(), v[1].Int()}] = r.f.Keep(v[2].Bytes())
		}
	}); err != nil {
		return err
	}
	tracks := make(map[int64]*recording.Track)
	return r.scan("GPU_METRICS", []string{"timestamp", "typeId", "metricId", "value"}, func(v []sqlite.Value) {
		gpu := v[1].Int() & 0xFF
		l, known := tracks[gpu]
		if !known {
			l = r.sampled(gpu)
			tracks[gpu] = l
		}
		name, ok := names[[2]int64{v[1].Int(), v[2].Int()}]
		if !ok || name == "" {
			name = fmt.Sprintf("metric %d", v[2].Int())
		}
		if id, ok := r.f.Metric(name, unitOf(name), trace.MetricAbsolutePoint, trace.TypeInt64); ok && l != nil && v[0].Is() {
			r.f.Value(l, v[0].Int(), id, v[3].Float())
		}
	})
}

// unitOf returns the unit of a metric, which its name may have in brackets at the end.
func unitOf(name string) string {
	for i := len(name) - 2; i > 0 && name[len(name)-1] == ']'; i-- {
		if name[i] == '[' {
			return name[i+1 : len(name)-1]
		}
	}
	return ""
}

// A visibleDevice is a device by the number that a process knows it by: the environment may hide some from it.
type visibleDevice struct{ pid, number int64 }

// gpuOf returns the GPU of the host that a device of a process is.
func (r *report) gpuOf(p *process, number int64) int64 {
	if gpu, known := r.physical[visibleDevice{p.Pid, number}]; known {
		return gpu
	}
	return number
}

// sampled returns the location of the counters of a GPU of the host: that of the process which uses it, else of one that has nothing else.
func (r *report) sampled(gpu int64) *recording.Track {
	var d *recording.Device
	least := ^uint64(0)
	for key, p := range r.processes {
		for number, used := range p.devices {
			if key < least && r.gpuOf(p, number) == gpu {
				d, least = used, key
			}
		}
	}
	if d == nil {
		p := r.owner()
		works := p.Works
		d = p.NewDevice(gpu)
		p.Works = works
		if p.devices[gpu] != nil { // another one, which the process knows by this number
			d.Name = fmt.Sprintf("GPU %d of the host", gpu)
		}
	}
	return d.NewSampler("GPU metrics")
}

// memory makes a counter of the allocations of device memory.
func (r *report) memory() error {
	const allocate, free = 0, 1
	used := make(map[*recording.Track]int64)
	columns := []string{"start", "globalPid", "deviceId", "bytes", "memoryOperationType"}
	return r.scan("CUDA_GPU_MEMORY_USAGE_EVENTS", columns, func(v []sqlite.Value) {
		p := r.process(uint64(v[1].Int()) >> tidBits)
		l, known := p.memory[v[2].Int()]
		if !known && r.f.Room() {
			if p.memory == nil {
				p.memory = make(map[int64]*recording.Track)
			}
			l = r.deviceOf(p, v[2].Int()).NewSampler("memory")
			p.memory[v[2].Int()] = l
		}
		id, ok := r.f.Metric("device memory in use", "B", trace.MetricAbsoluteNext, trace.TypeInt64)
		if l == nil || !ok || !v[0].Is() {
			return
		}
		switch v[4].Int() {
		case allocate:
			used[l] = nest.AddTime(used[l], max(0, v[3].Int()))
		case free:
			used[l] -= min(used[l], max(0, v[3].Int()))
		}
		r.f.Value(l, v[0].Int(), id, float64(used[l]))
	})
}
