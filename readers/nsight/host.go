package nsight

import (
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/sqlite"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

const (
	runtimeTable = "CUPTI_ACTIVITY_KIND_RUNTIME"
	kernelTable  = "CUPTI_ACTIVITY_KIND_KERNEL"
)

// The types of rows of NVTX_EVENTS.
const (
	nvtxMark     = 34
	nvtxThread   = 39
	nvtxPushPop  = 59
	nvtxStartEnd = 60
	nvtxImported = 70 // and the next
	nvtxDomain   = 75
)

// nvtx reads the ranges and marks of the program.
func (r *report) nvtx() error {
	return r.scan("NVTX_EVENTS", []string{"start", "end", "eventType", "text", "textId", "domainId", "globalTid", "jsonText", "jsonTextId",
		"binaryData"}, func(v []sqlite.Value) {
		t, domain := r.thread(&v[6]), v[5].Int()
		switch v[2].Int() {
		case nvtxDomain:
			if name := r.f.Keep([]byte(r.text(&v[3], &v[4]))); name != "" {
				t.process.domains[domain] = name
			}
		case nvtxThread:
			r.nameThread(t.id, r.text(&v[3], &v[4]), 1<<30)
		case nvtxMark:
			if t.track != nil && v[0].Is() {
				t.track.Moment()
				t.track.Stream.AddOther(v[0].Int(), trace.KindInstant, uint64(r.f.Text(r.rangeOf(t, v).name)))
			}
		case nvtxPushPop:
			r.pushed(t, v)
		case nvtxStartEnd, nvtxImported, nvtxImported + 1:
			if begin, dur, ok := r.span(&v[0], &v[1]); ok {
				if l := r.ranges(t.process); l != nil {
					l.Put(begin, dur, r.f.Region(r.rangeOf(t, v).name, recording.Annotation), nest.Call{})
				}
			}
		}
	})
}

// A pushRange is what rows of the same name have in common.
type pushRange struct {
	name   string
	what   recording.What
	region trace.RegionID // of what; if it is known
	known  bool
	mpi    bool
	nccl   bool
}

// rangeOf returns what the name of a range or mark says.
func (r *report) rangeOf(t *thread, v []sqlite.Value) *pushRange {
	domain, direct := v[5].Int(), v[3].Bytes()
	if domain == 0 && v[3].Is() && len(direct) <= wire.NameLimit {
		if p, ok := r.pushes[string(operator(direct))]; ok { // nearly always, so that no row makes a string
			return p
		}
	}
	name := operator(r.text(&v[3], &v[4]))
	if name == "" {
		name = "(range without a name)"
	}
	if domain != 0 {
		name = inDomain(t.process.domains[domain], name)
	}
	p, ok := r.pushes[name]
	if ok {
		return p
	}
	p = &pushRange{name: name, what: recording.Annotation, mpi: strings.HasPrefix(name, "MPI_"), nccl: strings.HasPrefix(name, "nccl")}
	if p.mpi {
		p.what = recording.Call(name)
	}
	if len(r.pushes) < nameLimit {
		r.pushes[name] = p
	}
	return p
}

// operator returns the name of a range without what PyTorch adds to those of operators, other numbers in each execution.
func operator[T string | []byte](name T) T {
	for i := 1; i < len(name); i++ {
		if name[i] != ',' {
			continue
		}
		for _, mark := range [...]string{", seq = ", ", op_id = ", ", sizes = ["} {
			if len(name)-i >= len(mark) && string(name[i:i+len(mark)]) == mark {
				return name[:i]
			}
		}
	}
	return name
}

// inDomain returns the name of a range for people: those of MPI and NCCL tell where they belong.
func inDomain(domain, name string) string {
	if domain == "" || domain == "MPI" || domain == "NCCL" || strings.HasPrefix(name, domain) {
		return name
	}
	return domain + ": " + name
}

// pushed takes a range that nests on its thread.
func (r *report) pushed(t *thread, v []sqlite.Value) {
	begin, dur, ok := r.span(&v[0], &v[1])
	if !ok || t.track == nil {
		return
	}
	p := r.rangeOf(t, v)
	if !p.known {
		p.region, p.known = r.f.Region(p.name, p.what), true
	}
	switch {
	case p.mpi:
		t.process.Works = true
	case p.nccl:
		fields, known := r.payload(r.text(&v[7], &v[8]), v[9].Bytes())
		r.nccl.span(t, p.name, begin, dur, fields, known)
	}
	t.track.Put(begin, dur, p.region, nest.Call{})
}

// ranges returns the location of a process's ranges that may overlap.
func (r *report) ranges(p *process) *recording.Track {
	if p.ranges == nil {
		if p.ranges = p.NewThread("async user_annotation", 1<<tidBits); p.ranges != nil {
			p.ranges.Async, p.ranges.Kind = true, trace.LocationUnknown // no thread
		}
	}
	return p.ranges
}

// versioned is what the recorder adds to the names of calls.
var versioned = trace.Expression(`_v\d+$`)

// A regionKey is the name of a call and its class.
type regionKey struct{ name, class int64 }

// calls reads the calls of the runtime and the driver.
func (r *report) calls() error {
	regions := make(map[regionKey]trace.RegionID)
	return r.scan(runtimeTable, []string{"start", "end", "eventClass", "globalTid", "correlationId", "nameId"}, func(v []sqlite.Value) {
		class := v[2].Int()
		if class != 0 && class != 1 {
			r.rows++
			return
		}
		begin, dur, ok := r.span(&v[0], &v[1])
		t := r.thread(&v[3])
		if !ok || t.track == nil {
			return
		}
		key := regionKey{v[5].Int(), class}
		region, known := regions[key]
		if !known {
			what := recording.Runtime(trace.ParadigmCUDA)
			if class == 1 {
				what = recording.Driver(trace.ParadigmCUDA)
			}
			region = r.f.Region(versioned().ReplaceAllLiteralString(r.strings.Of(&v[5]), ""), what)
			if len(regions) < nameLimit {
				regions[key] = region
			}
		}
		if id := v[4].Int(); id != 0 {
			t.track.Stream.AddAttr(recording.AttrCorrelation, trace.TypeUint64, uint64(id))
			r.nccl.launch(t, begin, id)
		}
		t.track.Put(begin, dur, region, nest.Call{})
	})
}

// osrt reads the calls of the operating system's libraries.
func (r *report) osrt() error {
	return r.functions("OSRT_API", "nameId", recording.Call)
}

// overhead reads what measuring took.
func (r *report) overhead() error {
	measurement := func(string) recording.What { return recording.Measurement }
	if err := r.functions("CUPTI_ACTIVITY_KIND_OVERHEAD", "nameId", measurement); err != nil {
		return err
	}
	return r.functions("PROFILER_OVERHEAD", "nameId", measurement)
}

// functions reads a table of calls, whose names a column tells.
func (r *report) functions(table, name string, what func(string) recording.What) error {
	regions := make(map[int64]trace.RegionID)
	return r.scan(table, []string{"start", "end", "globalTid", name}, func(v []sqlite.Value) {
		begin, dur, ok := r.span(&v[0], &v[1])
		t := r.thread(&v[2])
		if !ok || t.track == nil {
			return
		}
		region, known := regions[v[3].Int()]
		if !known {
			text := r.strings.Of(&v[3])
			region = r.f.Region(text, what(text))
			if len(regions) < nameLimit {
				regions[v[3].Int()] = region
			}
		}
		t.track.Put(begin, dur, region, nest.Call{})
	})
}
