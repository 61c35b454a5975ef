package paraver

import (
	"math"
	"strconv"
	"strings"

	"tracekit/trace"
)

// The event types of our own writer, beside those of Extrae. They hold what the format
// has no place for, so that reading what was written gives the same events; other programs
// show them as user events. The first event of a trace is ownVersion; in such a trace,
// messages and collectives are those of these types, and communication lines and
// attributes of collectives are for others only. An event and its values are on one line.
//
// These are the numbers that are written. Any program may use them for types of its own, so a
// reader goes by what the .pcf file announces: a type is one of ours by its label.
const (
	firstOwn   = 94000000
	ownVersion = 94000000 // value dialectVersion

	ownMessage = 94000001 // kind: the number of OTF2's record
	ownPeer    = 94000002 // rank in the communicator
	ownComm    = 94000003 // as in 50100004
	ownTag     = 94000004
	ownBytes   = 94000005
	ownRequest = 94000006

	ownColl     = 94000011 // kind: the number of OTF2's record
	ownOp       = 94000012 // OTF2's number of the operation
	ownRoot     = 94000013
	ownSent     = 94000014
	ownReceived = 94000015

	ownInstant = 94000020 // the value's name is the text

	ownOffsetTime = 94000030 // a measured clock offset: local time, offset, both in ns,
	ownOffset     = 94000031 // standard deviation as the bits of a float64
	ownDeviation  = 94000032
	ownZero       = 94000033 // on the line of the version: when the clock's zero is, in ns

	ownOther     = 94000040 // kind of any other event: the number of OTF2's record
	ownArguments = 94000041 // number of its arguments
	ownArgument  = 94000042 // the first of them; references are those of the original
	lastOwn      = 94000099
	maxArguments = lastOwn - ownArgument + 1

	firstOwnRegion = 94001000 // regions by paradigm, for those that Extrae has no type for
	lastOwnRegion  = 94001255
	firstOwnMetric = 94002000 // counters that hold at their moment
)

// noRank stands for trace.None.
const noRank = -1

// dialectVersion is the version of these types. Version 1 did not announce the arguments.
const dialectVersion = 2

// ownLabels are the names of our own types that have a number in ownValues.
var ownLabels = []typeLabel{
	{ownVersion, "tracekit: version"}, {ownMessage, "tracekit: message event (number of OTF2's record)"},
	{ownPeer, "tracekit: rank of the partner in the communicator"}, {ownComm, "tracekit: communicator"},
	{ownTag, "tracekit: tag"}, {ownBytes, "tracekit: bytes"}, {ownRequest, "tracekit: request"},
	{ownColl, "tracekit: collective event (number of OTF2's record)"}, {ownOp, "tracekit: operation"},
	{ownRoot, "tracekit: rank of the root"}, {ownSent, "tracekit: bytes sent"}, {ownReceived, "tracekit: bytes received"},
	{ownOffsetTime, "tracekit: local time of a clock offset"}, {ownOffset, "tracekit: clock offset"},
	{ownDeviation, "tracekit: deviation of a clock offset (bits)"},
	{ownZero, "tracekit: zero of the clock"},
	{ownOther, "tracekit: other event (number of OTF2's record)"}, {ownArguments, "tracekit: number of arguments"},
}

// The names of our other types, the first two followed by a number and a paradigm.
const (
	argumentLabel = "tracekit: argument "
	regionsLabel  = "tracekit: regions of paradigm "
	instantsLabel = "tracekit: instants"
)

// ownLabel returns the name of one of our own types of arguments or regions.
func ownLabel(typ uint32) string {
	if typ >= firstOwnRegion {
		return regionsLabel + trace.Paradigm(typ-firstOwnRegion).String()
	}
	return argumentLabel + strconv.Itoa(int(typ-ownArgument)+1)
}

// ownType returns which of our own types with a number in ownValues, or of regions, a label
// announces; ok is false if it announces none.
func ownType(label string) (typ uint32, ok bool) {
	if !strings.HasPrefix(label, "tracekit: ") {
		return 0, false
	}
	for _, o := range ownLabels {
		if o.label == label {
			return o.typ, true
		}
	}
	for typ := uint32(ownArgument); typ <= lastOwnRegion; typ++ {
		if typ > lastOwn && typ < firstOwnRegion {
			typ = firstOwnRegion
		}
		if ownLabel(typ) == label {
			return typ, true
		}
	}
	return 0, false
}

