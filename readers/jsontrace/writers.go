package jsontrace

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// The attributes: the file that a slice works on, the ends of flows, what a call starts on an
// accelerator.
const (
	attrFile trace.AttributeID = iota
	attrFlowOut
	attrFlowStep
	attrFlowIn
	attrCorrelation
	attrBytes
	attrStep
	attrSeq
	attrMicroBatch
	attrChunk
	attrDP
	attrStage
	attributes // their number
)

// dftracer holds the hash tables of a dftracer file.
type dftracer struct {
	files  map[string]uint32 // index into names by raw hash
	host   string            // "": not a file of dftracer
	app    string
	plain  bool // before version 1.0.5: there are no hashes, slices name their host and file
	digits int  // as in event.parse: what makes nanoseconds of the unit of its times
}

func newDftracer() dftracer {
	return dftracer{files: make(map[string]uint32), digits: nanoDigits}
}

// dftracerUnits are the digits by which times of a unit become nanoseconds.
var dftracerUnits = map[string]int{"NS": 0, "US": nanoDigits, "MS": 6, "SEC": 9}

// sniff takes the first event with arguments: where nothing else says so, its number, host and
// depth or file tell that dftracer before version 1.0.5 wrote it.
func (d *dftracer) sniff(f *file, ev *event) {
	host := text(member(ev.args, "hostname"))
	if d.host != "" || ev.id == nil || len(host) == 0 || member(ev.args, "level") == nil && member(ev.args, "fname") == nil {
		return
	}
	d.host, d.plain = f.names.short(unescape(host)), true
}

// metadata takes an M of dftracer; it returns false if it is one of the general ones.
func (d *dftracer) metadata(f *file, ev *event) bool {
	name, value := text(member(ev.args, "name")), text(member(ev.args, "value"))
	switch string(ev.name) {
	case "FH":
		d.define(f, value, unescape(name))
	case "HH":
		d.host = f.names.short(unescape(name))
	case "SH":
		if d.app == "" {
			d.app = unescape(name)
		}
	case "CM":
		if digits, ok := dftracerUnits[string(value)]; ok && string(name) == "time_metric" {
			d.digits = digits
		}
	case "PR":
		if string(name) == "rank" {
			if r := rankNumber(value); r < 1<<24 {
				f.origin.rank, f.origin.hasRank = r, true
			}
		}
	default:
		return false
	}
	return true
}

// define gives a hash its file name. Slices may have named the hash before.
func (d *dftracer) define(f *file, hash []byte, name string) {
	hash = hash[:min(len(hash), wire.NameLimit)]
	if id, ok := d.files[string(hash)]; ok {
		f.names.list[id] = f.names.short(name)
		return
	}
	if f.names.bytes >= nameLimit {
		f.names.lost++
		return
	}
	d.files[string(hash)] = f.names.text(name)
	f.names.bytes += len(hash) + 64
}

// attach gives the slice that is put next its attributes.
func (f *file) attach(l *track, ev *event) {
	if f.dft.plain {
		if name := text(member(ev.args, "fname")); len(name) > 0 {
			l.Stream.AddAttr(attrFile, trace.TypeString, uint64(f.names.raw(name)))
		}
	} else if hash := f.dft.hash(ev); hash != nil {
		id, ok := f.dft.files[string(hash)]
		if !ok && f.names.bytes < nameLimit {
			id = f.names.fresh("file " + string(hash))
			f.dft.files[string(hash)] = id
			ok = true
		}
		if ok {
			l.Stream.AddAttr(attrFile, trace.TypeString, uint64(id))
		} else {
			f.names.lost++
		}
	}
	f.boundFlow(l, ev)
}

// correlate gives a kernel, and the call that launches it, the number that they share.
func (f *file) correlate(l *track, r *region, ev *event) {
	if id, ok := integer(text(member(ev.args, "correlation"))); ok && id > 0 {
		f.attributes = max(f.attributes, attrCorrelation+1)
		l.Stream.AddAttr(attrCorrelation, trace.TypeUint64, uint64(id))
		f.owners.note(l.pid, r.gpu, uint64(id))
	}
}

// hash returns the file hash of a slice, nil if there is none. Only files of dftracer,
// which begin with metadata of it, are searched for it.
func (d *dftracer) hash(ev *event) []byte {
	if d.host == "" {
		return nil
	}
	hash := text(member(ev.args, "fhash"))
	return hash[:min(len(hash), wire.NameLimit)]
}

