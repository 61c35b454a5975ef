package jsontrace

import "tracekit/trace"

// metadataLimit bounds the number of processes and threads that M events may describe.
const metadataLimit = 1 << 18

// metadata holds what the M events say about processes and threads.
type metadata struct {
	processes map[ident]string
	threads   map[[2]ident]string
}

func newMetadata() metadata {
	return metadata{make(map[ident]string), make(map[[2]ident]string)}
}

// metadataEvent takes an M, wherever in the file it stands.
func (f *file) metadataEvent(ev *event) {
	if string(ev.cat) == "dftracer" && f.dft.metadata(f, ev) {
		return
	}
	if len(f.meta.processes)+len(f.meta.threads) > metadataLimit {
		return
	}
	pid := f.lanes.pid(ev.pid)
	switch string(ev.name) {
	case "process_name":
		if name := unescape(text(member(ev.args, "name"))); name != "" {
			f.meta.processes[pid] = name
		}
	case "thread_name":
		tid := f.lanes.tid(ev.pid, ev.tid)
		if name := unescape(text(member(ev.args, "name"))); name != "" {
			f.meta.threads[[2]ident{pid, tid}] = name
		}
	case "trace_buffer_overflowed":
		f.find(trace.CodeUnfinalised, -1, "the writer says that its buffer overflowed")
	}
}
