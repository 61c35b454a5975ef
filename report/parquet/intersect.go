package parquet

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"tracekit/readers/arrowdir"
	"tracekit/trace"
)

// An outermost visit of a region, in nanoseconds.
type outermost struct {
	start, end int64
	location   trace.LocationID
	region     uint32 // of names
}

// Intersections has a row for each two outermost visits, on two locations of one rank, that overlap. Rows come in the order in which the
// overlaps begin. It decodes the trace.
func (m *Maker) Intersections(ctx context.Context) arrowdir.Table {
	regions := newNameList()
	of := make([]uint32, len(m.t.Defs.Regions))
	for i := range m.t.Defs.Regions {
		of[i] = regions.of(m.t.Defs.RegionLabel(trace.RegionID(i)))
	}
	columns := append(integers("rank", "location_a", "location_b"), arrowdir.TableColumn{Name: "region_a", Names: regions.names},
		arrowdir.TableColumn{Name: "region_b", Names: regions.names})
	columns = append(columns, integers("start_ns", "time_ns")...)
	const rank, start = 0, 5
	return arrowdir.Table{Name: "intervals_intersect", Columns: columns, Parts: func() (parts []arrowdir.Part) {
		of := m.outermostOf(of)
		locations := make(map[uint32][]trace.LocationID) // of ranks
		for l, r := range m.t.Rank {
			if r != trace.None && m.t.Span[l].Events > 0 {
				locations[r] = append(locations[r], trace.LocationID(l))
			}
		}
		for _, r := range slices.Sorted(maps.Keys(locations)) {
			rows := 0
			for _, l := range locations[r] {
				rows += int(m.t.Span[l].Events / 2)
			}
			if len(locations[r]) == 1 {
				continue
			}
			parts = append(parts, arrowdir.Part{Rows: rows, Within: func(column int, least, greatest int64) (int, int, bool) {
				if column == rank {
					return bounds{least, greatest, rows}.here(r)
				}
				return 0, 0, false
			}, Append: func(out *arrowdir.Rows) {
				least, greatest := out.Within(start)
				var visits []outermost
				for _, l := range locations[r] {
					err := error(nil)
					if visits, err = of(ctx, visits, l, greatest); err != nil {
						out.Fail(err)
						return
					}
				}
				intersect(visits, func(a, b *outermost) bool {
					from, to := max(a.start, b.start), min(a.end, b.end)
					if from < least || from > greatest {
						out.Skip()
						return true
					}
					out.ID(r).Int(int64(a.location)).Int(int64(b.location)).Name(a.region).Name(b.region)
					return out.Int(from).Int(to - from).End()
				})
			}})
		}
		return parts
	}}
}

// outermostOf returns what appends the outermost visits of a location that begin up to an instant; regions have these names.
func (m *Maker) outermostOf(names []uint32) func(context.Context, []outermost, trace.LocationID, int64) ([]outermost, error) {
	return func(ctx context.Context, out []outermost, l trace.LocationID, greatest int64) ([]outermost, error) {
		err := m.walk(ctx, l, greatest, func(region trace.RegionID, depth int, v visit, t int64) bool {
			if depth == 0 {
				x := outermost{m.instant(v.enter), m.instant(v.enter) + m.ns(t-v.enter), l, trace.None}
				if int(region) < len(names) {
					x.region = names[region]
				}
				out = append(out, x)
			}
			return true
		})
		return out, err
	}
}

// intersect calls each for each two visits of different locations that overlap, that of the lower location first, until it returns false.
func intersect(visits []outermost, each func(a, b *outermost) bool) {
	slices.SortFunc(visits, func(a, b outermost) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.location, b.location), cmp.Compare(a.end, b.end))
	})
	var open []*outermost
	for i := range visits {
		x := &visits[i]
		open = slices.DeleteFunc(open, func(o *outermost) bool { return o.end <= x.start })
		for _, o := range open {
			if o.location == x.location || x.end <= o.start {
				continue
			}
			a, b := o, x
			if a.location > b.location {
				a, b = b, a
			}
			if !each(a, b) {
				return
			}
		}
		open = append(open, x)
	}
}
