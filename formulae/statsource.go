package formulae

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"sync"

	"tracekit/trace"
)

// A statSource is a trace that is rebuilt from a file in stat mode.
type statSource struct {
	*source
	nodes [][]fileNode // by location; shared by those with the same call tree
	times []fileTimes

	once   sync.Once
	shifts [][]shift
	stuck  uint64
	err    error
}

// openStatistics reads the call trees.
func openStatistics(s *source, rest []section) (*statSource, error) {
	locations := len(s.kept.Defs.Locations)
	out := &statSource{source: s, nodes: make([][]fileNode, locations), times: make([]fileTimes, locations)}
	trees := make(map[uint64][]fileNode)
	for _, at := range rest {
		block, err := at.load(s.file, s.name)
		if err != nil {
			return nil, err
		}
		switch {
		case at.kind == sectionStatistics:
			var tree fileTree
			if err = unpack(s.tables, block, &tree); err == nil {
				err = checkTree(tree.Nodes)
			}
			if !tree.restore() {
				err = errDamaged
			}
			trees[at.owner] = tree.Nodes
		case at.kind == sectionEvents && at.owner < uint64(locations):
			err = out.readTimes(int(at.owner), trees, block)
		case at.kind != sectionEnd:
			err = errDamaged
		}
		if err != nil {
			return nil, s.damaged(at, err)
		}
	}
	return out, nil
}

func (s *statSource) readTimes(l int, trees map[uint64][]fileNode, block []byte) error {
	id, n := binary.Uvarint(block)
	nodes, ok := trees[id]
	if n <= 0 || !ok {
		return errDamaged
	}
	if err := unpack(s.tables, block[n:], &s.times[l]); err != nil {
		return err
	}
	items := 0
	for i := range nodes {
		items += len(nodes[i].Items)
	}
	if len(s.times[l].Means) != items {
		return errDamaged
	}
	s.nodes[l] = nodes
	s.settle(l)
	return nil
}

// settle begins a location at its corrected time, since ranks are aligned on one clock;
// rebuilt times need no offsets any more.
func (s *statSource) settle(l int) {
	location := &s.kept.Defs.Locations[l]
	s.times[l].First = trace.CorrectOffset(location.ClockOffsets, s.times[l].First)
	location.ClockOffsets = nil
}

// checkTree checks that nodes are a tree and that items name what there is.
func checkTree(nodes []fileNode) error {
	for i, n := range nodes {
		if len(n.Items) == 0 {
			return errDamaged
		}
		for _, item := range n.Items {
			if item.Kind == trace.KindEnter && (int(item.Child) <= i || int(item.Child) >= len(nodes) || nodes[item.Child].Parent != uint32(i)) {
				return errDamaged
			}
			if item.Kind != trace.KindEnter && item.Kind != 0 && item.Kind.Table() != trace.TableP2P && item.Kind.Table() != trace.TableColl {
				return errDamaged
			}
			for _, b := range item.Body {
				if int(b) >= len(n.Items) || b == 0 {
					return errDamaged
				}
			}
		}
	}
	return nil
}

func (s *statSource) rebuilder(l trace.LocationID) *rebuilder {
	return newRebuilder(s.frame, l, s.nodes[l], &s.times[l])
}

// align replays all locations once, so that times are consistent across ranks.
func (s *statSource) align(ctx context.Context) error {
	s.once.Do(func() {
		var all []*rebuilder
		for l := range s.nodes {
			all = append(all, s.rebuilder(trace.LocationID(l)))
		}
		s.shifts, s.stuck, s.err = consistent(ctx, s.frame, all)
	})
	return s.err
}

// Events implements trace.Source.
func (s *statSource) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(l) >= len(s.nodes) {
			return
		}
		if err := s.align(ctx); err != nil {
			yield(nil, err)
			return
		}
		r, shifts := s.rebuilder(l), s.shifts[l]
		var b trace.Batch
		var seq uint64
		by := int64(0)
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			b.Reset(l, seq)
			for range batchEvents {
				var h happening
				if h, more = r.next(); !more {
					break
				}
				if len(shifts) > 0 && shifts[0].seq == seq {
					by, shifts = shifts[0].by, shifts[1:]
				}
				h.time += by
				h.add(&b)
				seq++
			}
			if b.Len() > 0 && !yield(&b, nil) {
				return
			}
		}
	}
}

// Info implements trace.Source, and says that the times are rebuilt.
func (s *statSource) Info() trace.Info {
	i := s.kept.Info
	i.Properties = maps.Clone(i.Properties)
	if i.Properties == nil {
		i.Properties = make(map[string]string)
	}
	i.Properties[trace.PropertyReconstructed] = "true"
	return i
}

// Findings implements trace.Source: those of the trace that was compressed, and whether
// the rebuilt events fit together.
func (s *statSource) Findings() []trace.Finding {
	var l trace.Ledger
	l.Merge(s.kept.Findings)
	l.AddN(trace.CodeReplayStuck, s.stuck, trace.Nowhere(), fmt.Sprintf("%d rebuilt events did not find their partner", s.stuck))
	return l.Findings()
}
