package merge

// A request is a non-blocking operation that was started and has not been completed.
type request struct {
	id   uint64
	seq  uint64 // of the record that started it
	row  uint32 // of the Send, of the part in a collective, or of the Call that posted a receive
	kind requestKind
}

type requestKind uint8

const (
	noRequest requestKind = iota // an empty slot
	sendRequest
	recvRequest
	collRequest
)

// A requestTable holds the open requests of a location by identifier. It is a hash table
// with linear probing and without tombstones: programs start and complete requests all
// the time and have few open, so a slot must be as good as new after its deletion.
//
//	len(slots) is a power of two and at least twice the number of requests
type requestTable struct {
	slots []request
	n     int
}

func (t *requestTable) home(id uint64) int {
	return int((id * 0x9E3779B97F4A7C15) >> 32 & uint64(len(t.slots)-1))
}

// find returns the slot of id, or the empty slot where it belongs.
func (t *requestTable) find(id uint64) int {
	for i := t.home(id); ; i = (i + 1) & (len(t.slots) - 1) {
		if r := &t.slots[i]; r.kind == noRequest || r.id == id {
			return i
		}
	}
}

// open returns the slot of the request of that identifier, which is to be filled in; if
// one is open already, that one, which is to be replaced.
func (t *requestTable) open(id uint64) *request {
	if t.n >= len(t.slots)/2 {
		t.grow()
	}
	r := &t.slots[t.find(id)]
	if r.kind == noRequest {
		t.n++
	}
	return r
}

// take removes the request of that identifier and kind and returns it; ok is false if
// there is none. Those behind it move up that would not be found any more.
func (t *requestTable) take(id uint64, kind requestKind) (r request, ok bool) {
	if t.n == 0 {
		return r, false
	}
	i, slots, mask := t.find(id), t.slots, len(t.slots)-1
	if r = slots[i]; r.kind != kind {
		return r, false
	}
	for j := (i + 1) & mask; slots[j].kind != noRequest; j = (j + 1) & mask {
		if (j-t.home(slots[j].id))&mask >= (j-i)&mask {
			slots[i] = slots[j]
			i = j
		}
	}
	slots[i] = request{}
	t.n--
	return r, true
}

// kind returns the kind of the open request of that identifier, or noRequest.
func (t *requestTable) kind(id uint64) requestKind {
	if t.n == 0 {
		return noRequest
	}
	return t.slots[t.find(id)].kind
}

func (t *requestTable) grow() {
	old := t.slots
	t.slots = make([]request, max(16, 2*len(old)))
	for _, r := range old {
		if r.kind != noRequest {
			t.slots[t.find(r.id)] = r
		}
	}
}

// each calls f for each request that is open, in no particular order.
func (t *requestTable) each(f func(request)) {
	for _, r := range t.slots {
		if r.kind != noRequest {
			f(r)
		}
	}
}
