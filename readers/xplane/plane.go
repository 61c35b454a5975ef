package xplane

import (
	"context"
	"fmt"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/protobuf"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// The fields of XPlane, XLine, XEvent and XStat that are read.
const (
	planeName       = 2
	planeLine       = 3
	planeEventNames = 4
	planeStatNames  = 5
	planeStat       = 6

	lineName    = 2
	lineTime    = 3
	lineEvent   = 4
	lineDisplay = 11

	eventName     = 1
	eventOffset   = 2
	eventDuration = 3
	eventStat     = 4
	eventSum      = 5

	statName   = 1
	statUint   = 3
	statInt    = 4
	statText   = 5
	statReturn = 7 // the number of the text in the table of stats
)

// A stat is what is read of the statistics of events and planes.
type stat uint8

const (
	statOther stat = iota
	statCorrelation
	statOperation
	statDetails
	statBytes
	statStep
	statProducerType
	statProducer
	statConsumerType
	statConsumer
	statVendor
	statStart
	statOrdinal
	statMeeting
)

var stats = map[string]stat{"correlation_id": statCorrelation, "hlo_op": statOperation, "memcpy_details": statDetails,
	"bytes_accessed": statBytes, "bytes accessed": statBytes, "step_num": statStep, "_pt": statProducerType, "_p": statProducer,
	"_ct": statConsumerType, "_c": statConsumer, "device_vendor": statVendor, "profile_start_time": statStart, "device_ordinal": statOrdinal,
	"name": statMeeting}

// A plane is one while it is read. What it keeps of names are parts of the mapped file.
type plane struct {
	r      *reader
	at     int64 // of its first byte in the file
	name   string
	lines  []line
	events map[uint64]*metadata
	recent [2]recent // entries of the table of events that were looked up last
	stats  statTable
	vendor string
	start  int64
}

// A line is where one lies, with its head.
type line struct {
	data []byte
	name string
	time int64 // ns
}

// metadata is an entry of the table of events.
type metadata struct {
	name, display []byte
	operation     []byte // of XLA, if all its events are of one
	bytes         uint64
	stats         [][]byte
	host          trace.RegionID
	isHost        bool
	device        map[deviceKey]trace.RegionID
	last          deviceKey // of device, that was looked up last
	lastRegion    trace.RegionID
	looked        bool
	judged        bool
	encloses      bool // operations of the same line, if it was judged
}

// A deviceKey tells what a device's events of one name are.
type deviceKey struct {
	line      string
	operation uint32 // of XLA, if it is a collective: the number of its text
	details   bool
}

type statMetadata struct {
	name []byte
	stat stat
}

// A statTable is the table of stats of a plane: most numbers are small.
type statTable struct {
	dense []statMetadata
	rest  map[uint64]statMetadata
}

const denseStats = 1 << 10

// get returns an entry, an empty one if there is none.
func (t *statTable) get(id uint64) statMetadata {
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	return t.rest[id]
}

func (t *statTable) put(id uint64, e statMetadata) {
	if id >= denseStats {
		t.rest[id] = e
		return
	}
	for uint64(len(t.dense)) <= id {
		t.dense = append(t.dense, statMetadata{})
	}
	t.dense[id] = e
}

// A recent entry is one of the table of events that was looked up.
type recent struct {
	id    uint64
	entry *metadata
}

// named returns an entry of the table of events, nil if there is none.
func (p *plane) named(id uint64) *metadata {
	slot := &p.recent[id%2]
	if slot.entry == nil || slot.id != id {
		*slot = recent{id, p.events[id]}
	}
	return slot.entry
}

// metadataLimit bounds the entries of a table.
const metadataLimit = 1 << 20

// open reads the tables of a plane, and where its lines are.
func (r *reader) open(data []byte, at int64) *plane {
	p := &plane{r: r, at: at, events: make(map[uint64]*metadata),
		stats: statTable{rest: make(map[uint64]statMetadata)}}
	var own [][]byte
	m := protobuf.Of(data)
	for m.Next() {
		switch {
		case m.IsNumber():
		case m.Number == planeName:
			p.name = text(m.Data)
		case m.Number == planeLine:
			p.addLine(m.Data)
		case m.Number == planeEventNames:
			p.addEvent(m.Data)
		case m.Number == planeStatNames:
			p.addStat(m.Data)
		case m.Number == planeStat && len(own) < 1<<10:
			own = append(own, m.Data)
		}
	}
	if number, rest, ok := m.Cut(); ok && number == planeLine {
		p.addLine(rest)
	}
	if m.Broken {
		r.broken(at + int64(m.Sound()))
	}
	for _, s := range own {
		what, v := p.stat(s)
		switch what {
		case statVendor:
			p.vendor = text(v.text)
		case statStart:
			p.start = int64(v.number)
		}
	}
	return p
}

// lineLimit bounds the lines of a plane.
const lineLimit = 1 << 17

func (p *plane) addLine(data []byte) {
	if len(p.lines) == lineLimit {
		p.r.limited("lines of a plane; the last ones are left out")
		return
	}
	l := line{data: data}
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case lineName:
			if l.name == "" {
				l.name = text(m.Data)
			}
		case lineDisplay:
			if len(m.Data) > 0 {
				l.name = text(m.Data)
			}
		case lineTime:
			l.time = int64(m.Value)
		}
	}
	p.lines = append(p.lines, l)
}

