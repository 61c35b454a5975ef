package analysis_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/overhead"
	"tracekit/trace"
)

// keysOf returns the keys of a trace as "operation role processes bytes × calls", in order.
func keysOf(t *testing.T, a *analysis.Result) []string {
	t.Helper()
	keys := slices.Clone(a.Overhead.Keys)
	slices.SortFunc(keys, func(a, b document.OverheadKey) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Bytes, b.Bytes))
	})
	var out []string
	for _, k := range keys {
		text := strings.Join(strings.Fields(fmt.Sprint(k.Operation, " ", k.Role, " ", k.Processes)), " ")
		if text = fmt.Sprintf("%s %d × %d", text, k.Bytes, k.Calls); len(k.Pooled) > 0 {
			text += fmt.Sprint(" pooled ", k.Pooled)
		}
		out = append(out, text)
	}
	return out
}

// collectivesText is one instance of each collective on four ranks, the root being rank 1.
// Every rank passes blocks of 8 bytes to each. As Score-P records them the bytes are sums over the ranks, as Extrae does they are the
// arguments of the call.
func collectivesText(summed bool) string {
	type record struct {
		op                               string
		rootSent, rootGot, sent, got     int // as the caller passed them
		rootSentSum, rootGotSum, sum, by int // summed over the ranks
	}
	records := []record{
		{"Bcast", 8, 0, 0, 8, 32, 8, 0, 8}, {"Reduce", 0, 8, 8, 0, 8, 32, 8, 0},
		{"Scatter", 32, 8, 0, 8, 32, 8, 0, 8}, {"Gather", 8, 32, 8, 0, 8, 32, 8, 0},
		{"Scatterv", 32, 8, 0, 8, 32, 8, 0, 8}, {"Gatherv", 8, 32, 8, 0, 8, 32, 8, 0},
		{"Allreduce", 8, 8, 8, 8, 32, 32, 32, 32}, {"Allgather", 8, 32, 8, 32, 32, 32, 32, 32},
		{"Alltoall", 8, 32, 8, 32, 32, 32, 32, 32}, {"Alltoallv", 32, 32, 32, 32, 32, 32, 32, 32},
		{"Reduce_scatter", 32, 8, 32, 8, 32, 32, 32, 32}, {"Barrier", 0, 0, 0, 0, 0, 0, 0, 0},
	}
	var s strings.Builder
	for rank := range 4 {
		fmt.Fprintf(&s, "location %d rank%d rank=%d\n", rank, rank, rank)
		for i, r := range records {
			sent, got := r.sent, r.got
			switch {
			case rank == 1 && summed:
				sent, got = r.rootSentSum, r.rootGotSum
			case rank == 1:
				sent, got = r.rootSent, r.rootGot
			case summed:
				sent, got = r.sum, r.by
			}
			root := "1"
			if strings.HasPrefix(r.op, "A") || r.op == "Barrier" || r.op == "Reduce_scatter" {
				root = "none"
			}
			at := 100 * (i + 1)
			fmt.Fprintf(&s, "  %d Enter MPI_%s ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd %s root=%s sent=%d received=%d ; %d Leave MPI_%s\n",
				at, r.op, at+1, at+8, r.op, root, sent, got, at+9, r.op)
		}
	}
	return s.String()
}

// TestKeysOfCollectives: however a recorder counts, keys have the bytes that the caller passed,
// and root and leaves are apart.
func TestKeysOfCollectives(t *testing.T) {
	want := []string{
		"MPI_Allgather 4 8 × 4", "MPI_Allreduce 4 8 × 4", "MPI_Alltoall 4 8 × 4", "MPI_Alltoallv 4 8 × 4", "MPI_Barrier 4 0 × 4",
		"MPI_Bcast leaf 4 8 × 3", "MPI_Bcast root 4 8 × 1", "MPI_Gather leaf 4 8 × 3", "MPI_Gather root 4 8 × 1",
		"MPI_Gatherv leaf 4 8 × 3", "MPI_Gatherv root 4 8 × 1", "MPI_Reduce leaf 4 8 × 3", "MPI_Reduce root 4 8 × 1",
		"MPI_Reduce_scatter 4 8 × 4", "MPI_Scatter leaf 4 8 × 3", "MPI_Scatter root 4 8 × 1",
		"MPI_Scatterv leaf 4 8 × 3", "MPI_Scatterv root 4 8 × 1",
	}
	for _, summed := range []bool{true, false} {
		_, a := overheadOf(t, collectivesText(summed), overhead.Options{})
		if diff := gocmp.Diff(want, keysOf(t, a)); diff != "" {
			t.Errorf("sums over ranks %v: - is wanted, + is found:\n%s", summed, diff)
		}
	}
}

