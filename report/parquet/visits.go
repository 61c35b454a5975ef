package parquet

import (
	"context"
	"iter"

	"tracekit/document/words"
	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// A visit is a region that is entered, in corrected ticks.
type visit struct{ enter, inside int64 }

// Visits has a row for each visit of a region, on threads and on streams of devices. Rows come in the order in which a location leaves
// them: where, when, how long, and how deep in other regions. It decodes the trace.
func (m *Maker) Visits(ctx context.Context) arrowdir.Table {
	regions, kinds, classes := newNameList(), newNameList(), newNameList()
	type about struct{ region, kind, class uint32 }
	d := m.t.Defs
	works := d.DeviceWorks()
	of := make([]about, len(d.Regions))
	for i, r := range d.Regions {
		label := d.RegionLabel(trace.RegionID(i))
		of[i] = about{regions.of(label), kinds.of(r.Paradigm.String()), trace.None}
		if works[i] != trace.DeviceIdle {
			of[i].class = classes.of(words.KernelClass(works[i].String(), label))
		}
	}
	columns := append(integers("location", "rank"), arrowdir.TableColumn{Name: "region", Names: regions.names},
		arrowdir.TableColumn{Name: "paradigm", Names: kinds.names}, arrowdir.TableColumn{Name: "kernel_class", Names: classes.names})
	columns = append(columns, integers("depth", "start_ns", "time_ns", "self_ns")...)
	const start = 6
	return arrowdir.Table{Name: "visits", Columns: columns, Parts: m.byLocation(func(l trace.LocationID) arrowdir.Part {
		span, onDevice := m.t.Span[l], d.Locations[l].Kind == trace.LocationGPU
		return arrowdir.Part{Rows: int(span.Events / 2), Within: m.recorded(l, int(span.Events/2), start), Append: func(r *arrowdir.Rows) {
			least, greatest := r.Within(start)
			err := m.walk(ctx, l, greatest, func(region trace.RegionID, depth int, v visit, t int64) bool {
				if at := m.instant(v.enter); at < least || at > greatest {
					r.Skip()
					return true
				}
				x := about{trace.None, trace.None, trace.None}
				if int(region) < len(of) {
					x = of[region]
				}
				if !onDevice {
					x.class = trace.None
				}
				r.Int(int64(l)).ID(m.t.Rank[l]).Name(x.region).Name(x.kind).Name(x.class).Int(int64(depth))
				return r.Int(m.instant(v.enter)).Int(m.ns(t - v.enter)).Int(m.ns(t - v.enter - v.inside)).End()
			})
			if err != nil {
				r.Fail(err)
			}
		}}
	})}
}

// walk calls each for the visits of a location as they end, at t, and how deep they are in others. It ends when each returns false, and
// once all visits that follow begin after the greatest instant.
func (m *Maker) walk(ctx context.Context, l trace.LocationID, greatest int64,
	each func(region trace.RegionID, depth int, v visit, t int64) bool) error {
	var stack trace.CallStack[visit]
	leave := func(t int64) bool {
		depth := stack.Len() - 1
		region := stack.Region(depth)
		v := stack.Pop()
		if outer := stack.Top(); outer != nil {
			outer.inside += t - v.enter
		}
		return each(region, depth, v, t)
	}
	last := m.t.Span[l].First
	var times []int64
	for b, err := range m.events(ctx, l) {
		if err != nil {
			return err
		}
		times = append(times[:0], b.Flow.Time...)
		last = m.t.Clock.Maps[l].Correct(times, last)
		for i, t := range times {
			if stack.Len() == 0 && m.instant(t) > greatest {
				return nil
			}
			region := b.Flow.Region[i]
			if b.Flow.Kind[i].Enters() {
				if stack.Full() && !leave(t) {
					return nil
				}
				stack.Enter(region, visit{enter: t})
				continue
			}
			for range stack.Leave(region) {
				if !leave(t) {
					return nil
				}
			}
		}
	}
	for stack.Len() > 0 {
		if !leave(m.t.Span[l].Last) {
			return nil
		}
	}
	return nil
}

// recorded returns a Part.Within of rows of a location's events: column 0 has the location, 1 its rank, time the time of an event.
func (m *Maker) recorded(l trace.LocationID, rows, time int) func(column int, least, greatest int64) (first, end int, ok bool) {
	return func(column int, least, greatest int64) (first, end int, ok bool) {
		b, span := bounds{least, greatest, rows}, m.t.Span[l]
		switch column {
		case 0:
			return b.here(uint32(l))
		case 1:
			return b.here(m.t.Rank[l])
		case time:
			return b.during(m.instant(span.First), m.instant(span.Last))
		}
		return 0, 0, false
	}
}

// events returns the events of a location; the source is not asked of one that has none.
func (m *Maker) events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	if m.t.Span[l].Events == 0 {
		return func(func(*trace.Batch, error) bool) {}
	}
	return m.t.Source.Events(ctx, l)
}
