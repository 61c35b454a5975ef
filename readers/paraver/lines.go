package paraver

import "tracekit/trace"

// maxTime is the greatest time that is believed; so differences do not overflow.
const maxTime = 1 << 61

// advance goes on to the time of a line, and notes lines out of order; it returns false if a
// worker may not.
func (d *decoder) advance(l *thread, t int64) bool {
	if t < l.last {
		return d.find(trace.CodeUnsorted, "time %d after %d", t, l.last)
	}
	if !l.timed {
		l.timed, l.first = true, t
	}
	l.last = t
	d.block.last = max(d.block.last, t)
	return true
}

// state reads cpu:appl:task:thread:begin:end:state. The end −1 is that of the trace. States
// are kept only as long as the thread has no calls; see doc.go. Where threads share a task, it is
// kept of all of them when they run.
func (d *decoder) state(s *scanner) error {
	f := d.fields[:7]
	if err := s.numbers(f); err != nil {
		return err
	}
	if !s.atEnd() {
		return s.extra()
	}
	l := d.thread(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	begin, end, value := f[4], f[5], f[6]
	if end == -1 {
		end = maxTime
	}
	switch {
	case begin < 0 || end < 0 || max(begin, end) > maxTime:
		return errTime
	case end < begin:
		return errOrder
	}
	wanted := !l.calls && !d.dialect && value != stateNotCreated
	region, ok := trace.RegionID(trace.None), true
	if wanted {
		region, ok = d.stateRegion(value)
	}
	var running *meterSet
	if value == stateRunning && d.beside && d.tasks == 0 && !d.dialect {
		if d.main == nil && d.meters.run == nil {
			return errUnsure
		}
		running = d.running()
	}
	if !ok || !d.advance(l, begin) {
		return errUnsure
	}
	if running != nil {
		l.events.AddMetric(begin, running.id, running.types, []uint64{uint64(end - begin)})
	}
	d.block.counts.States++
	l.stated++
	if wanted {
		l.kept++
		l.states.Tie = -end // the longer one first
		l.states.AddAttr(0, trace.TypeInt64, uint64(end))
		l.states.AddFlow(begin, trace.KindEnter, region)
	}
	return nil
}

// extra tells why a line does not end where it should.
func (s *scanner) extra() error {
	if s.data[s.pos] == ':' {
		return errFields
	}
	return errNumber
}

// event reads cpu:appl:task:thread:time and pairs of type:value. All of the line is read and
// looked up before anything changes, so that a bad line leaves no trace and a worker can leave
// a line to the reading.
func (d *decoder) event(s *scanner) error {
	f := d.fields[:5]
	if err := s.numbers(f); err != nil {
		return err
	}
	l := d.thread(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	t := f[4]
	if s.atEnd() {
		return errFields
	}
	h := attributes{levels: 0}
	d.ops, d.members, d.values = d.ops[:0], d.members[:0], d.values[:0]
	for !s.atEnd() {
		if !s.colon() {
			return errNumber
		}
		typ, ok := s.long()
		if !ok || uint64(typ) > 1<<32-1 {
			return errNumber
		}
		if !s.colon() {
			return s.missing()
		}
		value, ok := s.number()
		if !ok {
			return errNumber
		}
		if !d.pair(&h, uint32(typ), value) {
			return errUnsure
		}
	}
	if uint64(t) > maxTime {
		return errTime
	}
	idle := d.idle(l, t, &h)
	if idle && !d.mayFind(trace.CodeUnusedRecord) || !d.prepare(l, t, &h) || !d.advance(l, t) {
		return errUnsure
	}
	d.block.counts.Events++
	if idle {
		d.find(trace.CodeUnusedRecord, "an event that tells more about a call, and no call begins on its line")
	}
	for range h.crowded {
		d.find(trace.CodeLimitExceeded, "more than %d event types that are counters", maxMeters)
	}
	d.apply(l, t, &h)
	return nil
}

// communication reads cpuS:applS:taskS:threadS:logS:phyS:cpuR:applR:taskR:threadR:logR:
// phyR:size:tag. Extrae's times are those of calls: logS and phyS the begin and end of the
// send, logR when the receive was posted, phyR when it was completed; Dimemas' phyS and phyR
// are when the message was on the wire. The lines need not be in order of any of these.
func (d *decoder) communication(s *scanner) error {
	f := d.fields[:14]
	if err := s.numbers(f); err != nil {
		return err
	}
	if !s.atEnd() {
		return s.extra()
	}
	from, to := d.thread(f[1], f[2], f[3]), d.thread(f[7], f[8], f[9])
	if from == nil || to == nil {
		return errObject
	}
	for _, t := range [...]int64{f[4], f[5], f[10], f[11]} {
		if uint64(t) > maxTime {
			return errTime
		}
	}
	if d.main == nil && !d.dialect && d.comms.known(f[1], f[7]) == trace.None {
		return errUnsure
	}
	d.block.last = max(d.block.last, f[4], f[5], f[10], f[11])
	d.block.counts.Communications++
	size := uint64(f[12])
	if f[12] < 0 {
		size = uint64(uint32(f[12])) // written as a signed number of 32 bits
	}
	if d.dialect {
		return nil
	}
	comm := d.comms.between(f[1], f[7])
	row := trace.P2PRow{Time: f[4], Kind: trace.KindMpiSend, Peer: to.task, Comm: comm,
		Tag: uint32(f[13]), Bytes: size, Request: uint64(f[5])}
	from.messages.AddP2P(row)
	row.Time, row.Kind, row.Peer, row.Request = f[10], trace.KindMpiRecv, from.task, uint64(f[11])
	to.messages.AddP2P(row)
	return nil
}

// global reads cpu:appl:task:thread:time:comm:sent:received:op:flag, the collectives of
// old traces: what 50100001…50100004 tell in newer ones. The line follows that of the call's
// enter; one without such a call is counted and not used.
func (d *decoder) global(s *scanner) error {
	f := d.fields[:8]
	if err := s.numbers(f); err != nil {
		return err
	}
	l := d.thread(f[1], f[2], f[3])
	if l == nil {
		return errObject
	}
	if l.fresh {
		return errUnsure
	}
	h := &l.held
	if !h.on || h.time != f[4] || h.coll {
		if !d.mayFind(trace.CodeUnusedRecord) {
			return errUnsure
		}
		d.block.counts.Globals++
		d.find(trace.CodeUnusedRecord, "a global communication without a collective call that begins at its time")
		return nil
	}
	d.block.counts.Globals++
	h.coll, h.comm, h.sent, h.received = true, d.comms.find(f[5]), uint64(f[6]), uint64(f[7])
	switch d.names.classes[h.region].Op.Pattern() {
	case trace.PatternOneToAll: // the root sends
		h.root = f[6] > 0 && f[7] == 0
	case trace.PatternAllToOne:
		h.root = f[7] > 0 && f[6] == 0
	}
	return nil
}
