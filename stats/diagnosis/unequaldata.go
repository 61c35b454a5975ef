package diagnosis

import (
	"fmt"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/trace"
)

// muchMore is how many times as many bytes as others in the mean a rank moves in exchanges whose data are uneven.
const muchMore = 2

// unequalData says of slow calls in which every rank sends to every other whether one rank has much more to send, or to receive: then they
// are no slower than that needs.
func (f *finder) unequalData(c *candidate, rows []waitstate.Delay) {
	in := make([]bool, len(f.places)) // call paths
	some := false
	for path, at := range f.places {
		if op := trace.MPIFunctionOf(string(at.Operation)).Op; op.Pattern() == trace.PatternSparse || op == trace.CollAllgatherv {
			in[path] = slices.ContainsFunc(rows, func(row waitstate.Delay) bool { return placeOf(row) == at })
			some = some || in[path]
		}
	}
	if !some {
		return
	}
	sent, received := make([]uint64, len(f.t.World)), make([]uint64, len(f.t.World))
	for _, members := range f.t.Members.Rows {
		for i := range members {
			m := &members[i]
			if m.Call == trace.None || int(f.t.Rank[m.Location]) >= len(sent) {
				continue
			}
			if call := f.t.Calls[m.Location].Ptr(int(m.Call)); int(call.Path) < len(in) && in[call.Path] {
				sent[f.t.Rank[m.Location]] += m.Sent
				received[f.t.Rank[m.Location]] += m.Received
			}
		}
	}
	for _, x := range []struct {
		verb  string
		bytes []uint64
	}{{"sends", sent}, {"receives", received}} {
		most, sum := f.ranks[0], 0.0
		for _, r := range f.ranks {
			if sum += float64(x.bytes[r]); x.bytes[r] > x.bytes[most] {
				most = r
			}
		}
		others := (sum - float64(x.bytes[most])) / float64(max(1, len(f.ranks)-1))
		if sum == 0 || float64(x.bytes[most]) < muchMore*others {
			continue
		}
		c.cause.Evidence["most_bytes"], c.cause.Evidence["bytes_of_others"] = float64(x.bytes[most]), others
		c.text = fmt.Sprintf("Rank %d %s %s in them, other ranks %s in the mean. ", most, x.verb, words.Bytes(x.bytes[most]),
			words.Bytes(uint64(others))) + c.text
		return
	}
}
