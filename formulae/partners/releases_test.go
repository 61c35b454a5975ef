package partners_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/formulae/partners"
	"tracekit/merge"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// waits returns for how long each call of a trace waits, location by location, in the order of calls.
func waits(t *testing.T, text string) (out [][]int64, late []uint64) {
	t.Helper()
	m, err := merge.Merge(t.Context(), tracetest.MustParse(t, text), merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Store.Close()
	r, err := partners.Find(t.Context(), m, partners.RanksOf(m.Defs), 1<<20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for l, calls := range m.Calls {
		var list []int64
		cursor := r.Cursor(trace.LocationID(l))
		for i := range calls.Len() {
			call := calls.Ptr(i)
			if call.Seq() > 0 {
				if _, ok := cursor.Of(call.Seq() - 1); ok {
					t.Errorf("location %d: event %d is a call", l, call.Seq()-1)
				}
			}
			until, ok := cursor.Of(call.Seq())
			if !ok {
				t.Errorf("location %d: event %d is no call", l, call.Seq())
			}
			list = append(list, max(until, call.Enter)-call.Enter)
		}
		out, late = append(out, list), append(late, r.Late(trace.LocationID(l)))
	}
	return out, late
}

// Of each operation, root and number of members: a member waits for those whose data it gets, until the last of them has entered.
func TestMembersWaitForWhatTheyGet(t *testing.T) {
	t.Parallel()
	all := func(int, int, int) bool { return true }
	fromRoot := func(member, other, root int) bool { return other == root && member != root }
	atRoot := func(member, _, root int) bool { return member == root }
	fromLower := func(member, other, _ int) bool { return other < member }
	r := rand.New(rand.NewPCG(1, 2))
	for op, gets := range map[string]func(member, other, root int) bool{
		"Barrier": all, "Allgather": all, "Allgatherv": all, "Alltoall": all, "Alltoallv": all, "Alltoallw": all, "Allreduce": all,
		"Reduce_scatter": all, "Reduce_scatter_block": all, "Bcast": fromRoot, "Scatter": fromRoot, "Scatterv": fromRoot,
		"Reduce": atRoot, "Gather": atRoot, "Gatherv": atRoot, "Scan": fromLower, "Exscan": fromLower,
		"op=77": func(int, int, int) bool { return false },
	} {
		for size := 1; size <= 5; size++ {
			for root := range size {
				text, enters := "", make([]int64, size)
				for m := range size {
					enters[m] = 10 + r.Int64N(80)
					text += fmt.Sprintf("location %d rank=%d\n %d Enter MPI_Barrier ; %d MpiCollectiveBegin ; 100 MpiCollectiveEnd %s root=%d ; "+
						"101 Leave MPI_Barrier\n",
						m, m, enters[m], enters[m], op, root)
				}
				got, late := waits(t, text)
				for m := range size {
					want := int64(0)
					for other := range size {
						if gets(m, other, root) {
							want = max(want, enters[other]-enters[m])
						}
					}
					if got[m][0] != want || late[m] != 0 {
						t.Errorf("%s of %d with root %d, entered at %v: member %d waits %d (and %d for senders), want %d",
							op, size, root, enters, m, got[m][0], late[m], want)
					}
				}
			}
		}
	}
}

// Nobody is known to wait where a member is missing, the members disagree, or the root is none of them.
func TestNobodyWaitsInUnknownCollectives(t *testing.T) {
	t.Parallel()
	const begin, end = "MpiCollectiveBegin ; 100 MpiCollectiveEnd ", " ; 101 Leave MPI_Barrier\n"
	for name, ends := range map[string][2]string{
		"a member is missing":  {"Barrier", ""},
		"different operations": {"Barrier", "Allreduce"},
		"a root beyond":        {"Bcast root=7", "Bcast root=7"},
		"no root":              {"Bcast root=none", "Bcast root=none"},
	} {
		text := ""
		for l, e := range ends {
			text += fmt.Sprintf("location %d rank=%d\n", l, l)
			if e != "" {
				text += fmt.Sprintf(" %d Enter MPI_Barrier ; %d %s%s%s", 10+30*l, 10+30*l, begin, e, end)
			}
		}
		got, _ := waits(t, text)
		for l := range got {
			for _, w := range got[l] {
				if w != 0 {
					t.Errorf("%s: member %d waits %d", name, l, w)
				}
			}
		}
	}
}

// A call waits until the last of its messages was sent. A sender is late from when the call began until it began to send,
// each part of that once.
func TestCallsWaitForTheirLastMessage(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		const messages = 4
		begin := 20 + r.Int64N(60)
		wait := int64(0)
		late := int64(0)
		sends, posts, received := "location 0 rank=0\n", "location 1 rank=1\n", ""
		at := int64(0)
		for i := range messages {
			enter := at + r.Int64N(15)
			send := enter + 1 + r.Int64N(5)
			at = send + 1
			sends += fmt.Sprintf(" %d Enter MPI_Isend ; %d MpiIsend to=1 tag=%d bytes=8 req=%d ; %d Leave MPI_Isend\n", enter, send, i, i+1, at)
			posts += fmt.Sprintf(" %d Enter MPI_Irecv ; %d MpiIrecvRequest req=%d ; %d Leave MPI_Irecv\n", i, i, i+1, i)
			received = fmt.Sprintf(" 200 MpiIrecv from=0 tag=%d bytes=8 req=%d\n", i, i+1) + received // the last one first
			wait, late = max(wait, send-begin), max(late, enter-begin)
		}
		text := sends + posts + fmt.Sprintf(" %d Enter MPI_Waitall\n%s 200 Leave MPI_Waitall\n", begin, received)
		got, sum := waits(t, text)
		if w := got[1][messages]; w != wait || sum[1] != uint64(late) || sum[0] != 0 {
			t.Errorf("waits %d, %d of it for late senders; want %d and %d:\n%s", w, sum[1], wait, late, text)
		}
		if slices.Max(slices.Concat(got[0], got[1][:messages])) > 0 {
			t.Errorf("a call that completes nothing waits: %v", got)
		}
	}
}
