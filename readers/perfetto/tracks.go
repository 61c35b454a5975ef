package perfetto

import (
	"fmt"
	"regexp"
	"strconv"

	"tracekit/readers/internal/protobuf"
	"tracekit/readers/internal/recording"
	"tracekit/trace"
)

// A track is what a TrackDescriptor describes, or what events name that none describes.
type track struct {
	index   int // among all tracks
	parent  uint64
	known   bool // it was described
	started bool // it has events
	later   bool // its events wait in reader.later until all tracks are described
	name    uint32
	kind    trackKind
	pid     int64
	tid     int64
	counter counter
	row     *recording.Track // nil: none, or there are too many
	kinds   kind             // of its slices
}

// A trackKind says what a track is of.
type trackKind uint8

const (
	plainTrack trackKind = iota
	processTrack
	threadTrack
	counterTrack
)

// A counter says how the values of a counter are meant.
type counter struct {
	unit        string
	multiplier  int64
	incremental bool
	metric      trace.MetricID
	hasMetric   bool
}

// A threadKey tells a thread.
type threadKey struct{ pid, tid int64 }

// trackLimit bounds the tracks of a file.
const trackLimit = 1 << 18

// track returns the track of an identifier, nil if there are too many.
func (r *reader) track(uuid uint64) *track {
	l := r.tracks[uuid]
	if l == nil {
		if len(r.list) >= trackLimit {
			r.limited("tracks; the last ones are left out")
			return nil
		}
		l = &track{index: len(r.list), counter: counter{multiplier: 1}}
		r.tracks[uuid] = l
		r.list = append(r.list, l)
	}
	return l
}

// describe takes a TrackDescriptor; a later one replaces what an earlier one says.
func (r *reader) describe(data []byte) {
	uuid, name := uint64(0), []byte(nil)
	d := track{counter: counter{multiplier: 1}}
	var called []byte // the name of the process or thread
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case 1:
			uuid = m.Value
		case 5:
			d.parent = m.Value
		case 2, 10, 13:
			name = m.Data
		case 3:
			if d.kind == plainTrack {
				d.kind = processTrack
			}
			if text := person(m.Data, &d, 6); text != nil && d.kind == processTrack {
				called = text
			}
		case 4:
			d.kind = threadTrack
			called = person(m.Data, &d, 5)
		case 8:
			d.kind = counterTrack
			d.counter.parse(m.Data)
		}
	}
	if m.Broken {
		r.broken()
		return
	}
	l := r.track(uuid)
	if l == nil {
		return
	}
	l.known, l.parent, l.kind, l.pid, l.tid = true, d.parent, d.kind, d.pid, d.tid
	if l.counter.unit, l.counter.multiplier, l.counter.incremental = d.counter.unit, d.counter.multiplier, d.counter.incremental; name != nil {
		l.name = r.text(name)
	}
	if len(called) == 0 {
		called = name
	}
	switch {
	case len(called) == 0:
	case d.kind == processTrack:
		r.processNames[d.pid] = r.text(called)
	case d.kind == threadTrack:
		r.threadNames[threadKey{d.pid, d.tid}] = r.text(called)
	}
}

// describeProcess takes a ProcessDescriptor that is a packet of its own.
func (r *reader) describeProcess(data []byte) {
	d := track{kind: processTrack}
	if name := person(data, &d, 6); len(name) > 0 {
		r.processNames[d.pid] = r.text(name)
	}
}

// describeThread takes a ThreadDescriptor that is a packet of its own: events of the sequence that name no track are that thread's.
func (r *reader) describeThread(s *sequence, data []byte) {
	d := track{kind: threadTrack}
	name := person(data, &d, 5)
	uuid := uint64(d.pid)*0x9E3779B97F4A7C15 ^ uint64(d.tid)*0xC2B2AE3D27D4EB4F ^ 1<<63
	l := r.track(uuid)
	if l == nil {
		return
	}
	l.known, l.kind, l.pid, l.tid = true, threadTrack, d.pid, d.tid
	if s.track = uuid; len(name) > 0 {
		r.threadNames[threadKey{d.pid, d.tid}] = r.text(name)
	}
}

