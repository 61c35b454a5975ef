package rocpd

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"sort"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/spool"
	"tracekit/readers/internal/sqlite"
	"tracekit/spill"
	"tracekit/trace"
)

// A set is the tables of one process while they are read.
type set struct {
	ctx        context.Context
	f          *recording.File
	db         *sqlite.File
	suffix     string
	read       map[string]bool // tables of all sets, in lower case
	strings    recording.Strings
	categories recording.Strings // where they are not strings
	processes  map[int64]*process
	commands   map[int64]processRow
	threadRows map[int64]threadRow
	threads    map[[2]int64]*thread // by process and thread
	list       []*thread
	nobody     *thread
	agents     map[int64]agent
	streams    recording.Strings
	queues     recording.Strings
	byQueue    bool // streams are not told
	kernels    map[int64]trace.RegionID
	counters   map[int64]counter
	tracks     map[int64]where
	times      *spill.Table[moment]
	waiting    *spool.Spool // what hangs on events
	targets    []*recording.Track
	targetOf   map[*recording.Track]uint64
	events     *spool.Stream
	wrong      uint64 // rows without a begin
	negative   uint64
	values     uint64 // counters whose event is unknown
}

type processRow struct {
	pid     int64
	command string
}

type threadRow struct {
	process, tid int64
	name         string
}

// A thread is a thread with events.
type thread struct {
	process *process
	track   *recording.Track // nil: there are too many
	number  uint64
}

// where says where rows of a track belong, in versions whose rows do not say it.
type where struct{ process, thread, agent, queue, stream, name int64 }

type counter struct {
	name, unit string
	device     int64 // -1: none
}

// A moment is a time of version 4.0, which keeps them in a table of their own.
type moment struct{ id, time int64 }

// rowLimit bounds what definitions there are of each kind.
const rowLimit = 1 << 20

func newSet(ctx context.Context, f *recording.File, db *sqlite.File, suffix string, read map[string]bool) *set {
	s := &set{ctx: ctx, f: f, db: db, suffix: suffix, read: read, processes: make(map[int64]*process), commands: make(map[int64]processRow),
		threadRows: make(map[int64]threadRow), threads: make(map[[2]int64]*thread), agents: make(map[int64]agent),
		kernels: make(map[int64]trace.RegionID), counters: make(map[int64]counter), tracks: make(map[int64]where),
		targetOf: make(map[*recording.Track]uint64), waiting: spool.New(f.Set.Spool.Store())}
	s.events = s.waiting.Stream(0)
	s.times = spill.NewTable[moment](f.Set.Spool.Store())
	return s
}

// all reads the tables.
func (s *set) all() error {
	defer s.waiting.Close()
	defer s.times.Release()
	for _, step := range []func() error{s.definitions, s.happened, s.calls, s.dispatches, s.copies, s.allocations, s.samples, s.join} {
		if err := step(); err != nil {
			return err
		}
	}
	s.f.Ledger.AddN(trace.CodeBadValue, s.wrong, s.f.Place(-1), "an event without a begin or an end")
	s.f.Ledger.AddN(trace.CodeBadValue, s.negative, s.f.Place(-1), "an event that ends before it begins; taken as a moment")
	s.f.Ledger.AddN(trace.CodeDanglingReference, s.values, s.f.Place(-1), "values of counters, whose event is not there")
	return nil
}

func (s *set) table(name string) *sqlite.Table {
	name = prefix + name + s.suffix
	s.read[strings.ToLower(name)] = true
	return s.db.Table(name)
}

// scan passes rows of a table on. A table that is not there has none.
func (s *set) scan(table string, columns []string, row func(v []sqlite.Value)) error {
	return s.table(table).Rows(s.ctx, columns, func(v []sqlite.Value) bool { row(v); return true })
}

