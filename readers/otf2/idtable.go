package otf2

import "tracekit/trace"

// An idTable makes the identifiers of one space dense, in order of definition.
type idTable struct {
	dense  []uint32          // by identifier; trace.None: not defined
	sparse map[uint64]uint32 // identifiers that would make dense too large
	n      uint32            // number of identifiers
}

// add defines an identifier; fresh is false if it was defined before.
func (t *idTable) add(ref uint64) (id uint32, fresh bool) {
	if id := t.get(ref); id != trace.None {
		return id, false
	}
	id = t.n
	t.n++
	if ref >= 4*uint64(id)+4096 {
		if t.sparse == nil {
			t.sparse = make(map[uint64]uint32)
		}
		t.sparse[ref] = id
		return id, true
	}
	for uint64(len(t.dense)) <= ref {
		t.dense = append(t.dense, trace.None)
	}
	t.dense[ref] = id
	return id, true
}

// get returns the dense identifier, trace.None if ref is not defined.
func (t *idTable) get(ref uint64) uint32 {
	if ref < uint64(len(t.dense)) && t.dense[ref] != trace.None {
		return t.dense[ref]
	}
	if id, ok := t.sparse[ref]; ok {
		return id
	}
	return trace.None
}
