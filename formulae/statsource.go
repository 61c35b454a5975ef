package formulae

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"math"
	"sync"

	"tracekit/trace"
)

// A statSource is a trace that is rebuilt from a file in stat mode.
type statSource struct {
	*source
	trees []*fileTree // by location; shared by those with the same call tree
	times []fileTimes

	once  sync.Once
	fixes [][]fix
	stuck uint64
	err   error
}

// openStatistics reads the call trees.
func openStatistics(s *source, rest []section) (*statSource, error) {
	locations := len(s.kept.Defs.Locations)
	out := &statSource{source: s, trees: make([]*fileTree, locations), times: make([]fileTimes, locations)}
	for l := range out.trees {
		out.trees[l] = &fileTree{}
		s.kept.Defs.Locations[l].ClockOffsets = nil // rebuilt times are corrected already
	}
	var counts []uint64
	trees := make(map[uint64]*fileTree)
	for _, at := range rest {
		block, err := at.load(s.file, s.name)
		if err != nil {
			return nil, err
		}
		switch {
		case at.kind == sectionStatistics && at.owner == 0:
			err = unpackShort(s.tables, block, &counts)
		case at.kind == sectionStatistics:
			tree := &fileTree{}
			if err = unpackShort(s.tables, block, tree); err == nil && !tree.restore(counts) {
				err = errDamaged
			}
			if err == nil {
				err = tree.check()
			}
			trees[at.owner] = tree
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

func (s *statSource) readTimes(l int, trees map[uint64]*fileTree, block []byte) error {
	id, n := binary.Uvarint(block)
	tree, ok := trees[id]
	if n <= 0 || !ok {
		return errDamaged
	}
	if err := unpackShort(s.tables, block[n:], &s.times[l]); err != nil {
		return err
	}
	s.trees[l] = tree
	return s.times[l].check(tree)
}

func (s *statSource) rebuilder(l trace.LocationID) *rebuilder {
	return newRebuilder(s.frame, l, s.trees[l], &s.times[l], s.head.Seed)
}

// align replays all locations once, so that times are consistent across ranks.
func (s *statSource) align(ctx context.Context) error {
	s.once.Do(func() {
		var all []*rebuilder
		for l := range s.trees {
			all = append(all, s.rebuilder(trace.LocationID(l)))
		}
		s.fixes, s.stuck, s.err = consistent(ctx, s.frame, all, math.MaxUint64)
	})
	return s.err
}

// Events implements trace.Source.
func (s *statSource) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(l) >= len(s.trees) {
			return
		}
		if err := s.align(ctx); err != nil {
			yield(nil, err)
			return
		}
		r, fixes := s.rebuilder(l), s.fixes[l]
		var b trace.Batch
		var seq uint64
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
				if len(fixes) > 0 && fixes[0].seq == seq {
					r.regime(h.kind)
					r.now, fixes = fixes[0].at, fixes[1:]
					h.time = r.now
				} else {
					r.tick(&h)
				}
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
