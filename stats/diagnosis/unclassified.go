package diagnosis

import (
	"cmp"
	"slices"
	"sort"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/spill"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// incomplete are the calls of which the trace does not say for whom they wait, since a record is missing.
type incomplete struct {
	missing []*spill.Table[uint8]            // by location and call: index into kinds; nil: the location has no calls
	rows    []document.IncompleteCalls       // by place and what is missing, the most time first
	at      map[field.Site]incompleteAtPlace // sums of rows
}

type incompleteAtPlace struct{ time, path int64 }

// kinds are what a call may lack. Those behind the first two are worse than what stands before them.
var kinds = [...]document.Missing{"", "", document.MissingMessage, document.MissingMember, document.MissingSend, document.MissingReceive}

const (
	unknown   = iota // no record of a message was met
	whole            // nothing is missing
	noMessage        // indices into kinds
	noMember
	noSend
	noReceive
)

// has reports whether a record is missing of a call.
func (x *incomplete) has(l trace.LocationID, call uint32) bool {
	return x.missing[l] != nil && x.missing[l].At(int(call)) > whole
}

// share returns how much of the time of all ranks passes in calls of which a record is missing.
func (x *incomplete) share() (sum float64) {
	for _, row := range x.rows {
		sum += *row.Share
	}
	return sum
}

func (x *incomplete) release() {
	for _, table := range x.missing {
		if table != nil {
			table.Release()
		}
	}
}

// findIncomplete finds the calls of which a record is missing, and their time in the part of the run that is analyzed.
func (f *finder) findIncomplete() {
	x := &f.incomplete
	x.missing, x.at = make([]*spill.Table[uint8], len(f.t.Calls)), make(map[field.Site]incompleteAtPlace)
	for l, calls := range f.t.Calls {
		if calls.Len() > 0 && f.t.Defs.Locations[l].Kind == trace.LocationCPUThread {
			x.missing[l] = spill.NewZeros[uint8](f.t.Store, calls.Len())
			f.mark(trace.LocationID(l))
		}
	}
	type row struct {
		at      field.Site
		missing uint8
	}
	sums := make(map[row]*document.IncompleteCalls)
	axis := scope.NewAxis(f.t)
	f.eachIncomplete(func(l trace.LocationID, c *trace.Call, missing uint8, wait int64) {
		time := f.inPart(axis.Instant(c.Enter), axis.Instant(c.Leave)) - f.t.Defs.Clock.Nanoseconds(wait)
		if time <= 0 {
			return
		}
		k := row{f.places[c.Path], missing}
		s := sums[k]
		if s == nil {
			s = &document.IncompleteCalls{SourceLine: k.at.SourceLine, Operation: k.at.Operation, Missing: kinds[missing]}
			sums[k] = s
		}
		s.Calls, s.TimeNs = s.Calls+1, s.TimeNs+time
	})
	if len(sums) > 0 {
		f.onCriticalPath(axis.Instant, func(c *trace.Call, missing uint8, time int64) {
			if s := sums[row{f.places[c.Path], missing}]; s != nil {
				s.CriticalPathNs += time
			}
		})
	}
	for k, s := range sums {
		share := float64(s.TimeNs) / float64(f.run) / float64(max(1, len(f.ranks)))
		s.Share = &share
		x.rows = append(x.rows, *s)
		sum := x.at[k.at]
		x.at[k.at] = incompleteAtPlace{sum.time + s.TimeNs, sum.path + s.CriticalPathNs}
	}
	slices.SortFunc(x.rows, func(a, b document.IncompleteCalls) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Region, b.Region),
			cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Missing, b.Missing))
	})
}

