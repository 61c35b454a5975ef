package paraver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tracekit/readers/internal/spool"
	"tracekit/trace"
)

// The user's own types tell intervals that need not nest in each other, nor in calls: one type
// may tell the task that runs, another the phase that begins meanwhile and outlasts it. The
// regions of a location do nest. So a type that crosses others gets a layer: a location beside
// that of each thread in which it occurs. Layer 0 is the thread itself, with all that is not a
// region of the types in other layers.
//
// Which types cross is found by assembling the threads before they are delivered; so it costs
// nothing in traces without such types.

// A layer is a location that is not a thread of the header.
type layer struct {
	thread trace.LocationID
	number uint32
}

// A crossing is a type whose region is left while one of the other type, inside it, goes on;
// both are slots.
type crossing struct{ outer, inner uint32 }

// maxArranging bounds how often threads are assembled to find layers; what crosses still is cut.
const maxArranging = 16

// arrange finds the layers of the user's types and defines their locations.
func (r *reading) arrange(ctx context.Context, s *Source) error {
	if !slices.ContainsFunc(s.slots, func(t slot) bool { return t.user }) {
		return nil
	}
	visits, err := s.visits(ctx, r.options.Jobs)
	if err != nil {
		return err
	}
	s.follow(visits)
	s.leaveStates(visits)
	r.addLayers(s, visits)
	if err := s.split(ctx, r.options.Jobs); err != nil {
		return err
	}
	moved := uint64(0)
	known := make(map[crossing]bool)
	for range maxArranging {
		found, err := s.crossings(ctx, r.options.Jobs)
		if err != nil {
			return err
		}
		n, changed := s.part(found, known)
		moved += n
		if !changed {
			break
		}
		r.addLayers(s, visits)
		if err := s.split(ctx, r.options.Jobs); err != nil {
			return err
		}
	}
	s.late = nil // of locations that were other ones
	r.ledger.AddN(trace.CodeOverlap, moved, trace.Place{Location: trace.None, File: r.path, Offset: -1},
		"regions of different event types; some are placed on separate rows")
	return nil
}

// A visitCount is how often a slot of the user's is entered and left.
type visitCount struct{ enters, leaves uint64 }

// perThread calls f for each thread of the header, several at a time.
func (s *Source) perThread(ctx context.Context, jobs int, f func(context.Context, trace.LocationID) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for l := range len(s.calls) {
		if !s.spoken[l] {
			continue
		}
		g.Go(func() error { return f(ctx, trace.LocationID(l)) })
	}
	return g.Wait()
}

// visits counts, by thread, the enters and leaves of slots.
func (s *Source) visits(ctx context.Context, jobs int) ([]map[uint32]visitCount, error) {
	out := make([]map[uint32]visitCount, len(s.calls))
	err := s.perThread(ctx, jobs, func(ctx context.Context, l trace.LocationID) error {
		out[l] = make(map[uint32]visitCount)
		for b, err := range s.spool.Events(ctx, l*threadStreams) {
			if err != nil {
				return err
			}
			for i := range b.Flow.Kind {
				slot := s.slotOf(&b.Flow, i)
				if slot == trace.None || !s.slots[slot].user {
					continue
				}
				n := out[l][slot]
				if b.Flow.Kind[i] == trace.KindLeave {
					n.leaves++
				} else {
					n.enters++
				}
				out[l][slot] = n
			}
		}
		return nil
	})
	return out, err
}

// slotOf returns the slot of a record in a stream of events.
func (s *Source) slotOf(f *trace.Flow, i int) uint32 {
	if f.Kind[i] == trace.KindLeave {
		return uint32(f.Region[i])
	}
	return s.inSlot[f.Region[i]]
}

// follow finds the types of which one value follows the other: they are ended less than half
// as often as they begin.
func (s *Source) follow(visits []map[uint32]visitCount) {
	sums := make(map[uint32]visitCount)
	for _, slots := range visits {
		for i, n := range slots {
			sum := sums[i]
			sums[i] = visitCount{sum.enters + n.enters, sum.leaves + n.leaves}
		}
	}
	for i, sum := range sums {
		s.slots[i].replace = 2*sum.leaves < sum.enters
	}
}

// leaveStates moves the types that occur in threads without calls out of layer 0, which has the
// states there.
func (s *Source) leaveStates(visits []map[uint32]visitCount) {
	for l, slots := range visits {
		for i := range slots {
			if !s.calls[l] {
				s.slots[i].layer = 1
			}
		}
	}
}