// entry reads an entry of a table: its key and value.
func (p *plane) entry(data []byte) (key uint64, value []byte) {
	key, value, ok := protobuf.Entry(data)
	if !ok {
		p.r.broken(p.at)
	}
	return key, value
}

func (p *plane) addEvent(data []byte) {
	key, value := p.entry(data)
	if len(p.events) >= metadataLimit {
		p.r.limited("names of events in a plane; the last ones are not known")
		return
	}
	e := &metadata{}
	m := protobuf.Of(value)
	for m.Next() {
		switch m.Number {
		case 2:
			e.name = m.Data
		case 4:
			e.display = m.Data
		case 5:
			if len(e.stats) < 64 {
				e.stats = append(e.stats, m.Data)
			}
		}
	}
	if m.Broken {
		p.r.broken(p.at)
	}
	p.events[key] = e
}

func (p *plane) addStat(data []byte) {
	key, value := p.entry(data)
	if len(p.stats.rest) >= metadataLimit {
		p.r.limited("names of statistics in a plane; the last ones are not known")
		return
	}
	m := protobuf.Of(value)
	for m.Next() {
		if m.Number == 2 {
			p.stats.put(key, statMetadata{m.Data, stats[string(m.Data)]})
		}
	}
	if m.Broken {
		p.r.broken(p.at)
	}
}

// A value is that of a stat.
type value struct {
	number uint64
	text   []byte
}

// stat reads a stat.
func (p *plane) stat(data []byte) (what stat, v value) {
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case statName:
			what = p.stats.get(m.Value).stat
		case statUint, statInt:
			v.number = m.Value
		case statText:
			v.text = m.Data
		case statReturn:
			v.text = p.stats.get(m.Value).name
		}
	}
	if m.Broken {
		p.r.broken(p.at)
	}
	return what, v
}

// text returns a text of the file.
func text(b []byte) string { return strings.ToValidUTF8(wire.CutName(string(b)), "\uFFFD") }

// called returns how an entry is called: as for people, if it says so.
func (e *metadata) called() string {
	if len(e.display) > 0 {
		return text(e.display)
	}
	return text(e.name)
}

// settle finds what the statistics of an entry say of all its events.
func (p *plane) settle(e *metadata) {
	for _, s := range e.stats {
		switch what, v := p.stat(s); what {
		case statOperation:
			e.operation = v.text
		case statBytes:
			e.bytes = v.number
		}
	}
	e.stats = nil
}

// An event is an XEvent.
type event struct {
	name             uint64
	offset, duration uint64 // ps
	sum              bool

	correlation, bytes uint64
	operation          []byte
	details            []byte
	hasDetails         bool
	meeting            []byte
	ordinal            uint64
	hasOrdinal         bool
	step               uint64
	hasStep            bool
	producer, consumer flowEnd
}