// measure gives a call of dftracer that reads or writes the bytes that it has moved: what it
// returns, which for streams is a number of items. A call that failed has moved none.
func (f *file) measure(l *track, ev *event) {
	returned, ok := integer(text(member(ev.args, "ret")))
	if !ok {
		return
	}
	bytes := uint64(max(returned, 0))
	if size := number(text(member(ev.args, "size"))); size > 1 && bytes <= math.MaxInt64/size {
		bytes *= size
	}
	f.attributes = max(f.attributes, attrBytes+1)
	l.Stream.AddAttr(attrBytes, trace.TypeUint64, bytes)
}

// ncclArgs are what NCCL's profiler notes on collectives and messages, raw.
type ncclArgs struct {
	hash, rank, peer, root, count, datatype []byte
}

func readNcclArgs(args []byte) (a ncclArgs) {
	members(args, func(key, value []byte) bool {
		switch string(key) {
		case "CommHash":
			a.hash = text(value)
		case "Rank":
			a.rank = text(value)
		case "Peer":
			a.peer = text(value)
		case "Root":
			a.root = text(value)
		case "Count":
			a.count = text(value)
		case "Datatype":
			a.datatype = text(value)
		}
		return true
	})
	return a
}

// ncclCall reads the begin of a collective or message of NCCL's profiler, where threads of
// one process may be different ranks: each rank has a track of its own. The communicator
// that is named first is taken for that of all ranks; of others the profiler does not say
// who is in them, so that nothing is returned for them.
func (f *file) ncclCall(r *region, ev *event) (nest.Call, *track) {
	a := readNcclArgs(ev.args)
	rank := rankNumber(a.rank)
	if a.hash == nil || rank >= worldLimit {
		return nest.Call{}, nil
	}
	if f.ncclWorld == "" {
		f.ncclWorld = string(a.hash)
	}
	if f.ncclWorld != string(a.hash) {
		return nest.Call{}, nil
	}
	process := f.names.text(fmt.Sprintf("NCCL rank %d", rank))
	l := f.tracks.get(trackKey{pid: ident{true, int64(process)}, tid: ident{true, int64(r.cat)}, async: true})
	if l == nil {
		return nest.Call{}, nil
	}
	l.rank, l.hasRank, l.Flat = rank, true, true
	f.meta.processes[l.pid] = f.names.list[process]
	bytes := number(a.count) * nest.ElementBytes(string(a.datatype))
	c := nest.Call{Operation: r.op, Peer: trace.RootNone, Sent: bytes, Received: bytes}
	switch {
	case r.op.IsMessage():
		c.Peer = rankNumber(a.peer)
	case a.root != nil:
		c.Peer = rankNumber(a.root)
	}
	return c, l
}

// rocprofTimes replaces the times of a slice of rocprof, which are rounded down to
// microseconds, by the nanoseconds that stand in its arguments; it returns false if there
// are none.
func rocprofTimes(ev *event) bool {
	if !bytes.Contains(ev.args, []byte(`"BeginNs"`)) {
		return false
	}
	begin, ok1 := integer(text(member(ev.args, "BeginNs")))
	end, ok2 := integer(text(member(ev.args, "EndNs")))
	if ok1 && ok2 && end >= begin {
		ev.time, ev.dur = begin, end-begin
	}
	return true
}

// rocprofDevice reports whether a process of a trace of rocprof is an accelerator, or the
// copying to and from one.
func rocprofDevice(process string) bool {
	return strings.HasPrefix(process, "GPU") || process == rocprofCopying
}

// rocprofCopying is the name of the process in which rocprof puts the copies of all accelerators;
// which of them makes a copy stands in its arguments.
const rocprofCopying = "COPY"

// rocprofCopies brings copies to their accelerators.
type rocprofCopies struct {
	pid     []byte            // of the process of all copies; nil: none is known
	devices map[string][]byte // the pids of the accelerators, by their numbers
}

// process takes the name of a process.
func (c *rocprofCopies) process(name string, pid []byte) {
	device, ok := strings.CutPrefix(name, "GPU")
	switch {
	case name == rocprofCopying:
		c.pid = bytes.Clone(text(pid))
	case ok && len(c.devices) < metadataLimit:
		if c.devices == nil {
			c.devices = make(map[string][]byte)
		}
		c.devices[device] = bytes.Clone(pid)
	}
}

// move puts a copy on a track of its accelerator, if that is known.
func (c *rocprofCopies) move(ev *event) {
	if c.pid == nil || !bytes.Equal(text(ev.pid), c.pid) {
		return
	}
	if pid := c.devices[string(text(member(ev.args, "dev-id")))]; pid != nil {
		ev.pid, ev.tid = pid, []byte(`"copies"`)
	}
}