// person reads what a descriptor says of a process or thread, and returns its name, which has that number.
func person(data []byte, d *track, named int) (name []byte) {
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case 1:
			d.pid = int64(m.Value)
		case 2:
			if d.kind == threadTrack {
				d.tid = int64(m.Value)
			}
		case named:
			name = m.Data
		}
	}
	return name
}

// units are those of counters.
var units = map[uint64]string{1: "ns", 2: "", 3: "B"}

func (c *counter) parse(data []byte) {
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case 3:
			c.unit = units[m.Value]
		case 4:
			if n := int64(m.Value); n != 0 {
				c.multiplier = n
			}
		case 5:
			c.incremental = m.Value != 0
		case 6:
			c.unit = unitName(string(m.Data))
		}
	}
}

// unitName returns a unit by the name that other recorders have for it.
func unitName(name string) string {
	if name == "bytes" {
		return "B"
	}
	return name
}

// generations bounds the parents of parents of a track; a circle has more.
const generations = 32

// ancestor returns the nearest of a track and its parents that is of a kind, nil if there is none; known is false if a
// parent is not described.
func (r *reader) ancestor(l *track, is func(*track) bool) (found *track, known bool) {
	for range generations {
		if is(l) {
			return l, true
		}
		if !l.known {
			return nil, false
		}
		if l.parent == 0 {
			return nil, true
		}
		up := r.tracks[l.parent]
		if up == nil {
			return nil, false
		}
		l = up
	}
	return nil, true
}

func ofProcess(l *track) bool { return l.kind == processTrack || l.kind == threadTrack }

func ofThread(l *track) bool { return l.kind == threadTrack }

// process returns the process that a track belongs to; there is one for all that belong to none.
func (r *reader) process(l *track) *recording.Process {
	key := processKey{none: true}
	if up, _ := r.ancestor(l, ofProcess); up != nil {
		key = processKey{pid: up.pid}
	}
	p := r.processes[key]
	if p == nil {
		p = r.f.NewProcess("", key.pid)
		r.processes[key] = p
	}
	return p
}

// A processKey tells a process, or what belongs to none.
type processKey struct {
	pid  int64
	none bool
}

// start decides, when a track has its first event, where its events go: those of threads and of counters that are described go to their
// row at once, all others when all tracks are described.
func (r *reader) start(l *track) {
	l.started = true
	switch l.kind {
	case threadTrack:
		l.row = r.thread(l)
	case counterTrack:
		if _, known := r.ancestor(l, ofProcess); known {
			l.row = r.sampler(l)
			return
		}
		l.later = true
	default:
		l.later = true
	}
}

// thread returns the row of a thread.
func (r *reader) thread(l *track) *recording.Track {
	key := threadKey{l.pid, l.tid}
	row, ok := r.threads[key]
	if !ok {
		row = r.process(l).NewThread("", l.tid)
		r.threads[key] = row
	}
	return row
}

// sampler returns the row of a counter: that of its thread, else one of its process.
func (r *reader) sampler(l *track) *recording.Track {
	if up, _ := r.ancestor(l, ofThread); up != nil {
		return r.thread(up)
	}
	p := r.process(l)
	row, ok := r.samplers[p]
	if !ok {
		row = p.NewSampler("counters")
		r.samplers[p] = row
	}
	return row
}

