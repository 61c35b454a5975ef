package diagnosis

import (
	"cmp"
	"slices"
	"sort"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// incomplete are the calls of which the trace does not say for whom they wait, since a record is missing.
type incomplete struct {
	missing waits.Incomplete
	rows    []document.IncompleteCalls       // by place and what is missing, the most time first
	at      map[field.Site]incompleteAtPlace // sums of rows
}

type incompleteAtPlace struct{ time, path int64 }

// kinds are what a call may lack, by waits.Lack.
var kinds = [...]document.Missing{waits.LacksMessage: document.MissingMessage, waits.LacksGroup: document.MissingGroup,
	waits.LacksMember: document.MissingMember, waits.LacksSend: document.MissingSend, waits.LacksReceive: document.MissingReceive}

// share returns how much of the time of all ranks passes in calls of which a record is missing.
func (x *incomplete) share() (sum float64) {
	for _, row := range x.rows {
		sum += *row.Share
	}
	return sum
}

// findIncomplete finds the calls of which a record is missing, and their time in the part of the run that is analyzed.
func (f *finder) findIncomplete() {
	x := &f.incomplete
	x.missing, x.at = f.a.Incomplete, make(map[field.Site]incompleteAtPlace)
	type row struct {
		at      field.Site
		missing waits.Lack
	}
	sums := make(map[row]*document.IncompleteCalls)
	axis := scope.NewAxis(f.t)
	f.eachIncomplete(func(l trace.LocationID, c *trace.Call, missing waits.Lack, wait int64) {
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
		f.onCriticalPath(axis.Instant, func(c *trace.Call, missing waits.Lack, time int64) {
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

// eachIncomplete visits the calls of which a record is missing, with what that is and how long they are known to wait, in ticks.
func (f *finder) eachIncomplete(visit func(l trace.LocationID, c *trace.Call, missing waits.Lack, wait int64)) {
	for l, missing := range f.incomplete.missing {
		if missing == nil {
			continue
		}
		for first, rows := range missing.Rows {
			for i, of := range rows {
				if of > waits.LacksNothing {
					visit(trace.LocationID(l), f.t.Calls[l].Ptr(first+i), of, f.a.Waits[l].At(first+i).Time)
				}
			}
		}
	}
}

// onCriticalPath visits them where the critical path leads through them, with the time of it there, in ns.
func (f *finder) onCriticalPath(instant func(int64) int64, visit func(c *trace.Call, missing waits.Lack, time int64)) {
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
				if of := missing.At(i); of > waits.LacksNothing {
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
		if row.Operation != "" && !document.StartsUp(string(row.Operation)) {
			u.SourceLine, u.Operation, u.CriticalPathNs = row.SourceLine, row.Operation, row.TimeNs
			break
		}
	}
	return u
}
