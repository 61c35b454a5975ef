package symbols

import (
	"math/rand/v2"
	"testing"

	"tracekit/trace"
)

// A location that names its requests as another one does, in other numbers, has the same
// symbols; what is named can be told again.
func TestRequestsAreNamedByRule(t *testing.T) {
	kinds := []trace.Kind{trace.KindMpiIsend, trace.KindMpiIrecvRequest, trace.KindMpiIsendComplete, trace.KindMpiIrecv,
		trace.KindMpiRequestTest}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var here, there, back requests
		offset := r.Uint64N(1 << 40)
		here.newest, there.newest = 0, offset
		var open []uint64
		next := uint64(0)
		for range 2000 {
			kind := kinds[r.IntN(len(kinds))]
			role := requestRoleOf(kind)
			var id uint64
			switch {
			case role == roleStarts:
				next++
				id = next
				open = append(open, id)
			case len(open) == 0:
				continue
			default:
				i := r.IntN(len(open))
				if id = open[i]; role == roleCompletes {
					open = append(open[:i], open[i+1:]...)
				}
			}
			how, v := here.encode(role, id)
			howThere, vThere := there.encode(role, id+offset)
			if how != howThere || v != vThere {
				t.Fatalf("%s of %d: named %d %d here, %d %d there", kind, id, how, v, howThere, vThere)
			}
			if how == requestLiteral {
				if len(open) < maxOpen/2 {
					t.Fatalf("%s of %d with %d open ones is named literally", kind, id, len(open))
				}
			} else if got, ok := back.decode(how, v); !ok || got != id {
				t.Fatalf("%s of %d is told as %d, %t", kind, id, got, ok)
			}
			here.update(role, id)
			there.update(role, id+offset)
			back.update(role, id)
		}
	}
}