// definitions reads who and what there is.
func (s *set) definitions() error {
	machine := ""
	lost := uint64(0)
	for _, d := range []struct {
		table   string
		columns []string
		row     func(v []sqlite.Value)
	}{
		{"metadata", []string{"tag", "value"}, func(v []sqlite.Value) {
			if v[0].String() == "schema_version" {
				s.f.Version = s.f.Keep(v[1].Bytes())
			}
		}},
		{"string", []string{"id", "string"}, func(v []sqlite.Value) {
			if !s.strings.Add(v[0].Int(), v[1].Bytes()) {
				lost++
			}
		}},
		{"info_category", []string{"id", "name"}, func(v []sqlite.Value) { s.categories.Add(v[0].Int(), v[1].Bytes()) }},
		{"info_node", []string{"hostname", "machine_id"}, func(v []sqlite.Value) {
			s.f.Host, machine = s.f.Keep(v[0].Bytes()), s.f.Keep(v[1].Bytes())
			s.f.Clock = "the start of " + s.f.Host + " " + machine
		}},
		{"info_process", []string{"id", "pid", "command", "environment"}, s.process},
		{"info_thread", []string{"id", "pid", "tid", "name"}, func(v []sqlite.Value) {
			if len(s.threadRows) < rowLimit {
				s.threadRows[v[0].Int()] = threadRow{v[1].Int(), v[2].Int(), s.f.Keep(v[3].Bytes())}
			}
		}},
		{"info_agent", []string{"id", "type", "type_index", "product_name"}, func(v []sqlite.Value) {
			if len(s.agents) < rowLimit {
				a := agent{v[1].String() == "GPU", v[2].Int()}
				s.agents[v[0].Int()] = a
				if a.gpu {
					s.f.Describe(fmt.Sprintf("GPU %d", a.number), v[3].Bytes())
				}
			}
		}},
		{"info_stream", []string{"id", "name"}, func(v []sqlite.Value) { s.streams.Add(v[0].Int(), v[1].Bytes()) }},
		{"info_queue", []string{"id", "name"}, func(v []sqlite.Value) { s.queues.Add(v[0].Int(), v[1].Bytes()) }},
		{"info_kernel_symbol", []string{"id", "kernel_name", "display_name"}, func(v []sqlite.Value) {
			if len(s.kernels) < rowLimit {
				s.kernels[v[0].Int()] = s.f.Region(kernelName(v[2].String(), v[1].String()), kernelWhat)
			}
		}},
		{"info_pmc", []string{"id", "name", "units", "agent_id"}, func(v []sqlite.Value) {
			c := counter{s.f.Keep(v[1].Bytes()), s.f.Keep(v[2].Bytes()), -1}
			if a := s.agents[v[3].Int()]; a.gpu && v[3].Is() {
				c.device = a.number
			}
			if len(s.counters) < rowLimit {
				s.counters[v[0].Int()] = c
			}
		}},
		{"track", []string{"id", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"}, func(v []sqlite.Value) {
			if len(s.tracks) < rowLimit {
				s.tracks[v[0].Int()] = where{v[1].Int(), v[2].Int(), v[3].Int(), v[4].Int(), v[5].Int(), v[6].Int()}
			}
		}},
		{"timestamp", []string{"id", "value"}, func(v []sqlite.Value) { s.times.Append(moment{v[0].Int(), v[1].Int()}) }},
	} {
		if err := s.scan(d.table, d.columns, d.row); err != nil {
			return err
		}
	}
	s.f.Ledger.AddN(trace.CodeLimitExceeded, lost, s.f.Place(-1), "strings; the last ones are not known")
	some := false
	err := s.table("arg").Rows(s.ctx, nil, func([]sqlite.Value) bool { some = true; return false })
	if some {
		s.f.Ledger.Add(trace.CodeArgumentsLeftOut, s.f.Place(-1), "the table of arguments of calls")
	}
	return err
}

// process takes a row of info_process.
func (s *set) process(v []sqlite.Value) {
	if len(s.commands) == rowLimit {
		return
	}
	command, _, _ := strings.Cut(s.f.Keep(v[2].Bytes()), " ")
	s.commands[v[0].Int()] = processRow{v[1].Int(), path.Base(command)}
	var launch recording.Launch
	launch.Take(v[3].Bytes())
	if rank, size, ok := launch.Rank(); ok {
		p := s.processOf(v[0].Int())
		p.Rank, p.HasRank, s.f.JobSize = rank, true, max(size, s.f.JobSize)
	}
}

