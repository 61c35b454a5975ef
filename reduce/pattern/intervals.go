package pattern

import (
	"context"
	"slices"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A start is where an interval of a location begins; it ends where the next one begins. What
// comes before the first start and behind the last belongs to no interval.
type start struct {
	first uint64 // record
	time  int64  // recorded
	calls uint64 // hash of the calls of the interval, in whatever order
	order uint64 // hash of its records, in order
	stack uint64 // hash of the call path where it begins
}

// A division cuts the run into intervals: the k-th intervals of all locations belong
// together.
//
//	starts[l] is nil (no interval), or has n+1 rows or more
type division struct {
	marker Marker
	n      int // intervals
	starts []*spill.Table[start]
	master []trace.LocationID // whose intervals are the location's, in time
}

func (d *division) release() {
	for _, s := range d.starts {
		if s != nil {
			s.Release()
		}
	}
}

// interval returns the interval of a record: -1 before the first, n behind the last. It looks
// at a likely one first.
func (d *division) interval(l trace.LocationID, seq uint64, likely int) int {
	s := d.starts[l]
	if s == nil {
		return -1
	}
	if likely >= 0 && likely < d.n && s.Ptr(likely).first <= seq && seq < s.Ptr(likely+1).first {
		return likely
	}
	return sort.Search(d.n+1, func(k int) bool { return s.Ptr(k).first > seq }) - 1
}

// divide cuts the run at a marker. The first location of a rank arrives at markers; the
// others of its process are cut at the same times.
func (f *finder) divide(ctx context.Context, m Marker) (*division, error) {
	d := &division{marker: m, starts: make([]*spill.Table[start], len(f.t.Defs.Locations)),
		master: make([]trace.LocationID, len(f.t.Defs.Locations))}
	masters := f.masters()
	for l, rank := range f.t.Rank {
		d.master[l] = trace.None
		if rank != trace.None && masters[f.t.World[rank]] {
			d.master[l] = f.t.World[rank]
		}
	}
	for _, follow := range []bool{false, true} {
		if follow && len(f.t.Defs.Locations) == f.count {
			break
		}
		_, err := engine.Each(ctx, f.t.Source, f.run(), func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{},
			error) {
			master := d.master[l]
			if master == trace.None || follow == (master == l) || follow && d.starts[master] == nil {
				return struct{}{}, nil
			}
			s := &scan{finder: f, marker: m, starts: spill.NewTable[start](f.t.Store), w: f.shared.walker(l),
				vector: make([]uint64, len(f.t.Defs.Regions))}
			if follow {
				s.follows = d.starts[master]
			}
			err := s.run(batches)
			if s.starts.Len() > 0 {
				d.starts[l] = s.starts
			}
			return struct{}{}, err
		})
		if err != nil {
			return d, err
		}
	}
	d.n = f.opts.Intervals
	for l, is := range masters {
		switch s := d.starts[l]; {
		case is && s != nil:
			d.n = min(d.n, s.Len()-1)
		case is && f.t.Span[l].Events > 0:
			d.n = 0
		}
	}
	if !slices.ContainsFunc(d.starts, func(s *spill.Table[start]) bool { return s != nil }) {
		d.n = 0
	}
	return d, nil
}

// masters tells which locations are the first of a rank.
func (f *finder) masters() []bool {
	is := make([]bool, len(f.t.Defs.Locations))
	for _, l := range f.t.World {
		if int(l) < len(is) {
			is[l] = true
		}
	}
	f.count = 0
	for _, x := range is {
		if x {
			f.count++
		}
	}
	return is
}

// A scan finds the intervals of one location.
type scan struct {
	*finder
	marker  Marker
	w       *walker
	starts  *spill.Table[start]
	follows *spill.Table[start] // of the location that it is cut with; nil: it arrives itself
	now     start
	vector  []uint64 // ByDistance: calls by function
	known   [][]uint64
}

