package sequence

import (
	"encoding/binary"
	"slices"
)

// A LoopFinder finds the loops in what happens during the visits of a node of the call
// tree: a sequence of items that comes twice in a row is the body of a loop, which becomes
// an item itself, so that loops nest. A body that is known needs to come only once. The next iterations are confirmed item by item; the
// number of iterations is reported when the loop ends. A body is known by its items alone:
// loops in it may be repeated any number of times.
//
// These are the loops of docs/DEFINITIONS.md 1.4: the lengths of the runs of a repeated child
// sequence. Space is bounded by most; the time for an item that an open loop expects is
// constant, for others proportional to most.
//
//	the visit so far = what was handed on, then items, then the open loops
//
// An example, with defined bodies in brackets:
//
//	a b b b c a b b b c a …   items a b; then L1 = [b] opens, and ends after 3
//	                          items a L1 c a L1 c; then L2 = [a L1 c] opens, count 2
type LoopFinder struct {
	Most   int                         // items in a body
	Budget int                         // items that the bodies of further loops may have together
	Body   func(item uint32) []uint32  // of a loop; nil for other items
	Define func(body []uint32) uint32  // returns the item of a new loop; 0: there may be no more
	Ended  func(loop uint32, n uint64) // receives a loop that ended, and its iterations
	Emit   func(item uint32)           // receives the next item of the visit

	items  []uint32
	open   []openLoop          // outermost first
	known  map[string]uint32   // loops, by their bodies
	ending map[uint32][]uint32 // of these, by the last item of their bodies
}

// An openLoop is a loop that may go on: count iterations are complete, and the items
// before at of the next.
type openLoop struct {
	loop  uint32
	at    int
	count uint64
}

// Add appends an item that is not a loop.
func (f *LoopFinder) Add(item uint32) {
	if len(f.open) > 0 {
		if f.confirm(item) {
			return
		}
		f.close()
	}
	f.items = append(f.items, item)
	f.search()
	if len(f.items) >= 4*f.Most {
		f.handOn(len(f.items) - 2*f.Most)
	}
}

// End ends a visit.
func (f *LoopFinder) End() {
	f.close()
	f.handOn(len(f.items))
}

// handOn hands on the first items, which no loop can reach any more.
func (f *LoopFinder) handOn(n int) {
	for _, item := range f.items[:n] {
		f.Emit(item)
	}
	f.items = slices.Delete(f.items, 0, n)
}

// confirm reports whether the item is what the open loops expect, and moves on.
func (f *LoopFinder) confirm(item uint32) bool {
	for {
		top := &f.open[len(f.open)-1]
		body := f.Body(top.loop)
		if f.enter(body[top.at], item) {
			return true
		}
		if top.at > 0 || top.count == 0 || len(f.open) == 1 {
			return false
		}
		f.Ended(top.loop, top.count)
		f.open = f.open[:len(f.open)-1]
		f.step()
	}
}

// enter matches an item with an element of a body, which may be a loop that begins now.
func (f *LoopFinder) enter(element, item uint32) bool {
	depth := len(f.open)
	for f.Body(element) != nil {
		f.open = append(f.open, openLoop{loop: element})
		element = f.Body(element)[0]
	}
	if element != item {
		f.open = f.open[:depth]
		return false
	}
	f.step()
	return true
}

// step moves the innermost open loop past an element.
func (f *LoopFinder) step() {
	top := &f.open[len(f.open)-1]
	if top.at++; top.at == len(f.Body(top.loop)) {
		top.at, top.count = 0, top.count+1
	}
}

// close ends the open loops; what is left of a begun iteration becomes items.
func (f *LoopFinder) close() {
	for _, o := range f.open {
		if o.count > 0 {
			f.Ended(o.loop, o.count)
			f.items = append(f.items, o.loop)
		}
		f.items = append(f.items, f.Body(o.loop)[:o.at]...)
	}
	f.open = f.open[:0]
}

// search looks for a loop at the end of the items: the body of a known one, or one that
// comes twice; and then for a loop around it that has its last element there, and so on.
func (f *LoopFinder) search() {
	o, n := f.found(1)
	if n == 0 {
		return
	}
	f.items = append(f.items[:len(f.items)-n], o.loop)
	f.open = append(f.open, o)
	for len(f.open) < maxNesting {
		o, n = f.found(2)
		if n == 0 {
			break
		}
		// The last element of the last iteration is still going on.
		o.at, o.count = len(f.Body(o.loop))-1, o.count-1
		f.items = append(f.items[:len(f.items)-n], o.loop)
		f.open = slices.Insert(f.open, 0, o)
	}
	f.items = f.items[:len(f.items)-1]
}

// found returns the loop at the end of the items with at least so many items in its body,
// and the number of items that it replaces, 0 if there is none.
func (f *LoopFinder) found(shortest int) (o openLoop, n int) {
	last := f.items[len(f.items)-1]
	for _, loop := range f.ending[last] {
		if body := f.Body(loop); len(body) >= max(shortest, n+1) && endsWith(f.items, body) {
			o, n = openLoop{loop: loop, count: 1}, len(body)
		}
	}
	if n > 0 {
		return o, n
	}
	body := f.twice(shortest)
	if body == nil {
		return o, 0
	}
	loop := f.define(body)
	if loop == 0 {
		return o, 0
	}
	if f.ending == nil {
		f.ending = make(map[uint32][]uint32)
	}
	if !slices.Contains(f.ending[last], loop) {
		f.ending[last] = append(f.ending[last], loop)
	}
	return openLoop{loop: loop, count: 2}, 2 * len(body)
}

func endsWith(items, body []uint32) bool {
	return len(items) >= len(body) && slices.Equal(items[len(items)-len(body):], body)
}

// twice returns the shortest body of at least so many items that stands twice at the end
// of the items.
func (f *LoopFinder) twice(shortest int) []uint32 {
	n := len(f.items)
	last := f.items[n-1]
	for l := shortest; l <= min(f.Most, n/2); l++ {
		if f.items[n-1-l] == last && slices.Equal(f.items[n-2*l:n-l], f.items[n-l:]) {
			return slices.Clone(f.items[n-l:])
		}
	}
	return nil
}

// define returns the loop with a body, 0 if it would be one too many.
func (f *LoopFinder) define(body []uint32) uint32 {
	key := make([]byte, 0, 4*len(body))
	for _, item := range body {
		key = binary.LittleEndian.AppendUint32(key, item)
	}
	id, ok := f.known[string(key)]
	if ok || len(body) > f.Budget {
		return id
	}
	if id = f.Define(body); id != 0 {
		if f.known == nil {
			f.known = make(map[string]uint32)
		}
		f.known[string(key)] = id
		f.Budget -= len(body)
	}
	return id
}