// processOf returns the process of an identifier.
func (s *set) processOf(id int64) *process {
	p := s.processes[id]
	if p == nil {
		row, ok := s.commands[id]
		if !ok {
			row.pid = id
		}
		room := s.f.Room()
		if p = newProcess(s.f.NewProcess(row.command, row.pid)); room {
			s.processes[id] = p
		}
	}
	return p
}

// thread returns the thread of identifiers.
func (s *set) thread(process, id int64) *thread {
	t := s.threads[[2]int64{process, id}]
	if t == nil {
		row, ok := s.threadRows[id]
		if !ok {
			row.tid = id
		}
		p := s.processOf(process)
		name := row.name
		if name == "" {
			name = fmt.Sprintf("thread %d", row.tid)
		}
		if !s.f.Room() {
			return s.crowd()
		}
		t = &thread{process: p, track: p.NewThread(name, row.tid), number: uint64(len(s.list))}
		s.threads[[2]int64{process, id}] = t
		s.list = append(s.list, t)
	}
	return t
}

// crowd returns the thread of all that are too many, which has no track.
func (s *set) crowd() *thread {
	if s.nobody == nil {
		s.nobody = &thread{process: newProcess(s.f.NewProcess("", 0)), number: uint64(len(s.list))}
		s.list = append(s.list, s.nobody)
	}
	return s.nobody
}

// placed are the columns that say where and when something happened, in all versions.
var placed = []string{"start", "end", "start_id", "end_id", "track_id", "pid", "tid", "agent_id", "queue_id", "stream_id", "event_id"}

// A place is what these columns say.
type place struct {
	where
	begin, dur int64
	event      int64
}

// place reads them; ok is false if something of it is missing.
func (s *set) place(v []sqlite.Value) (p place, ok bool) {
	begin, known := s.time(&v[0], &v[2])
	end, ended := s.time(&v[1], &v[3])
	if !known || !ended {
		s.wrong++
		return p, false
	}
	if p.begin, p.dur = begin, end-begin; p.dur < 0 {
		p.dur = 0
		s.negative++
	}
	if v[4].Is() {
		p.where = s.tracks[v[4].Int()]
	} else {
		p.where = where{v[5].Int(), v[6].Int(), v[7].Int(), v[8].Int(), v[9].Int(), 0}
	}
	p.event = v[10].Int()
	return p, true
}

// time returns a time that stands in a row, or that it refers to.
func (s *set) time(direct, id *sqlite.Value) (t int64, ok bool) {
	if direct.Is() {
		return direct.Int(), true
	}
	if !id.Is() {
		return 0, false
	}
	i := sort.Search(s.times.Len(), func(i int) bool { return s.times.Ptr(i).id >= id.Int() })
	if i == s.times.Len() || s.times.Ptr(i).id != id.Int() {
		return 0, false
	}
	return s.times.Ptr(i).time, true
}

// The records that wait for the event of their number, which stands in the place of the time: the event and the values of its counters
// come first.
const (
	recordEvent  trace.Kind = 240 + iota // category, stack, message + 1
	recordValue                          // counter, value
	recordCall                           // thread, begin, duration, name
	recordWork                           // target, begin, duration, region, bytes
	recordSample                         // process, thread, time, name
)

const (
	tieEvent int64 = iota
	tieValue
	tieRow
)

// wait keeps a record until those of its event are there.
func (s *set) wait(event int64, kind trace.Kind, tie int64, args ...uint64) {
	s.events.Tie = tie
	s.events.AddOther(event, kind, args...)
}

// happened reads events and the values of counters.
func (s *set) happened() error {
	err := s.scan("event", []string{"id", "category_id", "stack_id", "extdata"}, func(v []sqlite.Value) {
		message := uint64(0)
		if text := messageIn(v[3].Bytes()); text != "" {
			message = uint64(s.f.Text(text)) + 1
		}
		s.wait(v[0].Int(), recordEvent, tieEvent, uint64(v[1].Int()), uint64(v[2].Int()), message)
	})
	if err != nil {
		return err
	}
	return s.scan("pmc_event", []string{"event_id", "pmc_id", "value"}, func(v []sqlite.Value) {
		s.wait(v[0].Int(), recordValue, tieValue, uint64(v[1].Int()), floatBits(v[2].Float()))
	})
}