func (s *scan) run(batches engine.Batches) error {
	regions := s.regions()
	every, next := s.every()
	events := uint64(0)
	for b, err := range batches {
		if err != nil {
			return err
		}
		for seq, row := range b.Events {
			events = seq + 1
			time := b.Time(row)
			before := s.w.path()
			if s.follows != nil {
				for s.starts.Len() < s.follows.Len() && time >= s.follows.Ptr(s.starts.Len()).time {
					s.begin(seq, s.follows.Ptr(s.starts.Len()).time, before)
				}
			} else if every > 0 {
				for ; time >= next && s.room(); next += every {
					s.begin(seq, next, before)
				}
			}
			e := s.w.event(b, seq, row)
			if s.follows == nil && every == 0 && e.path != 0 && s.room() && s.arrives(e, regions) {
				s.begin(seq, time, before)
			}
			s.now.calls += e.calls
			s.now.order = mix(s.now.order, e.order)
			if s.opts.Alike == ByDistance && e.path != 0 && e.calls != 0 && int(e.region) < len(s.vector) {
				s.vector[e.region]++
			}
		}
	}
	for s.follows != nil && s.starts.Len() < s.follows.Len() {
		s.begin(events, s.follows.Ptr(s.starts.Len()).time, s.w.path())
	}
	return nil
}

// room reports whether there may be one more interval.
func (s *scan) room() bool { return s.starts.Len() <= s.opts.Intervals }

// arrives reports whether an interval begins with an Enter.
func (s *scan) arrives(e event, regions []bool) bool {
	switch s.marker.Kind {
	case OnSite:
		return e.path == s.marker.site
	}
	return int(e.region) < len(regions) && regions[e.region]
}

// regions tells which regions are the marker, nil if that is none.
func (s *scan) regions() []bool {
	d := s.shared.defs
	is := make([]bool, len(d.Regions))
	for r := range is {
		switch f := s.shared.mpi[r]; s.marker.Kind {
		case OnRegion:
			is[r] = d.RegionName(trace.RegionID(r)) == s.marker.Region || d.RegionLabel(trace.RegionID(r)) == s.marker.Region
		case OnCollective:
			is[r] = (f.Class == trace.ClassColl || f.Class == trace.ClassIcoll) && f.Op == s.marker.Op
		}
	}
	return is
}

// every returns the length of an interval in ticks and when the first begins; 0 if that is
// not the marker.
func (s *scan) every() (ticks, first int64) {
	if s.marker.Kind != OnTime {
		return 0, 0
	}
	c := s.shared.defs.Clock
	return max(1, int64(float64(s.marker.Ns)/1e9*float64(c.Resolution))), c.GlobalOffset
}

// begin ends the interval that goes on and begins the next.
func (s *scan) begin(seq uint64, time int64, stack uint64) {
	if n := s.starts.Len(); n > 0 {
		p := s.starts.Ptr(n - 1)
		p.calls, p.order = s.now.calls, s.now.order
		if s.opts.Alike == ByDistance {
			p.calls = s.class(seq)
			p.order = p.calls
		}
	}
	s.now = start{order: stack}
	clear(s.vector)
	s.starts.Append(start{first: seq, time: time, stack: stack})
}

// class returns the number of the first pattern that the interval is near enough to, a new
// one if there is none.
func (s *scan) class(seq uint64) uint64 {
	const most = 1 << 10
	for i, v := range s.known {
		if distance(v, s.vector) <= s.opts.Distance {
			return uint64(i) + 1
		}
	}
	if len(s.known) == most {
		return mix(most, seq) // like no other
	}
	s.known = append(s.known, append([]uint64(nil), s.vector...))
	return uint64(len(s.known))
}

// distance returns the L1 distance of two vectors.
func distance(a, b []uint64) (d uint64) {
	for i := range a {
		d += max(a[i], b[i]) - min(a[i], b[i])
	}
	return d
}
