package nsight

import (
	"fmt"
	"strconv"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/sqlite"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

const openEnd = nest.OpenEnd

// text returns a text that stands in a row, or, if not, that another column refers to.
func (r *report) text(direct, id *sqlite.Value) string {
	if direct.Is() {
		return wire.CutName(direct.String())
	}
	return r.strings.Of(id)
}

// tidBits are the bits of a global identifier that tell a thread of a process.
const tidBits = 24

// A process is a process of the report, as far as it has events.
type process struct {
	*recording.Process
	ranges  *recording.Track            // that may overlap
	domains map[int64]string            // of NVTX
	devices map[int64]*recording.Device // by number
	streams map[[2]int64]int64          // context of each device and stream that was met first
	memory  map[int64]*recording.Track  // by device
	comms   map[int64][]communicator    // by handle, ascending in time
	open    map[uint64][]pendingRequest // by handle
	pending int
}

// process returns the process of an identifier.
func (r *report) process(key uint64) *process {
	p := r.processes[key]
	if p == nil {
		pid, room := int64(key&(1<<tidBits-1)), r.f.Room()
		p = &process{Process: r.f.NewProcess(r.programs[key], pid), domains: make(map[int64]string),
			devices: make(map[int64]*recording.Device), streams: make(map[[2]int64]int64), open: make(map[uint64][]pendingRequest)}
		if room {
			r.processes[key] = p
		}
	}
	return p
}

// A thread is a thread with events.
type thread struct {
	id      uint64
	process *process
	track   *recording.Track // nil: there are too many
}

// thread returns the thread of a global identifier.
func (r *report) thread(v *sqlite.Value) *thread {
	id := uint64(v.Int())
	if r.last != nil && r.last.id == id {
		return r.last
	}
	t := r.threads[id]
	if t == nil {
		p := r.process(id >> tidBits)
		tid := int64(id & (1<<tidBits - 1))
		name := r.named[id].name
		if name == "" {
			name = fmt.Sprintf("thread %d", tid)
		}
		room := r.f.Room()
		if t = (&thread{id: id, process: p, track: p.NewThread(name, tid)}); room {
			r.threads[id] = t
		}
	}
	r.last = t
	return t
}

// A threadName is one of the names of a thread: a higher priority counts.
type threadName struct {
	name     string
	priority int64
}

var mpiRankName = trace.Expression(`^MPI Rank (\d{1,7})$`)

// nameLimit bounds the names of processes and threads.
const nameLimit = 1 << 20

// names reads the strings, and the names of processes and threads.
func (r *report) names() error {
	lost := uint64(0)
	if err := r.scan("StringIds", []string{"id", "value"}, func(v []sqlite.Value) {
		if !r.strings.Add(v[0].Int(), v[1].Bytes()) {
			lost++
		}
	}); err != nil {
		return err
	}
	r.f.Ledger.AddN(trace.CodeLimitExceeded, lost, r.f.Place(-1), "strings; the last ones are not known")
	if err := r.scan("PROCESSES", []string{"globalPid", "name"}, func(v []sqlite.Value) {
		if len(r.programs) < nameLimit {
			r.programs[uint64(v[0].Int())>>tidBits] = r.f.Keep(v[1].Bytes())
		}
	}); err != nil {
		return err
	}
	if err := r.scan("ThreadNames", []string{"globalTid", "nameId", "priority"}, func(v []sqlite.Value) {
		r.nameThread(uint64(v[0].Int()), r.strings.Of(&v[1]), v[2].Int())
	}); err != nil {
		return err
	}
	return r.scan("MPI_RANKS", []string{"globalTid", "rank"}, func(v []sqlite.Value) {
		if n := v[1].Int(); n >= 0 && n < trace.None {
			p := r.process(uint64(v[0].Int()) >> tidBits)
			p.Rank, p.HasRank, p.Works = uint32(n), true, true
		}
	})
}

// nameThread takes a name of a thread, which may tell a rank.
func (r *report) nameThread(id uint64, name string, priority int64) {
	if m := mpiRankName().FindStringSubmatch(name); m != nil {
		n, _ := strconv.ParseUint(m[1], 10, 32)
		if p := r.process(id >> tidBits); !p.HasRank {
			p.Rank, p.HasRank, p.Works = uint32(n), true, true
		}
	}
	old, ok := r.named[id]
	if (!ok && len(r.named) < nameLimit || ok && priority > old.priority) && name != "" {
		name = r.f.Keep([]byte(name))
		r.named[id] = threadName{name, priority}
		if t := r.threads[id]; t != nil && t.track != nil {
			t.track.Name = name
		}
	}
}