// messageIn returns the text of a marker, "" if there is none.
func messageIn(extdata []byte) string {
	if !strings.Contains(string(extdata), `"message"`) {
		return ""
	}
	var data struct{ Message string }
	if json.Unmarshal(extdata, &data) != nil {
		return ""
	}
	return data.Message
}

// calls reads regions.
func (s *set) calls() error {
	return s.scan("region", append(placed, "name_id"), func(v []sqlite.Value) {
		if p, ok := s.place(v); ok {
			t := s.thread(p.process, p.where.thread)
			s.wait(p.event, recordCall, tieRow, t.number, uint64(p.begin), uint64(p.dur), uint64(v[11].Int()))
		}
	})
}

// target returns the number of the stream that something is executed on.
func (s *set) target(p *place, device int64) (number uint64, ok bool) {
	stream, kind, names := p.stream, "stream", &s.streams
	if s.byQueue {
		stream, kind, names = p.queue, "queue", &s.queues
	}
	l := s.processOf(p.process).stream(device, stream, func() string {
		if name := names.At(stream); strings.HasPrefix(name, "Default") {
			return fmt.Sprintf("%s %d (%s)", kind, stream, strings.ToLower(strings.Fields(name)[0]))
		}
		return fmt.Sprintf("%s %d", kind, stream)
	})
	if l == nil {
		return 0, false
	}
	number, known := s.targetOf[l]
	if !known {
		number = uint64(len(s.targets))
		s.targets = append(s.targets, l)
		s.targetOf[l] = number
	}
	return number, true
}

// dispatches reads kernels.
func (s *set) dispatches() error {
	streams := 0
	if err := s.scan("info_stream", nil, func([]sqlite.Value) { streams++ }); err != nil {
		return err
	}
	s.byQueue = streams < 2
	return s.scan("kernel_dispatch", append(placed, "kernel_id"), func(v []sqlite.Value) {
		p, ok := s.place(v)
		if !ok {
			return
		}
		region, known := s.kernels[v[11].Int()]
		if !known {
			region = s.f.Region("(kernel without a name)", kernelWhat)
		}
		if n, ok := s.target(&p, s.agents[p.agent].number); ok {
			s.wait(p.event, recordWork, tieRow, n, uint64(p.begin), uint64(p.dur), uint64(region), 0)
		}
	})
}

// copies reads copies.
func (s *set) copies() error {
	return s.scan("memory_copy", append(placed, "name_id", "dst_agent_id", "src_agent_id", "size"), func(v []sqlite.Value) {
		p, ok := s.place(v)
		if !ok {
			return
		}
		device := s.agents[v[12].Int()]
		if !device.gpu {
			device = s.agents[v[13].Int()]
		}
		region := s.f.Region(copyName(s.strings.Of(&v[11])), copyWhat)
		if n, ok := s.target(&p, device.number); ok {
			s.wait(p.event, recordWork, tieRow, n, uint64(p.begin), uint64(p.dur), uint64(region), uint64(max(0, v[14].Int()))+1)
		}
	})
}

// allocations reads what memory is in use.
func (s *set) allocations() error {
	return s.scan("memory_allocate", append(placed, "type", "address", "size"), func(v []sqlite.Value) {
		p, ok := s.place(v)
		if !ok {
			return
		}
		device := int64(-1)
		if a := s.agents[p.agent]; a.gpu {
			device = a.number
		}
		free := strings.Contains(strings.ToUpper(v[11].String()), "FREE")
		s.processOf(p.process).allocate(s.f, device, nest.AddTime(p.begin, p.dur), free, uint64(v[12].Int()), v[13].Int())
	})
}

// samples reads moments, which are those of counters if they have values.
func (s *set) samples() error {
	return s.scan("sample", []string{"track_id", "timestamp", "timestamp_id", "event_id", "name_id"}, func(v []sqlite.Value) {
		time, ok := s.time(&v[1], &v[2])
		if !ok {
			s.wrong++
			return
		}
		at := s.tracks[v[0].Int()]
		name := at.name
		if v[4].Is() && name == 0 {
			name = v[4].Int()
		}
		s.wait(v[3].Int(), recordSample, tieRow, uint64(at.process), uint64(at.thread), uint64(time), uint64(name))
	})
}