// TestKeysOfScans: a scan is recorded as what a rank gives to those above and gets from those
// below; with one Bcast that says so, every rank passed 8 bytes.
func TestKeysOfScans(t *testing.T) {
	var s strings.Builder
	for rank := range 4 {
		bcast := []int{32, 0, 0, 0}[rank]
		fmt.Fprintf(&s, "location %d rank%d rank=%d\n  0 Enter MPI_Bcast ; 1 MpiCollectiveBegin ; 2 MpiCollectiveEnd Bcast root=0 sent=%d "+
			"received=8 ; 3 Leave MPI_Bcast\n", rank, rank, rank, bcast)
		fmt.Fprintf(&s, "  10 Enter MPI_Scan ; 11 MpiCollectiveBegin ; 12 MpiCollectiveEnd Scan root=none sent=%d received=%d ; 13 Leave "+
			"MPI_Scan\n", 8*(4-rank), 8*(rank+1))
		fmt.Fprintf(&s, "  20 Enter MPI_Exscan ; 21 MpiCollectiveBegin ; 22 MpiCollectiveEnd Exscan root=none sent=%d received=%d ; 23 Leave "+
			"MPI_Exscan\n", 8*(3-rank), 8*rank)
	}
	_, a := overheadOf(t, s.String(), overhead.Options{})
	want := []string{"MPI_Bcast leaf 4 8 × 3", "MPI_Bcast root 4 8 × 1", "MPI_Exscan 4 8 × 4", "MPI_Scan 4 8 × 4"}
	if diff := gocmp.Diff(want, keysOf(t, a)); diff != "" {
		t.Errorf("- is wanted, + is found:\n%s", diff)
	}
}

