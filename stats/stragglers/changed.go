package stragglers

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"tracekit/trace"
)

// Changed returns the run with a change: the operations of its steps, as a table lists them, at the times of the replay. Steps follow each
// other without the time between them. Its times are in ns.
func (m *Model) Changed(c Change) trace.Source {
	r, keep := m.changed(c)
	s := &changed{replayer: r, info: trace.Info{Path: "replay", Creator: "tracekit"}, defs: &trace.Defs{},
		text: make(map[string]trace.StringID)}
	at := 0.0
	n := len(r.kind)
	x, kept := r.newRun(), r.kept(keep)
	for step := range r.took {
		took := x.taken(step, kept)
		start, end := make([]int64, n), make([]int64, n)
		length := x.replay(took)
		for i := range n {
			begin := 0.0
			for _, k := range r.follows[i] {
				begin = max(begin, x.ends[k])
			}
			if r.kind[i].computes() { // which may have waited for those that it computes with
				begin = x.ends[i] - took[i]
			}
			start[i], end[i] = int64(math.Round(at+begin)), int64(math.Round(at+x.ends[i]))
			end[i] = max(start[i], end[i])
		}
		s.start, s.end = append(s.start, start), append(s.end, end)
		at += length
	}
	s.define(int64(math.Ceil(at)))
	return s
}

// A changed is a run that was replayed.
//
//	start[s][n], end[s][n] are of node n in step s, in ns
//	lanes[l] are the nodes of location l in order of start in the first step
type changed struct {
	*replayer
	info       trace.Info
	defs       *trace.Defs
	text       map[string]trace.StringID
	start, end [][]int64
	lanes      [][]int
}

var attributeNames = []string{trace.AttributeStep, trace.AttributeDP, trace.AttributeStage, trace.AttributeSeq, trace.AttributeMicroBatch,
	trace.AttributeChunk, trace.AttributeModelChunk, trace.AttributeTP, trace.AttributeBytes}

func (s *changed) string(text string) trace.StringID {
	id, ok := s.text[text]
	if !ok {
		id = trace.StringID(len(s.defs.Strings))
		s.text[text] = id
		s.defs.Strings = append(s.defs.Strings, text)
	}
	return id
}

// define makes the definitions: a location for the computations of each worker, and one for each type of communication.
func (s *changed) define(length int64) {
	d := s.defs
	s.string("")
	d.Clock = trace.ClockProperties{Resolution: 1e9, Length: uint64(length), Realtime: 1<<64 - 1}
	for k, name := range kindNames {
		id := s.string(name)
		d.Regions = append(d.Regions, trace.Region{Ref: uint64(k), Name: id, Canonical: id, Role: trace.RoleFunction,
			Paradigm: trace.ParadigmUser})
	}
	for i, name := range attributeNames {
		d.Attributes = append(d.Attributes, trace.Attribute{Ref: uint64(i), Name: s.string(name), Type: trace.TypeUint64})
	}
	nodes := make([][kinds][]int, len(s.ranks))
	for n, w := range s.by {
		lane := s.kind[n]
		if lane.computes() {
			lane = forwardCompute
		}
		nodes[w][lane] = append(nodes[w][lane], n)
	}
	members := make([]uint32, 0, len(s.ranks))
	for w := range nodes {
		d.LocationGroups = append(d.LocationGroups, trace.LocationGroup{Ref: uint64(w), Kind: 1, Creator: trace.None, Node: trace.None,
			Name: s.string(s.workerName(w))})
		for k, list := range nodes[w] {
			if len(list) == 0 {
				continue
			}
			name := kindNames[k]
			if kind(k) == forwardCompute {
				name = "compute"
				members = append(members, uint32(len(d.Locations)))
			}
			d.Locations = append(d.Locations, trace.Location{Ref: uint64(len(d.Locations)), Name: s.string(name), Kind: trace.LocationCPUThread,
				Group: trace.LocationGroupID(w), Events: uint64(2 * len(list) * len(s.steps))})
			s.lanes = append(s.lanes, list)
		}
	}
	d.Groups = append(d.Groups, trace.Group{Kind: trace.GroupCommLocations, Paradigm: trace.ParadigmMPI, Members: members})
}

// workerName returns what a worker is called.
func (s *changed) workerName(w int) string {
	name := fmt.Sprintf("rank %d: dp %d, stage %d", s.ranks[w], s.dpOf(w), s.stageOf(w))
	if s.job.lanes > 1 {
		name += fmt.Sprintf(", tp %d", s.laneOf(w))
	}
	return name
}

// Info implements trace.Source.
func (s *changed) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *changed) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source.
func (s *changed) Findings() []trace.Finding { return nil }

// Close implements trace.Source.
func (s *changed) Close() error { return nil }

// Events implements trace.Source: a batch for each step.
func (s *changed) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		b := &trace.Batch{}
		b.Reset(l, 0)
		list := slices.Clone(s.lanes[l])
		for step, number := range s.steps {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			slices.SortStableFunc(list, func(x, y int) int {
				return cmp.Compare(s.start[step][x], s.start[step][y])
			})
			for _, n := range list {
				x := &s.template[n%len(s.template)]
				w, lane, bytes := int(s.by[n]), uint64(none), uint64(none)
				if s.job.lanes > 1 {
					lane = uint64(s.laneOf(w))
				}
				if v := s.bytes[step][n]; v >= 0 {
					bytes = uint64(v)
				}
				for id, v := range []uint64{number, uint64(s.dpOf(w)), uint64(s.stageOf(w)), x.seq, uint64(x.batch), uint64(x.chunk), uint64(x.model),
					lane, bytes} {
					if v != none {
						b.AddAttr(trace.AttributeID(id), trace.TypeUint64, v)
					}
				}
				b.AddFlow(s.start[step][n], trace.KindEnter, trace.RegionID(s.kind[n]))
				b.AddFlow(s.end[step][n], trace.KindLeave, trace.RegionID(s.kind[n]))
			}
			if !yield(b, nil) {
				return
			}
			b.Reset(l, b.First+uint64(b.Len()))
		}
	}
}
