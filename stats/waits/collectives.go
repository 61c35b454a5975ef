package waits

import (
	"cmp"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A collSum adds up the instances of one operation, in ticks.
type collSum struct {
	count, members, sent, received   uint64
	time, skew, transfer, completion int64
}

// collSums holds the sums by the name of the operation.
type collSums map[string]*collSum

func (s collSums) merge(o collSums) {
	for name, x := range o {
		sum := s.named(name)
		sum.count, sum.members, sum.sent, sum.received = sum.count+x.count, sum.members+x.members, sum.sent+x.sent, sum.received+x.received
		sum.time, sum.skew, sum.transfer, sum.completion = sum.time+x.time, sum.skew+x.skew, sum.transfer+x.transfer, sum.completion+x.completion
	}
}

// add splits the time of the members of an instance into skew (until the last member
// arrives), transfer (until the first one leaves) and completion, clamped to each member's
// own call, so that the three sum to the time in the call. The time in calls that only
// start an operation is all transfer: nobody waits there.
func (s collSums) add(w *Finder, c *trace.Collective, in []member) {
	if len(in) == 0 {
		return
	}
	arrived, left := in[0].enter, in[0].leave
	for i := range in {
		arrived, left = max(arrived, in[i].enter), min(left, in[i].leave)
	}
	sum := s.of(w, c, &in[0])
	counted := false
	for i := range in {
		m := &in[i]
		if !w.Scope.Overlaps(m.location, m.enter, m.leave) {
			continue
		}
		counted = true
		sum.members++
		sum.sent += m.sent
		sum.received += m.recvd
		sum.split(w.Scope, m, arrived, left)
	}
	if counted {
		sum.count++
	}
}

// split adds the time of one member.
func (s *collSum) split(scope *scope.Scope, m *member, arrived, left int64) {
	time := scope.Clip(m.enter, m.leave)
	s.time = numbers.Plus(s.time, time)
	if m.done != m.call {
		s.transfer = numbers.Plus(s.transfer, time)
		return
	}
	arrived = min(max(arrived, m.enter), m.leave)
	left = min(max(left, arrived), m.leave)
	skew, transfer := scope.Clip(m.enter, arrived), scope.Clip(arrived, left)
	s.skew = numbers.Plus(s.skew, skew)
	s.transfer = numbers.Plus(s.transfer, transfer)
	s.completion = numbers.Plus(s.completion, time-skew-transfer)
}

// of returns the sum of an operation. Operations of MPI have its names; the management of
// communicators, and what is done with windows, is named after the function that is called.
func (s collSums) of(w *Finder, c *trace.Collective, first *member) *collSum {
	name := "MPI_" + c.Op.String()
	switch {
	case c.Op.Pattern() == trace.PatternNone || c.Op.Pattern() == trace.PatternFence:
		call := w.T.Calls[first.location].At(int(first.call))
		name = w.T.Defs.RegionLabel(w.T.Tree.Region(call.Path))
	case first.done != first.call:
		name = "MPI_I" + strings.ToLower(c.Op.String())
	}
	return s.named(name)
}

func (s collSums) named(name string) *collSum {
	sum := s[name]
	if sum == nil {
		sum = new(collSum)
		s[name] = sum
	}
	return sum
}

// Rows returns the block of the document, the operation that takes the most time first.
func (s collSums) Rows(r numbers.Rate) []document.CollectiveRow {
	rows := []document.CollectiveRow{}
	for name, c := range s {
		if c.count == 0 {
			continue
		}
		row := document.CollectiveRow{Operation: name, Count: c.count, Members: c.members, BytesSent: c.sent, BytesReceived: c.received,
			TimeNs: r.Ns(c.time)}
		split := numbers.Splitter{Rate: r}
		row.SkewNs, row.TransferNs, row.CompletionNs = split.Ns(c.skew), split.Ns(c.transfer), split.Ns(c.completion)
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b document.CollectiveRow) int {
		return cmp.Or(cmp.Compare(b.TimeNs, a.TimeNs), cmp.Compare(a.Operation, b.Operation))
	})
	return rows
}