// deviceRows are what recorders call the rows of an accelerator: of each the device, if it is told, and the stream or queue.
var deviceRows = []struct {
	pattern func() *regexp.Regexp
	stream  string
	device  bool // the first number is that of the device
}{
	{trace.Expression(`^HIP Activity Stream (\d{1,9})`), "stream", false},
	{trace.Expression(`^HIP Activity Device (\d{1,9}), Stream (\d{1,9})`), "stream", true},
	{trace.Expression(`^HIP Activity Device (\d{1,9}), Queue (\d{1,9})`), "queue", true},
	{trace.Expression(`^STREAM \[(\d{1,9})\]`), "stream", false},
	{trace.Expression(`^GPU Kernel Dispatch \[(\d{1,9})\] Queue (\d{1,9})`), "queue", true},
	{trace.Expression(`^COMPUTE [^\[]*\[(\d{1,9})\] QUEUE \[(\d{1,9})\]`), "queue", true},
	{trace.Expression(`^GPU Memory Copy to Agent \[(\d{1,9})\] Thread (\d{1,9})`), "copies of thread", true},
	{trace.Expression(`^COPY to AGENT \[(\d{1,9})\] THREAD \[?(\d{1,9})\]?`), "copies of thread", true},
}

// deviceRow returns device and stream of a row that is called as those of an accelerator.
func deviceRow(name string) (device int64, stream string, order int64, ok bool) {
	for _, d := range deviceRows {
		m := d.pattern().FindStringSubmatch(name)
		if m == nil {
			continue
		}
		number := m[len(m)-1]
		if d.device {
			device, _ = strconv.ParseInt(m[1], 10, 64)
		}
		order, _ = strconv.ParseInt(number, 10, 64)
		return device, d.stream + " " + number, order, true
	}
	return 0, "", 0, false
}

// A rowKey tells a row that tracks may have in common.
type rowKey struct {
	process *recording.Process
	name    string
	device  bool
}

// asyncOrder puts rows behind those of threads.
const asyncOrder = 1 << 62

// settle returns the row of a track once all tracks are described.
func (r *reader) settle(l *track) *recording.Track {
	switch l.kind {
	case threadTrack:
		return r.thread(l)
	case counterTrack:
		return r.sampler(l)
	}
	p := r.process(l)
	key := rowKey{p, r.rowName(l), l.kinds&kindDevice != 0}
	number, stream, order, named := deviceRow(r.f.String(l.name))
	key.device = key.device || named
	row, ok := r.rows[key]
	if ok {
		return row
	}
	if key.device {
		if !named {
			stream = key.name
		}
		row = r.device(p, number).NewStream(stream, order)
	} else if row = p.NewThread(key.name, asyncOrder); row != nil {
		row.Async, row.Exact = true, true
	}
	r.rows[key] = row
	return row
}

// A deviceKey tells a device of a process.
type deviceKey struct {
	process *recording.Process
	number  int64
}

func (r *reader) device(p *recording.Process, number int64) *recording.Device {
	key := deviceKey{p, number}
	d := r.devices[key]
	if d == nil {
		d = p.NewDevice(number)
		r.devices[key] = d
	}
	return d
}

// rowName returns the name of a track, with those of its parents that are neither processes nor threads.
func (r *reader) rowName(l *track) string {
	name := r.f.String(l.name)
	if l.kind == processTrack {
		return "process"
	}
	if name == "" {
		name = "events without a track"
	}
	for range generations {
		l = r.tracks[l.parent]
		if l == nil || l.kind != plainTrack || l.parent == 0 && !l.known {
			break
		}
		if up := r.f.String(l.name); up != "" && len(name) < 1024 {
			name = up + " / " + name
		}
	}
	return name
}

// people gives processes and threads the names that they have in the end.
func (r *reader) people() {
	for key, p := range r.processes {
		if key.none {
			p.Name = "no process"
		} else if name, ok := r.processNames[key.pid]; ok {
			p.Name = r.f.String(name)
		}
	}
	for key, row := range r.threads {
		if row == nil {
			continue
		}
		if row.Name = r.f.String(r.threadNames[key]); row.Name == "" {
			row.Name = fmt.Sprintf("thread %d", key.tid)
		}
	}
	for _, l := range r.list {
		if l.kinds&kindMPI != 0 {
			r.process(l).Works = true
		}
	}
}
