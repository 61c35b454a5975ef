package merge

import (
	"cmp"
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/trace"
)

// The operations of a training job that a table lists are no collectives of the trace. Those of which all members need data of all tell
// as much about clocks. DEFINITIONS 2.19 says who their members are.

// A stepKey names an operation of several workers. Of numbers that do not tell one from another it has none.
type stepKey struct {
	region          trace.RegionID
	step, seq       uint64
	chunk           uint64
	dp, stage, lane uint64
}

// A stepPart is what a worker does in an operation.
type stepPart struct {
	stepKey
	location   trace.LocationID
	start, end int64
}

func (p *stepPart) compare(q *stepPart) int {
	return cmp.Or(cmp.Compare(p.step, q.step), cmp.Compare(p.region, q.region), cmp.Compare(p.seq, q.seq), cmp.Compare(p.chunk, q.chunk),
		cmp.Compare(p.stage, q.stage), cmp.Compare(p.dp, q.dp), cmp.Compare(p.lane, q.lane))
}

// steps are the parts of operations, those of each one after the other.
type steps []stepPart

// members are the attributes that all members of an operation share, beside step, number and chunk.
var members = map[string]struct{ dp, stage, lane bool }{
	trace.TrainingParams:    {stage: true, lane: true},
	trace.TrainingGrads:     {stage: true, lane: true},
	trace.TrainingSeparate:  {stage: true, lane: true},
	trace.TrainingEmbedding: {dp: true, lane: true},
	trace.TrainingClip:      {},
}

// stepsOf reads the operations of the steps of a trace, nil if they are not those of a training job.
func stepsOf(ctx context.Context, t *trace.Trace, jobs int) (steps, error) {
	if !t.Defs.IsTraining() {
		return nil, nil
	}
	parts, err := engine.Map(ctx, jobs, len(t.Defs.Locations), func(ctx context.Context, l int) (steps, error) {
		return stepsAt(ctx, t, trace.LocationID(l))
	})
	if err != nil {
		return nil, err
	}
	all := steps(slices.Concat(parts...))
	slices.SortStableFunc(all, func(a, b stepPart) int { return a.compare(&b) })
	return all, nil
}

// stepsAt reads those of a location.
func stepsAt(ctx context.Context, t *trace.Trace, l trace.LocationID) (out steps, err error) {
	d := t.Defs
	var attributes [6]trace.AttributeID
	for i, name := range []string{trace.AttributeStep, trace.AttributeSeq, trace.AttributeChunk, trace.AttributeDP, trace.AttributeStage,
		trace.AttributeTP} {
		attributes[i] = d.AttributeByName(name)
	}
	next := make(map[stepKey]uint64) // numbers of those that have none
	open := -1
	for b, err := range t.Source.Events(ctx, l) {
		if err != nil {
			return nil, err
		}
		at := 0
		for i, seq := range b.Flow.Seq {
			region := b.Flow.Region[i]
			if b.Flow.Kind[i] == trace.KindLeave {
				if open >= 0 && out[open].region == region {
					out[open].end, open = b.Flow.Time[i], -1
				}
				continue
			}
			share, known := members[d.RegionName(region)]
			if !known {
				continue
			}
			for at < len(b.Attrs.Seq) && b.Attrs.Seq[at] < seq {
				at++
			}
			const none = ^uint64(0)
			values := [6]uint64{none, none, none, none, none, none}
			for ; at < len(b.Attrs.Seq) && b.Attrs.Seq[at] == seq; at++ {
				if k := slices.Index(attributes[:], b.Attrs.Attribute[at]); k >= 0 {
					values[k] = b.Attrs.Value[at]
				}
			}
			p := stepPart{stepKey{region, values[0], values[1], values[2], values[3], values[4], values[5]}, l, b.Flow.Time[i], b.Flow.Time[i]}
			if !share.dp {
				p.dp = none
			}
			if !share.stage {
				p.stage = none
			}
			if !share.lane {
				p.lane = none
			}
			if p.seq == none {
				key := p.stepKey
				p.seq = next[key]
				next[key]++
			}
			out, open = append(out, p), len(out)
		}
	}
	return out, nil
}

// each calls a function for each operation with its parts.
func (s steps) each(one func(parts steps)) {
	for first := 0; first < len(s); {
		end := first + 1
		for end < len(s) && s[end].compare(&s[first]) == 0 {
			end++
		}
		one(s[first:end])
		first = end
	}
}

// backwards counts the operations that end for a worker before another one has begun.
func (s steps) backwards(at timing) (n uint64) {
	s.each(func(parts steps) {
		latest := at(parts[0].location, parts[0].start)
		for _, p := range parts[1:] {
			latest = max(latest, at(p.location, p.start))
		}
		if slices.ContainsFunc(parts, func(p stepPart) bool { return at(p.location, p.end) < latest }) {
			n++
		}
	})
	return n
}