// mark notes what is missing of the calls of a location that may wait.
func (f *finder) mark(l trace.LocationID) {
	missing := f.incomplete.missing[l]
	note := func(call uint32, state trace.MessageState, without uint8) {
		if call == trace.None {
			return
		}
		if state == trace.Matched || state == trace.Cancelled {
			without = whole
		}
		missing.Set(int(call), max(missing.At(int(call)), without))
	}
	for _, rows := range f.t.Sends[l].Rows {
		for i := range rows {
			note(rows[i].Call, rows[i].State, noReceive)
			if rows[i].Done != rows[i].Call {
				note(rows[i].Done, rows[i].State, noReceive)
			}
		}
	}
	for _, rows := range f.t.Recvs[l].Rows {
		for i := range rows {
			note(rows[i].Call, rows[i].State, noSend)
		}
	}
	for first, calls := range f.t.Calls[l].Rows {
		for i := range calls {
			c, of := &calls[i], missing.Ptr(first+i)
			switch c.Class {
			case trace.ClassSend, trace.ClassRecv, trace.ClassSendrecv, trace.ClassWait, trace.ClassColl:
				switch {
				case c.Coll != trace.None:
					if coll := f.t.Collectives.Ptr(int(c.Coll)); coll.Count < coll.Size {
						*of = max(*of, noMember)
					}
				case *of == unknown:
					*of = noMessage
				}
			default: // it waits for nobody
				*of = whole
			}
		}
	}
}

// eachIncomplete visits the calls of which a record is missing, with what that is and how long they are known to wait, in ticks.
func (f *finder) eachIncomplete(visit func(l trace.LocationID, c *trace.Call, missing uint8, wait int64)) {
	for l, missing := range f.incomplete.missing {
		if missing == nil {
			continue
		}
		for first, rows := range missing.Rows {
			for i, of := range rows {
				if of > whole {
					visit(trace.LocationID(l), f.t.Calls[l].Ptr(first+i), of, f.a.Waits[l].At(first+i).Time)
				}
			}
		}
	}
}

// onCriticalPath visits them where the critical path leads through them, with the time of it there, in ns.
func (f *finder) onCriticalPath(instant func(int64) int64, visit func(c *trace.Call, missing uint8, time int64)) {
	if f.a.Path == nil {
		return
	}
	for _, segments := range f.a.Path.Rows {
		for _, s := range segments {
			missing := f.incomplete.missing[s.Location]
			if missing == nil {
				continue
			}
			calls := f.t.Calls[s.Location]
			for i := sort.Search(calls.Len(), func(i int) bool { return instant(calls.Ptr(i).Enter) >= s.ToNs }) - 1; i >= 0; i-- {
				c := calls.Ptr(i)
				if instant(c.Leave) <= s.FromNs {
					break
				}
				if of := missing.At(i); of > whole {
					visit(c, of, f.inPart(max(s.FromNs, instant(c.Enter)), min(s.ToNs, instant(c.Leave))))
				}
			}
		}
	}
}

// inPart returns how much of a time lies in the part of the run that is analyzed, ns.
func (f *finder) inPart(from, to int64) int64 {
	if s := f.a.Selection; s != nil {
		from, to = max(from, s.FromNs), min(to, s.ToNs)
	}
	return max(0, to-from)
}

// unclassified returns the time in MPI calls that no cause has, nil if it is not worth a word; explained is what causes have of it, ns.
func (f *finder) unclassified(explained int64) *document.Unclassified {
	u := &document.Unclassified{Incomplete: []document.IncompleteCalls{}}
	worth := false
	for _, row := range f.incomplete.rows {
		if *row.Share >= leastGain || float64(row.CriticalPathNs) >= leastGain*float64(f.run) {
			u.Incomplete, worth = append(u.Incomplete, row), true
		}
	}
	if lost, ok := f.inCalls(); ok && f.network != nil {
		time := max(0, lost-*f.network-explained)
		share := float64(time) / float64(f.run)
		u.TimeNs, u.Share, worth = &time, &share, worth || share >= leastGain
	}
	if !worth {
		return nil
	}
	for _, row := range f.a.CriticalPath.Regions {
		if row.Operation != "" && !startsUp(row.Operation) {
			u.SourceLine, u.Operation, u.CriticalPathNs = row.SourceLine, row.Operation, row.TimeNs
			break
		}
	}
	return u
}
