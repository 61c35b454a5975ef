// Package nsight reads one of the formats of package readers: what Nsight Systems exports as
// SQLite (nsys export --type sqlite), of one report or several, which are one run then.
//
// Tables and columns come and go with versions of the recorder, and those without rows are left
// out; each is looked up by its name, and a missing one is nothing bad. Read are
//
//	CUPTI_ACTIVITY_KIND_RUNTIME      calls, of classes 0 (runtime) and 1 (driver): others repeat these
//	…_KERNEL, _MEMCPY, _MEMSET       what streams execute; linked to the call of the same process and correlation
//	…_GRAPH_TRACE                    launched graphs, where their kernels were not recorded
//	NVTX_EVENTS                      push/pop ranges (59) on threads; start/end ranges (60) and imported ones on a
//	                                 location of their own, since they may overlap; marks (34) are moments.
//	                                 "domain: name" if the domain is neither the default nor that of MPI or NCCL.
//	                                 Of payloads, as text or as bytes that NVTX_PAYLOAD_SCHEMA_ENTRIES describes, the
//	                                 numbers of NCCL: bytes, peer, communicator
//	MPI_P2P_EVENTS, _COLLECTIVES_EVENTS, _START_WAIT_EVENTS, _OTHER_EVENTS, MPI_COMMUNICATORS, MPI_RANKS
//	                                 calls, messages and collectives. Versions of 2022 have ranges of NVTX alone
//	OSRT_API                         calls of the operating system's libraries
//	CUPTI_ACTIVITY_KIND_OVERHEAD, PROFILER_OVERHEAD
//	                                 what measuring took, as regions of that paradigm
//	GPU_METRICS                      counters of devices
//	CUDA_GPU_MEMORY_USAGE_EVENTS     a counter of the memory in use, by device and process
//	DIAGNOSTIC_EVENT                 warnings of the recorder, as findings
//
// Times are nanoseconds since the begin of the session, whose time since 1970 puts reports on one
// axis. A process is told by the upper bits of a global identifier, a thread by its lower 24.
//
// The export holds the environment of the processes and what they printed, with what is secret
// in it. Of these only the rank of the process is looked for.
package nsight

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/sqlite"
	"tracekit/trace"
)

// Format is the name of the format.
const Format = "nsight"

// extension is that of exported files, by which those in a directory are told.
const extension = ".sqlite"

// Sniff reports whether a path is an export, or a directory with exports, sound or not. head is how the file begins, nil for a directory.
func Sniff(path string, head []byte) bool {
	if head == nil {
		return slices.ContainsFunc(recording.FilesIn(path, extension, 0), isExport)
	}
	return sqlite.Is(head) && isExport(path)
}

// isExport reports whether a file is an export.
func isExport(path string) bool { return recording.Holds(path, hasReport) }

// hasReport reports whether a database is an export.
func hasReport(db *sqlite.File) bool {
	if !db.Table("StringIds").Has("value") {
		return false
	}
	for _, name := range []string{"META_DATA_EXPORT", "EXPORT_META_DATA", "NVTX_EVENTS", runtimeTable, kernelTable} {
		if db.Table(name) != nil {
			return true
		}
	}
	return false
}

// FilesOf returns the files of the trace that a path stands for, of those that are there.
func FilesOf(path string, there []string) (files []string) {
	for _, name := range there {
		if strings.HasSuffix(name, extension) && (name == path || filepath.ToSlash(filepath.Dir(name)) == path) {
			files = append(files, name)
		}
	}
	return files
}

// Open reads one trace from exports, or from directories of them. An error wraps trace.ErrNotATrace if one is none.
func Open(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	return recording.Open(ctx, Format, recording.Files(paths, extension, 0), o, read)
}

// A report is an export while it is read.
type report struct {
	ctx       context.Context
	f         *recording.File
	db        *sqlite.File
	strings   recording.Strings
	processes map[uint64]*process // by identifier
	programs  map[uint64]string   // names of processes
	threads   map[uint64]*thread
	named     map[uint64]threadName
	streams   map[streamKey]*recording.Track
	pushes    map[string]*pushRange
	last      *thread // that was looked for
	lone      *process
	nccl      ncclRanges
	payloads  map[schemaKey]*schema
	physical  map[visibleDevice]int64 // the GPU of the host; nothing if it has the same number
	read      map[string]bool         // tables, in lower case
	rows      uint64                  // that repeat others
	negative  uint64                  // events that end before they begin
}

