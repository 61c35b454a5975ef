package parquet

import (
	"context"

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
	return arrowdir.Table{Name: "visits", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for l, span := range m.t.Span {
			if span.Events == 0 {
				continue
			}
			location := trace.LocationID(l)
			onDevice := d.Locations[l].Kind == trace.LocationGPU
			var stack trace.CallStack[visit]
			leave := func(t int64) bool {
				depth := stack.Len() - 1
				region := stack.Region(depth)
				v := stack.Pop()
				if outer := stack.Top(); outer != nil {
					outer.inside += t - v.enter
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
			}
			last := span.First
			var times []int64
			for b, err := range m.t.Source.Events(ctx, location) {
				if err != nil {
					r.Fail(err)
					return
				}
				times = append(times[:0], b.Flow.Time...)
				last = m.t.Clock.Maps[l].Correct(times, last)
				for i, t := range times {
					region := b.Flow.Region[i]
					if b.Flow.Kind[i].Enters() {
						if stack.Full() && !leave(t) {
							return
						}
						stack.Enter(region, visit{enter: t})
						continue
					}
					for range stack.Leave(region) {
						if !leave(t) {
							return
						}
					}
				}
			}
			for stack.Len() > 0 {
				if !leave(span.Last) {
					return
				}
			}
		}
	}}
}