// A flowEnd is one of a flow, which type and number tell.
type flowEnd struct {
	typ, number uint64
	some        bool
}

// id returns one number for both.
func (f flowEnd) id() uint64 { return f.number ^ (f.typ+1)*0x9E3779B97F4A7C15 }

// parse reads an event; it returns false if it cannot be decoded.
func (e *event) parse(p *plane, data []byte) bool {
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case eventName:
			e.name = m.Value
		case eventOffset:
			e.offset = m.Value
		case eventDuration:
			e.duration = m.Value
		case eventSum:
			e.sum = true
		case eventStat:
			what, v := p.stat(m.Data)
			e.note(what, v)
		}
	}
	return !m.Broken
}

func (e *event) note(what stat, v value) {
	switch what {
	case statCorrelation:
		e.correlation = v.number
	case statOperation:
		e.operation = v.text
	case statDetails:
		e.details, e.hasDetails = v.text, true
	case statBytes:
		e.bytes = v.number
	case statMeeting:
		e.meeting = v.text
	case statOrdinal:
		e.ordinal, e.hasOrdinal = v.number, true
	case statStep:
		e.step, e.hasStep = v.number, true
	case statProducerType:
		e.producer.typ = v.number
	case statProducer:
		e.producer.number, e.producer.some = v.number, true
	case statConsumerType:
		e.consumer.typ = v.number
	case statConsumer:
		e.consumer.number, e.consumer.some = v.number, true
	}
}

// limits of times: the offsets of events, and the times of lines that count from the begin of the profile, must be less.
const (
	picoseconds = 1000
	offsetLimit = 1 << 62 // ps
	since2001   = 1e18    // ns since 1970
)

// A destination takes the events of a line.
type destination struct {
	track  *recording.Track
	device bool
	line   string
	work   trace.Paradigm
	calls  bool // what communicates is told

	open *executed // of threads of the host
}

// An executed operation is the last that a thread executed as a device. What communicates is known once it has met others.
type executed struct {
	event
	stream     *recording.Track // nil: there is none
	begin, dur int64
	meeting    []byte
}

// read puts the events of a line.
func (p *plane) read(ctx context.Context, l *line, to destination) error {
	r := p.r
	base := r.base(l.time)
	var outer *event // that may enclose operations, and is put if it does not
	if !to.device {
		to.open = &executed{}
		defer p.finish(to.open)
	}
	put := func(e *event) {
		p.put(e, nest.AddTime(base, int64(e.offset/picoseconds)), int64(e.offset%picoseconds+e.duration)/picoseconds, to)
	}
	m := protobuf.Of(l.data)
	for n := 1; m.Next(); n++ {
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if m.Number != lineEvent {
			continue
		}
		var e event
		switch {
		case !e.parse(p, m.Data):
			r.broken(p.at)
		case e.sum:
			r.sums++
		case e.offset >= offsetLimit || e.duration >= offsetLimit:
			r.f.Ledger.Add(trace.CodeBadValue, r.f.Place(p.at), "an event whose time is too large")
		default:
			if outer != nil && e.offset >= outer.offset && e.offset-outer.offset < outer.duration {
				r.repeated++
			} else if outer != nil {
				put(outer)
			}
			if outer = nil; to.line == nest.XLAOps && p.encloses(e.name) {
				outer = new(event)
				*outer = e
				continue
			}
			put(&e)
		}
	}
	if outer != nil {
		put(outer)
	}
	if m.Broken {
		r.broken(p.at)
	}
	return nil
}

// encloses reports whether operations of that name consist of others.
func (p *plane) encloses(name uint64) bool {
	about := p.named(name)
	if about == nil {
		return false
	}
	if !about.judged {
		about.judged, about.encloses = true, nest.XLAEncloses(about.called())
	}
	return about.encloses
}