// crossings assembles all threads and layers and returns how often types cross in one of them.
func (s *Source) crossings(ctx context.Context, jobs int) (map[crossing]uint64, error) {
	parts := make([]map[crossing]uint64, len(s.calls))
	err := s.perThread(ctx, jobs, func(ctx context.Context, l trace.LocationID) error {
		parts[l] = make(map[crossing]uint64)
		var failed error
		assemble := func(id trace.LocationID) {
			a := newAssembler(s, id, func(_ *trace.Batch, err error) bool { failed = errors.Join(failed, err); return err == nil })
			a.crossings = parts[l]
			a.run(ctx)
		}
		assemble(l)
		for i, end := s.layersOf(l); i < end; i++ {
			assemble(trace.LocationID(len(s.calls) + i))
		}
		return failed
	})
	sum := make(map[crossing]uint64)
	for _, p := range parts {
		for c, n := range p {
			sum[c] += n
		}
	}
	return sum, err
}

// layersOf returns where the layers of a thread begin and end.
func (s *Source) layersOf(l trace.LocationID) (begin, end int) {
	begin, _ = slices.BinarySearchFunc(s.layers, l, func(n layer, l trace.LocationID) int { return cmp.Compare(n.thread, l) })
	for end = begin; end < len(s.layers) && s.layers[end].thread == l; end++ {
	}
	return begin, end
}

// split copies what lies in layers to a spool in which the number of the layer stands for the
// time, so that each can be assembled without going through the others.
func (s *Source) split(ctx context.Context, jobs int) error {
	if err := s.closeLayers(); err != nil || len(s.layers) == 0 {
		return err
	}
	s.inLayers = spool.New(s.spool.Store())
	err := s.perThread(ctx, jobs, func(ctx context.Context, l trace.LocationID) error {
		if begin, end := s.layersOf(l); begin == end {
			return nil
		}
		out := s.inLayers.Stream(l)
		for b, err := range s.spool.Events(ctx, l*threadStreams) {
			if err != nil {
				return err
			}
			for i, kind := range b.Flow.Kind {
				if slot := s.slotOf(&b.Flow, i); slot != trace.None && s.slots[slot].layer > 0 {
					out.AddOther(int64(s.slots[slot].layer), trace.KindInstant, uint64(b.Flow.Time[i]), uint64(kind), uint64(b.Flow.Region[i]))
				}
			}
		}
		return nil
	})
	return errors.Join(err, s.inLayers.Finish(ctx, jobs))
}

// closeLayers lets go what split has copied.
func (s *Source) closeLayers() error {
	if s.inLayers == nil {
		return nil
	}
	defer func() { s.inLayers = nil }()
	return s.inLayers.Close()
}

// part moves types that cross another one to other layers; n is how many crossings that were
// not known are found. A type of the user's gives way to one of Extrae's, else the later one.
func (s *Source) part(found map[crossing]uint64, known map[crossing]bool) (n uint64, changed bool) {
	var moving []uint32
	for c, count := range found {
		n += count
		moves := max(c.outer, c.inner)
		if !s.slots[moves].user {
			moves = min(c.outer, c.inner)
		}
		known[c] = true
		moving = append(moving, moves)
	}
	crossed := make(map[uint32][]uint32) // by slot: those that cross it
	for c := range known {
		crossed[c.outer], crossed[c.inner] = append(crossed[c.outer], c.inner), append(crossed[c.inner], c.outer)
	}
	slices.Sort(moving)
	for _, moves := range slices.Compact(moving) {
		taken := make(map[uint32]bool)
		for _, other := range crossed[moves] {
			taken[s.slots[other].layer] = true
		}
		to := uint32(1)
		for taken[to] {
			to++
		}
		s.slots[moves].layer, changed = to, true
	}
	return n, changed
}

// addLayers defines the locations of the layers, by thread and number.
func (r *reading) addLayers(s *Source, visits []map[uint32]visitCount) {
	d := s.defs
	d.Locations, s.layers = d.Locations[:len(s.calls)], nil
	for l := range s.calls {
		types := make(map[uint32][]string)
		events := make(map[uint32]uint64)
		for _, i := range slices.Sorted(maps.Keys(visits[l])) {
			if k := s.slots[i].layer; k > 0 {
				types[k] = append(types[k], cmp.Or(r.pcf.typeLabel(s.slots[i].typ), typeName(s.slots[i].typ)))
				events[k] += visits[l][i].enters + visits[l][i].leaves
			}
		}
		for _, k := range slices.Sorted(maps.Keys(types)) {
			name := fmt.Sprintf("%s (%s)", d.String(d.Locations[l].Name), strings.Join(types[k], ", "))
			d.Locations = append(d.Locations, trace.Location{Ref: uint64(len(d.Locations)), Name: r.names.text(name),
				Kind: trace.LocationUnknown, Events: events[k], Group: d.Locations[l].Group})
			s.layers = append(s.layers, layer{trace.LocationID(l), k})
		}
	}
}
