package reconstruct

import "container/heap"

// leftovers are what a node whose branch formula failed has yet to make when the formula's
// prefix is used up. Nothing says in which order: each visit that is left gets its share of
// every item, and items alternate as evenly as their numbers allow, so that every call
// path and construct takes place as often as it was recorded.
type leftovers struct {
	visits uint64 // that share them
	visit  uint64 // that comes next
	rest   []uint64
}

// due returns what the current visit of the node has to make.
func (n *nodeState) due() dues {
	l := n.leftovers
	if l == nil {
		l = &leftovers{visits: max(n.Visits, n.entered) - n.entered + 1, rest: make([]uint64, len(n.items))}
		for i := range n.items {
			if item := &n.items[i]; i > 0 && len(item.Body) == 0 {
				l.rest[i] = item.Count - item.made
			}
		}
		n.leftovers = l
	}
	var d dues
	for i, rest := range l.rest {
		if q := portion(rest, l.visit+1, l.visits) - portion(rest, l.visit, l.visits); q > 0 && l.visit < l.visits {
			d = append(d, dueItem{item: uint32(i), quota: q})
		}
	}
	l.visit++
	heap.Init(&d)
	return d
}

// portion returns rest·visit/visits, rounded.
func portion(rest, visit, visits uint64) uint64 {
	if visit >= visits {
		return rest
	}
	p, _ := mulDiv(rest, 2*visit+1, 2*visits)
	if visit == 0 {
		return 0
	}
	return p
}

// dues is a heap of items by when they are due.
type dues []dueItem

// A dueItem is an item that a visit makes quota times.
type dueItem struct {
	item        uint32
	quota, made uint64
}

// next returns the item that is due next, 0 if there is none.
func (d *dues) next() (uint32, bool) {
	if len(*d) == 0 {
		return 0, true
	}
	first := &(*d)[0]
	item := first.item
	if first.made++; first.made == first.quota {
		heap.Pop(d)
	} else {
		heap.Fix(d, 0)
	}
	return item, true
}

// when returns when an item is due, as a share of the visit.
func (i *dueItem) when() float64 { return (float64(i.made) + 0.5) / float64(i.quota) }

// Len implements heap.Interface.
func (d dues) Len() int { return len(d) }

// Less implements heap.Interface.
func (d dues) Less(i, k int) bool {
	a, b := d[i].when(), d[k].when()
	return a < b || a == b && d[i].item < d[k].item
}

// Swap implements heap.Interface.
func (d dues) Swap(i, k int) { d[i], d[k] = d[k], d[i] }

// Push implements heap.Interface.
func (d *dues) Push(x any) { *d = append(*d, x.(dueItem)) }

// Pop implements heap.Interface.
func (d *dues) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