// put puts an event.
func (p *plane) put(e *event, begin, dur int64, to destination) {
	r, l := p.r, to.track
	about := p.named(e.name)
	if about == nil {
		r.unnamed++
		about = r.nameless
	}
	if about.stats != nil {
		p.settle(about)
	}
	if e.operation == nil {
		e.operation = about.operation
	}
	switch {
	case to.device:
	case e.hasOrdinal && len(e.operation) > 0:
		if p.encloses(e.name) {
			r.repeated++
			return
		}
		p.finish(to.open)
		*to.open = executed{event: *e, stream: r.onHost(e.ordinal), begin: begin, dur: dur}
		return
	case to.open.stream != nil && begin < nest.AddTime(to.open.begin, to.open.dur) && string(about.name) == nest.XLARendezvous:
		to.open.meeting = e.meeting
	}
	var o operation
	if to.device && len(e.operation) > 0 {
		o = r.operation(e.operation)
	}
	region := p.region(about, e, o, to)
	add := func(id trace.AttributeID, v uint64) { l.Stream.AddAttr(id, trace.TypeUint64, v) }
	if e.correlation != 0 {
		add(recording.AttrCorrelation, e.correlation)
	}
	call := nest.Call{}
	if to.device {
		if e.bytes == 0 {
			if e.bytes = about.bytes; e.hasDetails {
				e.bytes = sizeOf(e.details)
			}
		}
		if e.bytes != 0 {
			add(recording.AttrBytes, e.bytes)
		}
		if len(e.operation) > 0 {
			r.f.Operations = true
			l.Stream.AddAttr(recording.AttrOperation, trace.TypeString, uint64(o.text))
		}
		if to.calls {
			call = r.f.Communication(region)
		}
	}
	if e.producer.some {
		r.f.Flow(l, e.producer.id(), begin, false)
	}
	if e.consumer.some {
		r.f.Flow(l, e.consumer.id(), begin, true)
	}
	l.Put(begin, dur, region, call)
}

// finish puts what a thread has executed as a device.
func (p *plane) finish(x *executed) {
	if x.stream == nil {
		return
	}
	f := p.r.f
	about := p.named(x.name)
	if about == nil {
		about = p.r.nameless
	}
	name, call := about.called(), nest.Call{}
	region := f.Region(name, recording.Kernel(trace.ParadigmUnknown))
	if x.meeting != nil {
		op, devices := nest.XLAMeeting(text(x.meeting))
		region = f.Communicator(name, recording.Kernel(trace.ParadigmUnknown), op)
		if ranks := nest.XLADevices(devices); ranks != nil {
			if call = f.Communication(region); call.Operation != nest.OpNone {
				f.Devices = true
				call.Comm = f.Comm("devices "+devices, func() recording.Comm {
					return recording.Comm{Name: "devices " + devices, World: ranks, Devices: true}
				})
			}
		}
	}
	x.stream.Stream.AddAttr(recording.AttrOperation, trace.TypeString, uint64(p.r.operation(x.operation).text))
	f.Operations = true
	x.stream.Put(x.begin, x.dur, region, call)
	x.stream = nil
}

// region returns the region of an event.
func (p *plane) region(about *metadata, e *event, o operation, to destination) trace.RegionID {
	f := p.r.f
	if !to.device {
		if e.hasStep {
			what := recording.Annotation
			return f.Region(fmt.Sprintf("ProfilerStep#%d", e.step), what)
		}
		if !about.isHost {
			about.host, about.isHost = hostRegion(f, about.called()), true
		}
		return about.host
	}
	key := deviceKey{line: to.line, details: e.hasDetails}
	if o.communicates {
		key.operation = o.text
	}
	if about.looked && about.last == key {
		return about.lastRegion
	}
	region, ok := about.device[key]
	if !ok {
		operation := about.called()
		if key.operation != 0 {
			operation = f.String(key.operation)
		}
		region = deviceRegion(f, about.called(), to.line, operation, e.hasDetails, to.work)
		if about.device == nil {
			about.device = make(map[deviceKey]trace.RegionID)
		}
		if len(about.device) < 1<<10 {
			about.device[key] = region
		}
	}
	about.last, about.lastRegion, about.looked = key, region, true
	return region
}