// read reads an export.
func read(ctx context.Context, f *recording.File) error {
	db, err := recording.OpenDatabase(f)
	if err != nil {
		return err
	}
	defer db.Close()
	changed := db.Watch()
	r := &report{ctx: ctx, f: f, db: db, processes: make(map[uint64]*process), programs: make(map[uint64]string),
		threads: make(map[uint64]*thread), named: make(map[uint64]threadName), streams: make(map[streamKey]*recording.Track),
		pushes: make(map[string]*pushRange), nccl: newNcclRanges(), physical: make(map[visibleDevice]int64),
		read: make(map[string]bool)}
	if !hasReport(db) {
		return fmt.Errorf("%s: %w: it is a database, but no export of Nsight Systems", f.Path, trace.ErrNotATrace)
	}
	for _, step := range []func() error{r.about, r.names, r.schemas, r.nvtx, r.calls, r.device, r.osrt, r.mpi, r.overhead, r.counters,
		r.diagnostics, r.leftOut} {
		if err := step(); err != nil {
			return err
		}
	}
	r.f.Ledger.AddN(trace.CodeRedundantRecord, r.rows, f.Place(-1), "calls of the runtime, once more with their backtraces")
	r.f.Ledger.AddN(trace.CodeBadValue, r.negative, f.Place(-1), "an event that ends before it begins; taken as a moment")
	r.nccl.note(f)
	f.Changed(changed())
	return nil
}

// scan passes rows of a table on. A table that is not there has none.
func (r *report) scan(table string, columns []string, row func(v []sqlite.Value)) error {
	r.read[strings.ToLower(table)] = true
	return r.db.Table(table).Rows(r.ctx, columns, func(v []sqlite.Value) bool { row(v); return true })
}

// span returns the begin and the duration of an event, of which the end may be missing; ok is false without a begin.
func (r *report) span(start, end *sqlite.Value) (begin, dur int64, ok bool) {
	begin = start.Int()
	switch dur = end.Int() - begin; {
	case !start.Is():
		r.f.Ledger.Add(trace.CodeBadValue, r.f.Place(-1), "an event without a begin")
		return 0, 0, false
	case !end.Is():
		return begin, openEnd, true
	case dur < 0:
		r.negative++
		return begin, 0, true
	}
	return begin, dur, true
}

// about reads what the export says of itself.
func (r *report) about() error {
	f := r.f
	f.Creator = "Nsight Systems"
	meta := func(v []sqlite.Value) {
		switch v[0].String() {
		case "EXPORT_PRODUCT_VERSION":
			f.Creator = "Nsight Systems " + f.Keep(v[1].Bytes())
		case "EXPORT_SCHEMA_VERSION":
			f.Version = f.Keep(v[1].Bytes())
		}
	}
	for _, table := range []string{"EXPORT_META_DATA", "META_DATA_EXPORT"} {
		if err := r.scan(table, []string{"name", "value"}, meta); err != nil {
			return err
		}
	}
	if err := r.scan("TARGET_INFO_SESSION_START_TIME", []string{"utcEpochNs"}, func(v []sqlite.Value) {
		if n := v[0].Int(); n > 0 {
			f.Epoch, f.HasEpoch = n, true
		}
	}); err != nil {
		return err
	}
	var launch recording.Launch
	if err := r.scan("TARGET_INFO_SYSTEM_ENV", []string{"name", "value"}, func(v []sqlite.Value) {
		switch v[0].String() {
		case "Hostname":
			f.Host = f.Keep(v[1].Bytes())
		case "DeviceEnvironment":
			launch.Take(v[1].Bytes())
		}
	}); err != nil {
		return err
	}
	if err := r.scan("META_DATA_CAPTURE", []string{"name", "value"}, func(v []sqlite.Value) {
		if strings.HasSuffix(v[0].String(), "ENVIRONMENT_VARIABLE") {
			launch.Take(v[1].Bytes())
		}
	}); err != nil {
		return err
	}
	f.Rank, f.JobSize, f.HasRank = launch.Rank()
	if err := r.scan("TARGET_INFO_CUDA_DEVICE", []string{"pid", "cudaId", "gpuId"}, func(v []sqlite.Value) {
		if len(r.physical) < nameLimit && v[2].Is() {
			r.physical[visibleDevice{v[0].Int(), v[1].Int()}] = v[2].Int()
		}
	}); err != nil {
		return err
	}
	return r.scan("TARGET_INFO_GPU", []string{"id", "name"}, func(v []sqlite.Value) {
		f.Describe(fmt.Sprintf("GPU %d", v[0].Int()), v[1].Bytes())
	})
}

// diagnostics makes findings of the recorder's warnings.
func (r *report) diagnostics() error {
	const warning = 2 // severities below are information
	return r.scan("DIAGNOSTIC_EVENT", []string{"severity", "text"}, func(v []sqlite.Value) {
		if v[0].Int() >= warning {
			r.f.Ledger.Add(trace.CodeWriterWarning, r.f.Place(-1), fmt.Sprintf("%.300s", v[1].String()))
		}
	})
}

// repeats are tables of events that others have as well: calls that wait or record, and where graphs were made.
var repeats = [...]string{"cupti_activity_kind_synchronization", "cupti_activity_kind_cuda_event", "cuda_graph_events",
	"cuda_graph_node_events"}

// leftOut tells of tables that have events and are not read.
func (r *report) leftOut() error {
	for _, table := range repeats {
		r.read[table] = true
	}
	return r.f.Unread(r.ctx, r.db, r.read)
}