// TestKeysOfRequests: a call that posts a receive has the bytes of the message that it gets; a call
// that completes requests has the role of what it completes, and its bytes.
func TestKeysOfRequests(t *testing.T) {
	var a, b strings.Builder
	at := 0
	exchange := func(bytes int, together bool) {
		for _, w := range []struct {
			to    *strings.Builder
			other int
		}{{&a, 1}, {&b, 0}} {
			fmt.Fprintf(w.to, "  %d Enter MPI_Irecv ; %d MpiIrecvRequest req=1 ; %d Leave MPI_Irecv\n", at, at+1, at+2)
			fmt.Fprintf(w.to, "  %d Enter MPI_Isend ; %d MpiIsend to=%d bytes=%d req=2 ; %d Leave MPI_Isend\n", at+3, at+4, w.other, bytes,
				at+5)
			if together {
				fmt.Fprintf(w.to, "  %d Enter MPI_Waitall ; %d MpiIrecv from=%d bytes=%d req=1 ; %d MpiIsendComplete req=2 ; %d Leave MPI_Waitall\n",
					at+20, at+21, w.other, bytes, at+22, at+23)
				continue
			}
			fmt.Fprintf(w.to, "  %d Enter MPI_Wait ; %d MpiIrecv from=%d bytes=%d req=1 ; %d Leave MPI_Wait\n", at+20, at+21, w.other,
				bytes, at+22)
			fmt.Fprintf(w.to, "  %d Enter MPI_Wait ; %d MpiIsendComplete req=2 ; %d Leave MPI_Wait\n", at+23, at+24, at+25)
		}
		at += 100
	}
	for range 30 { // of two ranks: enough for each size to stand alone
		exchange(100, false)
		exchange(3000, true)
	}
	for range 2 {
		exchange(7000, true)
	}
	for i, to := range []*strings.Builder{&a, &b} {
		fmt.Fprintf(to, "  %d Enter MPI_Sendrecv ; %d MpiSend to=%d bytes=16 ; %d MpiRecv from=%d bytes=16 ; %d Leave MPI_Sendrecv\n",
			at+10,
			at+11, 1-i, at+20, 1-i, at+21)
		fmt.Fprintf(to, "  %d Enter MPI_Ibcast ; %d NonBlockingCollectiveRequest req=9 ; %d Leave MPI_Ibcast\n", at+30, at+31, at+32)
		fmt.Fprintf(to, "  %d Enter MPI_Wait ; %d NonBlockingCollectiveComplete Bcast root=0 sent=%d received=64 req=9 ; %d Leave MPI_Wait\n",
			at+40, at+41, 128-128*i, at+42)
	}
	want := []string{
		"MPI_Ibcast leaf 2 64 × 1", "MPI_Ibcast root 2 64 × 1",
		"MPI_Irecv 2 100 × 60", "MPI_Irecv 2 3250 × 64 pooled [3000 7000]", "MPI_Isend 2 100 × 60", "MPI_Isend 2 3250 × 64 pooled [3000 7000]",
		"MPI_Sendrecv both 2 16 × 2",
		"MPI_Wait leaf 2 64 × 1", "MPI_Wait receives 2 100 × 60", "MPI_Wait root 2 64 × 1", "MPI_Wait sends 2 100 × 60",
		"MPI_Waitall both 2 6500 × 64 pooled [6000 14000]",
	}
	_, found := overheadOf(t, "location 0 rank0 rank=0\n"+a.String()+"location 1 rank1 rank=1\n"+b.String(), overhead.Options{})
	if diff := gocmp.Diff(want, keysOf(t, found)); diff != "" {
		t.Errorf("- is wanted, + is found:\n%s", diff)
	}
}

// keysAreSound states that no key of a collective with a root mixes roles, and that calls that post
// receives have the bytes of the messages that they get.
func keysAreSound(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	var empty uint64
	for _, k := range a.Overhead.Keys {
		rooted := slices.ContainsFunc([]string{"Bcast", "Reduce", "Gather", "Gatherv", "Scatter", "Scatterv"}, func(op string) bool {
			return k.Operation == "MPI_"+op
		})
		if rooted && k.Role != "root" && k.Role != "leaf" {
			t.Errorf("%s has role %q", k.Operation, k.Role)
		}
		if k.Operation == "MPI_Irecv" && k.Bytes == 0 {
			empty += k.Calls
		}
	}
	if calls, got := postings(tr); empty > calls-got {
		t.Errorf("%d of %d calls of MPI_Irecv have no bytes, but %d get a message", empty, calls, got)
	}
}

// postings counts the calls of MPI_Irecv, and those that get a message that is not empty.
func postings(tr *trace.Trace) (calls, got uint64) {
	for l := range tr.Calls {
		gets := make(map[uint32]bool)
		for i := range tr.Recvs[l].Len() {
			if r := tr.Recvs[l].At(i); r.Bytes > 0 {
				gets[r.Post] = true
			}
		}
		for i := range tr.Calls[l].Len() {
			if c := tr.Calls[l].At(i); tr.Defs.RegionLabel(tr.Tree.Region(c.Path)) == "MPI_Irecv" {
				calls++
				if gets[uint32(i)] {
					got++
				}
			}
		}
	}
	return calls, got
}

// entriesFor makes a profile of entries with t_min 5 and the given t_max.
func entriesFor(tMax map[fit.Key]int64) *fit.Profile {
	p := &fit.Profile{Quantile: 0.99}
	for k, t := range tMax {
		p.Entries = append(p.Entries, fit.Entry{Key: k, Calls: 100, TMin: 5, TMax: t, From: fit.FromLaw})
	}
	slices.SortFunc(p.Entries, func(a, b fit.Entry) int { return fit.CompareKeys(a.Key, b.Key) })
	return p
}

