package jsontrace

import (
	"bytes"
	"fmt"
	"strconv"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// XLA's profiler notes what threads of a host execute as a device with the number of that device and the operation. What an operation
// communicates, and with whom, stands in an event in which its devices meet, which it encloses.

// xlaCategory is the category of what threads execute as a device.
const xlaCategory = "hlo_op"

// An executed operation is the last that a thread executed as a device. It is put once what it encloses is known.
type executed struct {
	device    *track // nil: there is none
	name      string
	time, dur int64
	meeting   string
}

// xlaStep gives a step of training, of which XLA notes the number, the name and category that PyTorch has for it.
func (f *file) xlaStep(ev *event) {
	if len(ev.cat) > 0 || !bytes.Contains(ev.args, []byte(`"step_num"`)) {
		return
	}
	if n, ok := integer(text(member(ev.args, "step_num"))); ok && n >= 0 {
		ev.name, ev.cat = fmt.Appendf(nil, "ProfilerStep#%d", n), []byte("user_annotation")
	}
}

// onDevice takes a slice of a thread, if it is executed as a device.
func (f *file) onDevice(l *track, ev *event, dur, at int64) bool {
	if string(ev.name) == nest.XLARendezvous {
		if x := f.executing[l]; x != nil && ev.time < nest.AddTime(x.time, x.dur) {
			x.meeting = unescape(text(member(ev.args, "name")))
		}
		return false
	}
	if len(ev.cat) > 0 || !bytes.Contains(ev.args, []byte(`"device_ordinal"`)) || member(ev.args, "hlo_op") == nil {
		return false
	}
	number, ok := integer(text(member(ev.args, "device_ordinal")))
	if !ok || number < 0 || number >= worldLimit {
		return false
	}
	name := unescape(ev.name)
	if nest.XLAEncloses(name) {
		f.repeated++
		return true
	}
	process := f.names.text(fmt.Sprintf(nest.XLADevice, number))
	device := f.tracks.get(trackKey{pid: ident{true, int64(process)}, tid: ident{true, int64(f.names.text(nest.XLAOps))}, device: true})
	if device == nil {
		f.find(trace.CodeLimitExceeded, at, crowded)
		return true
	}
	device.GPU, device.trivial, device.rank = true, false, uint32(number)
	f.meta.processes[device.pid] = f.names.list[process]
	f.executedBy(l)
	f.executing[l] = &executed{device: device, name: name, time: ev.time, dur: dur}
	return true
}

// executedBy puts what a thread has executed last.
func (f *file) executedBy(l *track) {
	x := f.executing[l]
	if x == nil {
		return
	}
	delete(f.executing, l)
	id := f.regions.get(regionKey{f.names.text(x.name), f.names.text(xlaCategory)})
	var c nest.Call
	if x.meeting != "" {
		op, devices := nest.XLAMeeting(x.meeting)
		r := &f.regions.list[id]
		if r.op = op; op == nest.OpUnnamed {
			r.role = trace.RoleCollOther
		}
		if ranks := nest.XLADevices(devices); ranks != nil && op != nest.OpUnnamed {
			x.device.hasRank = true
			c = nest.Call{Operation: op, Peer: trace.RootNone}
			c.Comm = f.comms.find(func() group { return group{name: "devices " + devices, ranks: ranks, devices: true} },
				[]byte("devices "+strconv.Itoa(len(devices))), []byte(devices))
		}
	}
	x.device.Put(x.time, x.dur, id, c)
}
