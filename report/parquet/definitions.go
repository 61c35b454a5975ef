package parquet

import (
	"context"

	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// Locations has a row for each thread, stream of a device or other source of events.
func (m *Maker) Locations() arrowdir.Table {
	names, processes, kinds := newNameList(), newNameList(), newNameList()
	d := m.t.Defs
	group := func(l int) string {
		if g := d.Locations[l].Group; int(g) < len(d.LocationGroups) {
			return d.String(d.LocationGroups[g].Name)
		}
		return ""
	}
	for l := range d.Locations {
		names.of(d.String(d.Locations[l].Name))
		processes.of(group(l))
		kinds.of(d.Locations[l].Kind.String())
	}
	columns := append(integers("location", "rank"), arrowdir.TableColumn{Name: "name", Names: names.names},
		arrowdir.TableColumn{Name: "kind", Names: kinds.names}, arrowdir.TableColumn{Name: "process", Names: processes.names})
	columns = append(columns, integers("events", "start_ns", "end_ns")...)
	return arrowdir.Table{Name: "locations", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for l := range d.Locations {
			r.Int(int64(l)).ID(m.t.Rank[l]).Name(names.of(d.String(d.Locations[l].Name))).Name(kinds.of(d.Locations[l].Kind.String()))
			r.Name(processes.of(group(l))).Int(int64(m.t.Span[l].Events))
			if m.t.Span[l].Events == 0 {
				r.Missing().Missing()
			} else {
				r.Int(m.instant(m.t.Span[l].First)).Int(m.instant(m.t.Span[l].Last))
			}
			if !r.End() {
				return
			}
		}
	}}
}

// Regions has a row for each function, kernel or other region that the trace defines.
func (m *Maker) Regions() arrowdir.Table {
	names, kinds, files := newNameList(), newNameList(), newNameList()
	d := m.t.Defs
	for i, r := range d.Regions {
		names.of(d.RegionLabel(trace.RegionID(i)))
		kinds.of(r.Paradigm.String())
		files.of(d.String(r.File))
	}
	columns := append(integers("region_id"), arrowdir.TableColumn{Name: "region", Names: names.names},
		arrowdir.TableColumn{Name: "paradigm", Names: kinds.names}, arrowdir.TableColumn{Name: "file", Names: files.names})
	columns = append(columns, integers("begin_line", "end_line")...)
	return arrowdir.Table{Name: "regions", Columns: columns, Fill: func(r *arrowdir.Rows) {
		for i, x := range d.Regions {
			r.Int(int64(i)).Name(names.of(d.RegionLabel(trace.RegionID(i)))).Name(kinds.of(x.Paradigm.String())).Name(files.of(d.String(x.File)))
			for _, line := range []uint32{x.BeginLine, x.EndLine} {
				if line == 0 {
					line = trace.None
				}
				r.ID(line)
			}
			if !r.End() {
				return
			}
		}
	}}
}

// Counters has a row for each recorded value of a counter, in its unit. It decodes the trace.
func (m *Maker) Counters(ctx context.Context) arrowdir.Table {
	names, units := newNameList(), newNameList()
	d := m.t.Defs
	for _, c := range d.MetricMembers {
		names.of(d.String(c.Name))
		units.of(d.String(c.Unit))
	}
	columns := append(integers("location", "rank"), arrowdir.TableColumn{Name: "counter", Names: names.names},
		arrowdir.TableColumn{Name: "unit", Names: units.names}, arrowdir.TableColumn{Name: "time_ns"},
		arrowdir.TableColumn{Name: "value", Real: true})
	const time = 4
	return arrowdir.Table{Name: "counters", Columns: columns, Parts: m.byLocation(func(l trace.LocationID) arrowdir.Part {
		span, rows := m.t.Span[l], 0
		if len(d.MetricMembers) > 0 {
			rows = int(span.Events)
		}
		return arrowdir.Part{Rows: rows, Within: m.recorded(l, rows, time), Append: func(r *arrowdir.Rows) {
			if rows == 0 {
				return
			}
			least, greatest := r.Within(time)
			last := span.First
			var times []int64
			for b, err := range m.events(ctx, l) {
				if err != nil {
					r.Fail(err)
					return
				}
				x := &b.Metric
				times = append(times[:0], x.Time...)
				last = m.t.Clock.Maps[l].Correct(times, last)
				for i, t := range times {
					id, ok := d.CounterOf(x.Metric[i], x.Member[i])
					if !ok {
						continue
					}
					switch at := m.instant(t); {
					case at > greatest: // later ones are, too
						return
					case at < least:
						r.Skip()
						continue
					}
					c := &d.MetricMembers[id]
					r.Int(int64(l)).ID(m.t.Rank[l]).Name(names.of(d.String(c.Name))).Name(units.of(d.String(c.Unit)))
					if !r.Int(m.instant(t)).Real(x.Type[i].Number(x.Value[i]) * c.Scale()).End() {
						return
					}
				}
			}
		}}
	})}
}
