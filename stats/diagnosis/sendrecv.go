package diagnosis

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/trace"
)

// unasked is for how much of what slow calls take too long it must be true that their receivers have
// not yet asked for what they send, so that it is said.
const unasked = 0.5

// A postponed is what a place's calls take, waits left out, before their receivers have posted the
// receives of what they send: in ticks, in all and by the receiver's rank. Of several messages of a
// call that for which it is longest counts.
type postponed struct {
	sum int64
	by  []field.RankTime
}

// receiversLate finds how long calls at some places that send and receive are in their call, and do
// not wait for what they receive, before their receivers post.
func (f *finder) receiversLate(at map[field.Site]bool) postponed {
	ranks := make(map[trace.LocationID]int, len(f.t.World))
	for r, l := range f.t.World {
		ranks[l] = r
	}
	times := make([]int64, len(f.t.World))
	for _, l := range f.t.World {
		if int(l) >= len(f.t.Sends) {
			continue // nothing is recorded of the rank
		}
		last, longest, of := uint32(trace.None), int64(0), 0
		for _, rows := range f.t.Sends[l].Rows {
			for i := range rows {
				s := &rows[i]
				if s.State != trace.Matched || s.Call == trace.None {
					continue
				}
				if s.Call != last {
					times[of] += longest
					last, longest = s.Call, 0
				}
				to, known := ranks[s.RecvLoc]
				if time := f.beforePost(at, l, s); known && time > longest {
					longest, of = time, to
				}
			}
		}
		times[of] += longest
	}
	p := postponed{}
	for r, time := range times {
		if time > 0 {
			p.sum, p.by = p.sum+time, append(p.by, field.RankTime{Rank: field.Rank(r), TimeNs: time})
		}
	}
	slices.SortStableFunc(p.by, func(a, b field.RankTime) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	return p
}

// beforePost returns for how long a send's call goes on, without waiting for what it receives,
// until the send's receive is posted; 0 for calls at other places.
func (f *finder) beforePost(at map[field.Site]bool, l trace.LocationID, s *trace.Send) int64 {
	c := f.t.Calls[l].Ptr(int(s.Call))
	if c.Class != trace.ClassSendrecv || int(c.Path) >= len(f.places) || !at[f.places[c.Path]] {
		return 0
	}
	post := f.t.Recvs[s.RecvLoc].Ptr(int(s.Recv)).Post
	if post == trace.None {
		return 0
	}
	begin := c.Enter
	if w := f.a.Waits[l].Of(int(s.Call)); w != nil {
		begin = w.From + w.Time
	}
	return min(c.Leave, f.t.Calls[s.RecvLoc].Ptr(int(post)).Enter) - begin
}

// mayWait says of slow calls that send and receive for whom they may have waited, if most of what
// they take too long passes before the receiver has asked: whether such a call waits for its
// receiver depends on the MPI library, and its record does not tell.
func (f *finder) mayWait(c *candidate, rows []waitstate.Delay) {
	slow, at := int64(0), make(map[field.Site]bool)
	for _, row := range rows {
		slow += f.slow[placeOf(row)]
		if trace.MPIFunctionOf(string(row.Operation)).Class == trace.ClassSendrecv {
			at[placeOf(row)] = true
		}
	}
	if len(at) == 0 {
		return
	}
	late := f.receiversLate(at)
	sum := f.t.Defs.Clock.Nanoseconds(late.sum)
	if slow == 0 || float64(sum) < unasked*float64(slow) {
		return
	}
	c.cause.Evidence["before_receivers_post_ns"] = float64(sum)
	who := culprits(waitstate.Delay{Ranks: late.by, TotalNs: late.sum})
	c.text += fmt.Sprintf(" %s in them pass before the receivers post their receives, mostly %s: these calls may wait for "+
		"their receivers, which is not recorded.", words.Time(sum), words.Ranks(who))
}
