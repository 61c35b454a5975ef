package perfetto

import (
	"strings"

	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// whats says what the categories of recorders of accelerators mean: rocprof-sys, rocprofv3, and those of
// PyTorch, which others have taken over.
var whats = map[string]recording.What{
	"rocm_kernel_dispatch": recording.Kernel(trace.ParadigmHIP), "kernel_dispatch": recording.Kernel(trace.ParadigmHIP),
	"rocm_memory_copy": recording.Copy(trace.ParadigmHIP), "memory_copy": recording.Copy(trace.ParadigmHIP),
	"rocm_hip_stream": recording.Kernel(trace.ParadigmHIP), "hip_stream": recording.Kernel(trace.ParadigmHIP),
	"device_hip": recording.Kernel(trace.ParadigmHIP), "device_hsa": recording.Kernel(trace.ParadigmHIP),
	"rocm_hip_api": recording.Runtime(trace.ParadigmHIP), "hip_api": recording.Runtime(trace.ParadigmHIP),
	"hip_runtime_api": recording.Runtime(trace.ParadigmHIP), "hip_compiler_api": recording.Runtime(trace.ParadigmHIP),
	"rocm_hsa_api": recording.Driver(trace.ParadigmHIP), "hsa_api": recording.Driver(trace.ParadigmHIP),
	"rocm_marker_api": recording.Annotation, "marker_api": recording.Annotation, "user_annotation": recording.Annotation,
	"rccl_api": recording.Annotation, "rocm_rccl_api": recording.Annotation, "gpu_user_annotation": recording.Annotation,
	"overhead": recording.Measurement,
	"kernel":   recording.Kernel(trace.ParadigmCUDA), "gpu_memcpy": recording.Copy(trace.ParadigmCUDA),
	"gpu_memset": recording.Memset(trace.ParadigmCUDA), "cuda_runtime": recording.Runtime(trace.ParadigmCUDA),
	"cuda_driver": recording.Driver(trace.ParadigmCUDA),
}

// copying are names of what copies memory, where a category has kernels and copies.
var copying = trace.Expression(`(?i)^(?:MEMORY_COPY_|memcpy|Copy(?:Host|Device)To)`)

// whatOf says what slices of a name and category are.
func whatOf(name, category string) recording.What {
	first, _, _ := strings.Cut(category, ",")
	what, known := whats[first]
	switch {
	case known && what.Role == trace.RoleKernel && copying().MatchString(name):
		return recording.Copy(what.Paradigm)
	case known:
		return what
	}
	if call := recording.Call(name); call.Paradigm != trace.ParadigmUser {
		return call
	}
	what = recording.Function
	what.Category = category
	return what
}

// copyNames are what rocprof calls the directions of copies, and what PyTorch does.
var copyNames = strings.NewReplacer("MEMORY_COPY_", "", "Copy", "", "HOST", "H", "DEVICE", "D", "Host", "H", "Device", "D",
	"_TO_", "to", "To", "to")

// nameOf returns the name of a region: those of copies are the same whatever recorded them.
func nameOf(name string, what recording.What) string {
	if what.Role != trace.RoleDataTransfer || strings.HasPrefix(name, "Memcpy") {
		return name
	}
	if short := copyNames.Replace(name); len(short) == len("HtoD") {
		return "Memcpy " + short
	}
	return name
}

// A kind is what the reader must know of a region for each event.
type kind uint8

const (
	kindKnown  kind = 1 << iota // what the region is was looked up
	kindDevice                  // an accelerator executes it
	kindLaunch                  // a call of a runtime
	kindMPI                     // communicates
)

// region returns the region of a name and category, which are numbers of texts.
func (r *reader) region(name, category uint32) trace.RegionID {
	key := uint64(name)<<32 | uint64(category)
	if id, ok := r.regions[key]; ok {
		return id
	}
	text := r.f.String(name)
	what := whatOf(text, r.f.String(category))
	id := r.f.Region(nameOf(text, what), what)
	if len(r.regions) < regionLimit {
		r.regions[key] = id
	}
	for len(r.kinds) <= int(id) {
		r.kinds = append(r.kinds, 0)
	}
	k := kindKnown
	switch {
	case what.Role == trace.RoleKernel || what.Role == trace.RoleDataTransfer:
		k |= kindDevice
	case what.Paradigm == trace.ParadigmMPI:
		k |= kindMPI
	case what.Role == trace.RoleFunction && what.Paradigm != trace.ParadigmUser && what.Paradigm != trace.ParadigmMeasurement:
		k |= kindLaunch
	}
	r.kinds[id] = k
	return id
}

const regionLimit = 1 << 20

// named returns the region that an event names.
func (r *reader) named(s *sequence, e *event) trace.RegionID {
	if e.name == nil && e.nameID != 0 && e.category == nil {
		if n := s.names.get(e.nameID); n != nil {
			if !n.resolved || n.category != e.categoryID {
				n.region = r.region(n.text, r.categoryOf(s, e))
				n.category, n.resolved = e.categoryID, true
			}
			return n.region
		}
	}
	return r.region(r.nameOf(s, e), r.categoryOf(s, e))
}

// nameOf returns the name of an event.
func (r *reader) nameOf(s *sequence, e *event) uint32 {
	if e.name == nil && e.nameID != 0 {
		if n := s.names.get(e.nameID); n != nil {
			return n.text
		}
		r.unknown++
		return r.text([]byte("(name not known)"))
	}
	return r.text(e.name)
}

func (r *reader) categoryOf(s *sequence, e *event) uint32 {
	if e.category == nil && e.categoryID != 0 {
		if c := s.categories.get(e.categoryID); c != nil {
			return c.text
		}
		r.unknown++
		return r.text(nil)
	}
	return r.text(e.category)
}

// text returns the number of a text.
func (r *reader) text(b []byte) uint32 {
	if id, ok := r.texts[string(b)]; ok {
		return id
	}
	text := strings.ToValidUTF8(string(b), "\uFFFD")
	id := r.f.Text(text)
	if r.textBytes+len(b)+48 < textLimit {
		r.textBytes += len(b) + 48
		r.texts[string(b)] = id
	}
	return id
}

const textLimit = 16 << 20

// An argument is what is read of the arguments of an event.
type argument uint8

const (
	argumentOther argument = iota
	argumentCorrelation
	argumentBytes
)

// argumentOf returns what an argument of a name is.
func argumentOf(name []byte) argument {
	switch string(name) {
	case "corr_id", "correlation", "correlation_id":
		return argumentCorrelation
	case "bytes", "size":
		return argumentBytes
	}
	return argumentOther
}