// TestProfileIsNotMixed: a row has t_min and t_max of one source, and no law of the other; calls that the
// profile knows nothing of are counted.
func TestProfileIsNotMixed(t *testing.T) {
	profile := entriesFor(map[fit.Key]int64{{Operation: "MPI_Send", Processes: 2, Bytes: 100}: 1630})
	var slow []int64
	for range 60 {
		slow = append(slow, 16_000_000)
	}
	_, a := overheadOf(t, sendsText(map[string][]int64{"a.c:5": slow}, []string{"a.c:5"}), overhead.Options{Profile: profile})
	for _, k := range a.Overhead.Keys {
		switch k.Operation {
		case "MPI_Send":
			if k.Source != "profile" || k.TMinNs != 5 || k.TMaxNs != 1630 || k.LeastNs != 16_000_000 || k.Model != "" || k.Chi2 != nil ||
				k.Accepted {
				t.Errorf("key of the profile: %+v", k)
			}
		case "MPI_Recv":
			if k.Source != "trace" || k.TMinNs != k.LeastNs || k.TMaxNs < k.TMinNs {
				t.Errorf("key of the trace: %+v", k)
			}
		}
	}
	if p := a.Overhead.Pairs[0]; !p.Mixed {
		t.Errorf("a pair with sends held to the profile and receives to the trace: %+v", p)
	}
	for _, l := range a.Lines {
		if want := map[field.Name]field.Name{"MPI_Send": "profile", "MPI_Recv": "trace"}[l.Operation]; l.OverheadSource != want {
			t.Errorf("%s: overhead by the %q, want %q", l.Operation, l.OverheadSource, want)
		}
	}
	for _, l := range a.Overhead.Lines {
		if want := map[string]uint64{"MPI_Send": 60}[l.Operation]; l.ProfileCalls != want {
			t.Errorf("%s: %d calls by the profile, want %d", l.Operation, l.ProfileCalls, want)
		}
	}
}

// TestVerdictNeedsDominance: of two lines with nearly the same overhead none is late, however large
// it is; an overhead beyond a threshold that cannot be trusted decides nothing.
func TestVerdictNeedsDominance(t *testing.T) {
	profile := func(unreliable string) *fit.Profile {
		p := entriesFor(map[fit.Key]int64{{Operation: "MPI_Send", Processes: 2, Bytes: 100}: 100,
			{Operation: "MPI_Recv", Processes: 2, Bytes: 100}: 100})
		for i := range p.Entries {
			p.Entries[i].Unreliable = p.Entries[i].Operation == unreliable
		}
		return p
	}
	text := func(send, recv int) string {
		var s, r strings.Builder
		for i := range 10 {
			at := i * 100_000
			fmt.Fprintf(&s, "  %d Enter MPI_Send @a.c:5 ; %d MpiSend to=1 bytes=100 ; %d Leave MPI_Send\n", at, at+1, at+100+send)
			fmt.Fprintf(&r, "  %d Enter MPI_Recv @a.c:9 ; %d MpiRecv from=0 bytes=100 ; %d Leave MPI_Recv\n", at+1, at+50+recv, at+101+recv)
		}
		return "location 0 rank0 rank=0\n" + s.String() + "location 1 rank1 rank=1\n" + r.String()
	}
	for _, tt := range []struct {
		send, recv      int
		unreliable      string
		verdict, reason string
	}{
		{1380, 1410, "", "undecided", "nearly equal"},
		{1410, 1380, "", "undecided", "nearly equal"},
		{1000, 1999, "", "undecided", "nearly equal"},
		{1000, 2000, "", "late sender", ""},
		{2000, 1000, "", "late receiver", ""},
		{0, 1, "", "late sender", ""},
		{1, 0, "", "late receiver", ""},
		{0, 0, "", "none", ""},
		{1000, 9000, "MPI_Recv", "undecided", "unreliable"},
		{9000, 0, "MPI_Recv", "undecided", "unreliable"},
		{1000, 9000, "MPI_Send", "undecided", "unreliable"},
	} {
		_, a := overheadOf(t, text(tt.send, tt.recv), overhead.Options{Profile: profile(tt.unreliable)})
		p := a.Overhead.Pairs[0]
		if p.SendOverheadNs != int64(10*tt.send) || p.ReceiveOverheadNs != int64(10*tt.recv) || p.Verdict != tt.verdict ||
			p.Reason != tt.reason {
			t.Errorf("%d and %d, %s unreliable: %+v", tt.send, tt.recv, tt.unreliable, p)
		}
	}
}