// ownValues holds the values of our own types on a line, by number.
type ownValues struct {
	values [lastOwn - firstOwn + 1]int64
	given  [2]uint64 // a bit for each that the line has
}

func (v *ownValues) set(index uint32, value int64) {
	v.values[index] = value
	v.given[index/64] |= 1 << (index % 64)
}

// of returns the value of a type, 0 if the line has none.
func (v *ownValues) of(typ uint32) int64 { return v.values[typ-firstOwn] }

// has reports whether the line has a value of each type.
func (v *ownValues) has(types ...uint32) bool {
	for _, typ := range types {
		if i := typ - firstOwn; v.given[i/64]>>(i%64)&1 == 0 {
			return false
		}
	}
	return true
}

func (v *ownValues) isOffset() bool {
	return v.of(ownOffsetTime) != 0 || v.of(ownOffset) != 0
}

// event returns the kind of the event that a line tells, and whether it is sound.
func (v *ownValues) event() (k trace.Kind, ok bool) {
	n := v.of(ownArguments)
	switch message, coll, other := v.of(ownMessage), v.of(ownColl), v.of(ownOther); {
	case message != 0:
		k = trace.Kind(message)
		return k, k.Table() == trace.TableP2P && v.has(ownPeer, ownComm, ownTag, ownBytes, ownRequest)
	case coll != 0:
		k = trace.Kind(coll)
		return k, k.Table() == trace.TableColl && v.has(ownOp, ownComm, ownRoot, ownSent, ownReceived, ownRequest)
	default:
		k, ok = trace.Kind(other), v.has(ownArguments) && n >= 0 && n <= maxArguments
		for i := uint32(0); ok && i < uint32(n); i++ {
			ok = v.has(ownArgument + i)
		}
		return k, ok && other != 0 && k.Table() == trace.TableOther && k != trace.KindInstant
	}
}

// mayOwn reports whether a worker may take a line with our own event types: it defines
// nothing, and there is nothing to say of it.
func (d *decoder) mayOwn(v *ownValues) bool {
	_, ok := v.event()
	return d.dialect && ok && v.of(ownVersion) == 0 && !v.isOffset()
}

// own takes a line with our own event types.
func (d *decoder) own(l *thread, t int64, v *ownValues) {
	k, ok := v.event()
	switch version := v.of(ownVersion); {
	case version == dialectVersion:
		d.dialect = true
		d.version++
		d.defs.Clock.GlobalOffset = v.of(ownZero)
	case version != 0:
		d.find(trace.CodeUnusedRecord, "this is version %d of tracekit's event types, which is not known", version)
	case d.dialect && v.isOffset():
		d.offset(l, v)
	case !d.dialect || !ok:
		d.find(trace.CodeUnusedRecord, "tracekit's event types do not make an event here")
	case v.of(ownMessage) != 0:
		d.release(l)
		row := trace.P2PRow{Time: t, Kind: k, Peer: uint32(v.of(ownPeer)), Comm: trace.None, Request: uint64(v.of(ownRequest)),
			Tag: uint32(v.of(ownTag)), Bytes: uint64(v.of(ownBytes))}
		if row.Peer != trace.None {
			row.Comm = d.comms.find(v.of(ownComm))
		}
		l.events.AddP2P(row)
	case v.of(ownColl) != 0:
		d.release(l)
		l.events.AddColl(trace.CollRow{Time: t, Kind: k, Op: trace.CollectiveOp(v.of(ownOp)),
			Comm: d.comms.find(v.of(ownComm)), Root: uint32(v.of(ownRoot)), Sent: uint64(v.of(ownSent)),
			Received: uint64(v.of(ownReceived)), Request: uint64(v.of(ownRequest))})
	default:
		d.release(l)
		args := make([]uint64, v.of(ownArguments))
		for i := range args {
			args[i] = uint64(v.of(ownArgument + uint32(i)))
		}
		l.events.AddOther(t, k, args...)
	}
}

// offset adds a measured clock offset to a location, unless it is out of order.
func (d *decoder) offset(l *thread, v *ownValues) {
	o := trace.ClockOffset{Time: v.of(ownOffsetTime), Offset: v.of(ownOffset),
		Deviation: math.Float64frombits(uint64(v.of(ownDeviation)))}
	list := &d.defs.Locations[l.location].ClockOffsets
	if n := len(*list); n > 0 && o.Time <= (*list)[n-1].Time {
		d.find(trace.CodeBadClockOffset, "a clock offset is not later than the one before")
		return
	}
	*list = append(*list, o)
}
