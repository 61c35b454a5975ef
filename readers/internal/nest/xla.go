package nest

import (
	"strconv"
	"strings"

	"tracekit/trace"
)

// xlaControlFlow are operations of XLA that do nothing but execute others.
var xlaControlFlow = trace.Expression(`^%?(?:while|conditional|call)(?:\.(?:\d+|clone))*(?: |$)`)

// XLAEncloses reports whether operations of XLA of that name consist of others.
func XLAEncloses(name string) bool { return xlaControlFlow().MatchString(name) }

// xlaCollectives are the operations of XLA that communicate, by the begin of their names.
var xlaCollectives = []struct {
	name string
	op   Operation
}{
	{"all-reduce", Collective(trace.CollAllreduce)}, {"all-gather", Collective(trace.CollAllgather)},
	{"reduce-scatter", Collective(trace.CollReduceScatterBlock)}, {"all-to-all", Collective(trace.CollAlltoall)},
	{"ragged-all-to-all", Collective(trace.CollAlltoallv)}, {"collective-broadcast", Collective(trace.CollBcast)},
	{"collective-permute", OpUnnamed}, {"send", OpUnnamed}, {"recv", OpUnnamed},
}

// XLACollective returns what an operation of XLA communicates, by its name. The begin of an operation in two parts is its enqueueing.
func XLACollective(operation string) Operation {
	operation = strings.TrimPrefix(operation, "%")
	for _, c := range xlaCollectives {
		rest, ok := strings.CutPrefix(operation, c.name)
		if ok && (rest == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "-start") || strings.HasPrefix(rest, "-done")) {
			return c.op
		}
	}
	return OpNone
}

// XLARendezvous is the name of the events in which the devices of a host meet, in an operation that communicates.
const XLARendezvous = "Rendezvous"

var xlaDevices = trace.Expression(`\bglobal_devices=\[([\d, ]*)\]`)

// XLAMeeting returns what devices communicate that meet under a name, and the list of their numbers, "" if it does not tell them.
// Such a name is "all reduce RendezvousKey{global_devices=[0, 1]}".
func XLAMeeting(name string) (op Operation, devices string) {
	op = OpUnnamed
	if what, _, ok := strings.Cut(name, " RendezvousKey"); ok {
		if o := XLACollective(strings.ReplaceAll(what, " ", "-")); o != OpNone {
			op = o
		}
	}
	if m := xlaDevices().FindStringSubmatch(name); m != nil {
		devices = m[1]
	}
	if op == OpUnnamed && devices != "" { // all of them meet, whoever sends to whom
		op = Collective(trace.CollAlltoallw)
	}
	return op, devices
}

// XLADevices returns the numbers in a list of devices; nil if one is too large.
func XLADevices(list string) (devices []uint32) {
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 20)
		if err != nil {
			return nil
		}
		devices = append(devices, uint32(n))
	}
	return devices
}

// XLADevice is how a device is called that threads of a host are, with its number.
const XLADevice = "CPU %d"

// XLAOps is the line of what the cores of a device work at.
const XLAOps = "XLA Ops"
