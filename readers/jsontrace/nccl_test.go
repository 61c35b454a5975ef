package jsontrace_test

import (
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/trace"
)

// TestOperationsAtOnce states that NCCL's operations at the same time are not part of each other, though one may enclose the other: each
// message is received in the call that receives it, not in the send around that.
func TestOperationsAtOnce(t *testing.T) {
	var events []string
	operation := func(id int, name string, rank, peer, from, to int) {
		for _, end := range []struct {
			phase string
			at    int
			args  string
		}{{"b", from, fmt.Sprintf(`,"args":{"CommHash":77,"Rank":%d,"Peer":%d,"Count":256,"Datatype":"ncclFloat32","nChannels":1}`, rank,
			peer)}, {"e", to, ""}} {
			events = append(events, fmt.Sprintf(`{"name":%q,"cat":"P2P","ph":%q,"id":%d,"pid":9,"tid":1,"ts":%d%s}`, name, end.phase, id,
				end.at, end.args))
		}
	}
	for rank := range 2 {
		operation(4*rank, "Send", rank, 1-rank, 100, 200)
		operation(4*rank+1, "Recv", rank, 1-rank, 150, 190)
		operation(4*rank+2, "Send", rank, 1-rank, 300, 310)
		operation(4*rank+3, "Recv", rank, 1-rank, 305, 320)
	}
	tr, err := merge.Merge(t.Context(), openText(t, array(events...)), merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	received := 0
	for l, recvs := range tr.Recvs {
		for _, rows := range recvs.Rows {
			for i := range rows {
				r := &rows[i]
				in := tr.Defs.RegionLabel(tr.Tree.Nodes[tr.Calls[l].At(int(r.Call)).Path].Region)
				if received++; in != "Recv" || r.State != trace.Matched || r.Bytes != 1024 {
					t.Errorf("%d bytes are received in %s, %v", r.Bytes, in, r.State)
				}
			}
		}
	}
	if received != 4 {
		t.Errorf("%d messages are received, want 4", received)
	}
}