// TestWaitsDecide: where thresholds cannot be trusted, wait states that explain the overhead decide. The sender is late by 5 µs; the
// receiver waits, then needs late ns more.
func TestWaitsDecide(t *testing.T) {
	for _, tt := range []struct {
		late    int
		verdict string
	}{{100, "late sender"}, {5000, "late sender"}, {6000, "undecided"}} {
		var s, r strings.Builder
		for i := range 10 {
			at := i * 100_000
			fmt.Fprintf(&s, "  %d Enter MPI_Send @a.c:5 ; %d MpiSend to=1 bytes=100 ; %d Leave MPI_Send\n", at+5000, at+5001, at+5100)
			fmt.Fprintf(&r, "  %d Enter MPI_Recv @a.c:9 ; %d MpiRecv from=0 bytes=100 ; %d Leave MPI_Recv\n", at, at+5090, at+5000+tt.late)
		}
		p := entriesFor(map[fit.Key]int64{{Operation: "MPI_Send", Processes: 2, Bytes: 100}: 100,
			{Operation: "MPI_Recv", Processes: 2, Bytes: 100}: 0})
		for i := range p.Entries {
			p.Entries[i].Unreliable = true
		}
		_, a := overheadOf(t, "location 0 rank0 rank=0\n"+s.String()+"location 1 rank1 rank=1\n"+r.String(), overhead.Options{Profile: p})
		if pair := a.Overhead.Pairs[0]; pair.Verdict != tt.verdict || pair.ByWaits != (tt.verdict == "late sender") || pair.Confirmed ||
			pair.LateSenderNs != 50_000 {
			t.Errorf("%d: %+v", tt.late, pair)
		}
	}
}

// TestUnreliableKeysSaySo: a hundred calls of every length between 10 ns and 2 ms have no
// threshold worth the name. The key, its lines and their costs say so, and nothing is called
// slow or late.
func TestUnreliableKeysSaySo(t *testing.T) {
	lines := map[string][]int64{"a.c:5": nil, "b.c:7": nil}
	for i := range 100 {
		d := int64(10) << (i % 18)
		lines["a.c:5"] = append(lines["a.c:5"], d)
		lines["b.c:7"] = append(lines["b.c:7"], d+int64(i))
	}
	_, a := overheadOf(t, sendsText(lines, []string{"a.c:5", "b.c:7"}), overhead.Options{})
	said := 0
	for _, k := range a.Overhead.Keys {
		if k.Operation == "MPI_Send" {
			said++
			if !k.Unreliable || k.Anomalous || k.OverPValue != nil {
				t.Errorf("t_max %d of t_min %d: %+v", k.TMaxNs, k.TMinNs, k)
			}
		}
	}
	for _, l := range a.Overhead.Lines {
		if l.Operation == "MPI_Send" {
			said++
			if l.UnreliableCalls != 100 || l.Calls != 100 {
				t.Errorf("line %+v", l)
			}
		}
	}
	for _, l := range a.Lines {
		if l.Operation == "MPI_Send" {
			said++
			if !l.Unreliable {
				t.Errorf("line %+v", l)
			}
		}
	}
	for _, p := range a.Overhead.Pairs {
		if p.Verdict != "undecided" && p.Verdict != "none" {
			t.Errorf("pair %+v", p)
		}
	}
	if said != 5 {
		t.Errorf("%d rows", said)
	}
}
