package jsontrace

import (
	"slices"

	"tracekit/readers/internal/nest"
)

// halves are the begins, or the ends, of one identifier that wait for their other halves, in
// the order of the file. As long as they are few they are gone through; many have indexes.
//
//	left is the number of those in list that were not taken
//	all finds times in list, names[n] those of a name; nil: they are few
type halves struct {
	list  []half
	left  int
	all   *nest.Timeline
	names map[uint64]*namedHalves
}

// A namedHalves finds the halves of a name: time i is that of list[of[i]].
type namedHalves struct {
	nest.Timeline
	of []int
}

// few is how many halves are gone through.
const few = 16

// add puts a half behind the others.
func (h *halves) add(x half) {
	h.list = append(h.list, x)
	h.left++
	switch {
	case h.all != nil:
		h.index(len(h.list) - 1)
	case h.left > few:
		h.rebuild()
	}
}

// index adds a half to the indexes.
func (h *halves) index(i int) {
	x := &h.list[i]
	h.all.Add(x.time)
	n := h.names[x.name]
	if n == nil {
		n = &namedHalves{}
		h.names[x.name] = n
	}
	x.place = n.Len()
	n.Add(x.time)
	n.of = append(n.of, i)
}

// take removes a half.
func (h *halves) take(i int) half {
	x := h.list[i]
	h.left--
	if h.all == nil {
		h.list = slices.Delete(h.list, i, i+1)
		return x
	}
	h.list[i].track = nil
	h.all.Remove(i)
	h.names[x.name].Remove(x.place)
	if len(h.list) > 2*h.left+few {
		h.rebuild()
	}
	return x
}

// rebuild forgets those that were taken.
func (h *halves) rebuild() {
	h.list, h.all, h.names = h.rest(), nil, nil
	if h.left <= few {
		return
	}
	h.all, h.names = &nest.Timeline{}, make(map[uint64]*namedHalves)
	for i := range h.list {
		h.index(i)
	}
}

// rest returns those that were not taken.
func (h *halves) rest() []half {
	return slices.DeleteFunc(h.list, func(x half) bool { return x.track == nil })
}

// last returns the number of the last begin of a name, or of any if it is None, whose time has
// a property; -1 if there is none.
func (h *halves) last(name uint64, has func(nest.Span) bool) int {
	if h.all == nil {
		for i := len(h.list) - 1; i >= 0; i-- {
			if x := &h.list[i]; (name == anyName || x.name == name) && has(nest.Span{Min: x.time, Max: x.time}) {
				return i
			}
		}
		return -1
	}
	if name == anyName {
		return h.all.Last(has)
	}
	if n := h.names[name]; n != nil {
		if i := n.Last(has); i >= 0 {
			return n.of[i]
		}
	}
	return -1
}

// first returns the number of the first end of a name, or without one, whose time has a
// property; -1 if there is none.
func (h *halves) first(name uint64, has func(nest.Span) bool) int {
	if h.all == nil {
		return slices.IndexFunc(h.list, func(x half) bool {
			return (x.name == anyName || x.name == name) && has(nest.Span{Min: x.time, Max: x.time})
		})
	}
	found := -1
	for _, n := range []*namedHalves{h.names[name], h.names[anyName]} {
		if n == nil {
			continue
		}
		if i := n.First(has); i >= 0 && (found < 0 || n.of[i] < found) {
			found = n.of[i]
		}
	}
	return found
}
