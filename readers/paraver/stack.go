package paraver

import (
	"fmt"
	"slices"

	"tracekit/trace"
)

// A visit is a region that is entered and not left. The format has one value 0 for all leaves
// of an event type, so the visits are how a leave finds its region.
type visit struct {
	region trace.RegionID
	slot   uint32                 // of its event type, see eventtypes.go; trace.None: a state
	site   trace.CallingContextID // None: not told
	class  trace.CallClass
	blocks bool          // a receive in a.blocking belongs to it
	posted bool          // a receive belongs to it
	enter  int64         // ticks
	end    int64         // of a state, ticks
	coll   trace.CollRow // the CollectiveEnd that its leave adds, if Kind says so
}

// flow takes an enter or a leave. An enter may be a leave as well: that of the same slot if
// its type has no nesting, or that of a collective whose value old traces repeat.
func (a *assembler) flow(f *trace.Flow, i int) {
	t := f.Time[i]
	switch n := len(a.visits); {
	case f.Kind[i] == trace.KindLeave:
		a.leaveSlot(uint32(f.Region[i]), t)
		return
	case f.Kind[i] == bareEnter && n > 0 && a.visits[n-1].region == f.Region[i]:
		a.leave(t)
		return
	}
	a.leaveInner()
	site := trace.CallingContextID(trace.None)
	if i < len(f.Context) && f.Kind[i] == trace.KindCallingContextEnter {
		site = f.Context[i]
	}
	region := f.Region[i]
	slot := a.source.inSlot[region]
	if slot != trace.None && a.source.slots[slot].replace {
		if n := len(a.visits); n > 0 && a.visits[n-1].slot == slot {
			a.leave(t)
		}
	}
	a.enter(visit{region: region, slot: slot, site: site, enter: t})
}

// maxDepth bounds the regions that are open at a time; deeper ones are left out.
const maxDepth = 1 << 16

// enter enters a region. A call of MPI begins what endpoints of its time are waiting for.
func (a *assembler) enter(f visit) {
	if len(a.visits) == maxDepth {
		a.ledger.Add(trace.CodeLimitExceeded, a.place(), fmt.Sprintf("a region nested in %d others is left out", maxDepth))
		if f.slot != trace.None {
			a.deep++
		}
		return
	}
	f.class = a.source.classes[f.region].Class
	f.coll.Comm, f.coll.Op = trace.None, a.source.classes[f.region].Op
	a.last = f.enter
	if f.site == trace.None {
		a.out.AddFlow(f.enter, trace.KindEnter, f.region)
	} else {
		a.out.AddContext(f.enter, trace.KindCallingContextEnter, f.region, f.site, 1)
	}
	a.visits = append(a.visits, f)
	if f.slot != trace.None {
		a.open[f.slot]++
	}
	if f.class == trace.ClassNone {
		return
	}
	a.calls = append(a.calls, len(a.visits)-1)
	if len(a.sends)+len(a.posts) > 0 {
		a.attach(len(a.visits) - 1)
	}
}

// maxLeaving bounds the leaves that wait, so that damaged traces take no longer.
const maxLeaving = 64

// leaveSlot leaves a region by its slot. Lines that leave several at a time name them in
// any order, so one that is not the innermost waits for those inside it until the time
// goes on. Of a region that was not entered, the leave alone remains.
func (a *assembler) leaveSlot(slot uint32, t int64) {
	if a.deep > 0 {
		a.deep--
		return
	}
	if n := len(a.visits); n > 0 && a.visits[n-1].slot == slot {
		a.leave(t)
		a.leaveWaiting(t)
		return
	}
	if a.open[slot] > 0 {
		a.leaving, a.leavingAt = append(a.leaving, slot), t
		if len(a.leaving) > maxLeaving {
			a.leaveInner()
		}
		return
	}
	a.last = t
	a.out.AddFlow(t, trace.KindLeave, a.source.slots[slot].unknown)
}

// leaveWaiting leaves the innermost regions as long as their leaves wait.
func (a *assembler) leaveWaiting(t int64) {
	for len(a.leaving) > 0 && len(a.visits) > 0 {
		i := slices.Index(a.leaving, a.visits[len(a.visits)-1].slot)
		if i < 0 {
			return
		}
		a.leaving = slices.Delete(a.leaving, i, i+1)
		a.leave(t)
	}
}

// leaveInner leaves the regions whose leaves wait, and with them all inside them.
func (a *assembler) leaveInner() {
	for len(a.leaving) > 0 {
		slot := a.leaving[0]
		a.leaving = a.leaving[1:]
		for a.open[slot] > 0 {
			inner := a.visits[len(a.visits)-1].slot
			if inner != slot && a.crossings != nil && a.mayPart(slot, inner) {
				a.crossings[crossing{slot, inner}]++
			}
			a.leave(a.leavingAt)
			if inner == slot {
				break
			}
		}
	}
}

// mayPart reports whether one of two slots may get another layer.
func (a *assembler) mayPart(outer, inner uint32) bool {
	return inner != trace.None && (a.source.slots[outer].user || a.source.slots[inner].user)
}

// leave leaves the innermost region, after what ends with it: receives, requests, the
// collective. So these events are within the call.
func (a *assembler) leave(t int64) {
	f := &a.visits[len(a.visits)-1]
	if f.class != trace.ClassNone {
		a.postLate(len(a.visits) - 1)
		a.complete(f, t)
		a.calls = a.calls[:len(a.calls)-1]
	}
	if f.class == trace.ClassColl && f.coll.Kind == trace.KindCollectiveEnd {
		f.coll.Time = t
		a.out.AddColl(f.coll)
	}
	a.last = t
	if f.site == trace.None {
		a.out.AddFlow(t, trace.KindLeave, f.region)
	} else {
		a.out.AddContext(t, trace.KindCallingContextLeave, f.region, f.site, 0)
	}
	if f.slot != trace.None {
		a.open[f.slot]--
	}
	a.visits = a.visits[:len(a.visits)-1]
}
