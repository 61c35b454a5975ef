package reconstruct

import (
	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/spill"
	"tracekit/trace"
)

// A step is an event as far as others may have to wait for it, or it for others: of a location
// that is replayed only a few are held, or all of them in a store.
type step struct {
	item      uint32 // of the location: see places
	peer, tag uint32
}

// A place says of an item of a tree what all locations with that tree have in common.
type place struct {
	kind     trace.Kind
	op       trace.CollectiveOp
	ref      uint32 // communicator
	interval uint32 // the first of its own, by regime
	head     uint32 // its number among the items that complete something
	count    uint64
}

// places returns the items of a tree, node by node.
func places(t *formulae.Tree) (out []place) {
	interval, head := uint32(0), uint32(0)
	for n := range t.Nodes {
		for k := range t.Nodes[n].Items {
			i := &t.Nodes[n].Items[k]
			out = append(out, place{i.Kind, i.Op, i.Ref, interval, head, i.Count})
			interval += uint32(partners.Regimes(i.Kind))
			if partners.Completes(i.Kind) {
				head++
			}
		}
	}
	return out
}

// placesOf returns the places of each location. Locations share them as they share trees.
func placesOf(locations []formulae.Location) [][]place {
	known := make(map[*formulae.Tree][]place)
	out := make([][]place, len(locations))
	for l := range locations {
		tree := locations[l].Tree
		if _, ok := known[tree]; !ok {
			known[tree] = places(tree)
		}
		out[l] = known[tree]
	}
	return out
}

// guesses returns the communicators of whose messages it was not learned to or from whom they
// go, or with which tags.
func guesses(locations []formulae.Location) map[uint32]bool {
	comms := make(map[uint32]bool)
	known := make(map[*formulae.Tree]bool)
	for l := range locations {
		tree := locations[l].Tree
		if known[tree] {
			continue
		}
		known[tree] = true
		for n := range tree.Nodes {
			for k := range tree.Nodes[n].Items {
				i := &tree.Nodes[n].Items[k]
				if i.Kind.Table() == trace.TableP2P && (i.Peer.Kind == sequence.Failed || i.Tag.Kind == sequence.Failed) {
					comms[i.Ref] = true
				}
			}
		}
	}
	return comms
}

// A stepper makes the steps of a location in order: into dst, as many as there is room for, fewer at
// the end alone, which an error may be.
type stepper interface {
	steps(dst []step) (int, error)
}

// stepsOf returns the steps of a location.
func stepsOf(ranks *partners.Ranks, l trace.LocationID, from *formulae.Location) stepper {
	if from.Sequence == nil {
		return newRebuilt(ranks, l, from)
	}
	return &recorded{next: from.Sequence(), walk: formulae.Walk(from.Tree)}
}

// recorded are the steps of events that are kept as they were recorded.
type recorded struct {
	next func() (*trace.Batch, error)
	walk *formulae.Skeleton
	made []step // and not delivered
	end  bool
}

func (r *recorded) steps(dst []step) (n int, err error) {
	for {
		k := copy(dst[n:], r.made)
		r.made = r.made[k:]
		if n += k; n == len(dst) || r.end {
			return n, nil
		}
		b, err := r.next()
		if r.end = b == nil; b == nil || err != nil {
			return n, err
		}
		r.made = r.made[:0]
		r.walk.Visit(b, func(at trace.Row, item uint32) {
			s := step{item: item}
			switch at.Table {
			case trace.TableP2P:
				s.peer, s.tag = b.P2P.Peer[at.First], b.P2P.Tag[at.First]
			case trace.TableColl:
				s.peer = b.Coll.Root[at.First]
			}
			r.made = append(r.made, s)
		})
	}
}

// rebuilt are the steps that a rebuilder makes.
type rebuilt struct{ *rebuilder }

func newRebuilt(ranks *partners.Ranks, l trace.LocationID, from *formulae.Location) rebuilt {
	r := newRebuilder(ranks, l, from)
	r.bare = true
	return rebuilt{r}
}

func (r rebuilt) steps(dst []step) (int, error) {
	for n := range dst {
		e, ok := r.next()
		if !ok {
			return n, nil
		}
		dst[n] = step{item: e.item.index}
		switch e.table {
		case trace.TableP2P:
			dst[n].peer, dst[n].tag = e.p2p.Peer, e.p2p.Tag
		case trace.TableColl:
			dst[n].peer = e.coll.Root
		}
	}
	return len(dst), nil
}

// stored are steps that were made before.
type stored struct {
	table *spill.Table[step]
	at    int
}

func (s *stored) steps(dst []step) (int, error) {
	n := s.table.Copy(dst, s.at)
	s.at += n
	return n, nil
}

// storeSteps stores the first limit steps of a location, and those after them that complete
// something in the same call.
func storeSteps(store *spill.Store, from stepper, places []place, limit uint64) (*spill.Table[step], error) {
	table := spill.NewTable[step](store)
	var one [1]step
	for n := uint64(0); n < limit || n < limit+maxCompleted && completes(places, &one[0]); n++ {
		if made, err := from.steps(one[:]); made == 0 {
			return table.Sealed(), err
		}
		table.Append(one[0])
	}
	return table.Sealed(), nil
}

// completes reports whether a step completes communication.
func completes(places []place, s *step) bool {
	return s.item != formulae.NoItem && partners.Completes(places[s.item].kind)
}
