package page

import (
	"context"

	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Timeline is what every location did from the first event to the last, at the resolution
// that fits. Times are ns after the first event.
type Timeline struct {
	LengthNs int64
	Rows     []Row
	Paths    *trace.CallTree // that Activities name
	// Activities are what a row can be doing. The first is that nothing is recorded.
	Activities  []Activity
	Messages    []Message
	Collectives []Collective
	Critical    []Stretch // the critical path, in order of time
	Counters    []Counter // that have curves
	Curves      []Curve   // in order of rows, if they are not sums

	MessagesOf, CollectivesOf, CriticalOf int // how many there are: a part is kept
}

// A Row is one location.
type Row struct {
	Location trace.LocationID
	// StepNs is the unit of Runs. 1: they are exact. Otherwise time was divided into cells of so many ns. Each is given to the activity
	// that was owed most: over many cells each activity has its share of the time.
	StepNs int64
	Runs   Runs
}

// A Run is time spent doing one thing.
type Run struct {
	Steps    int64 // length in units of Row.StepNs
	Activity uint32
}

// An Activity is being in a call path, and there in a wait state or not.
type Activity struct {
	Path trace.PathID
	Wait waitstate.Kind // None: it runs
}

// A Message is drawn from its send record to its receive record.
type Message struct {
	From, To   uint32 // rows
	SentNs     int64
	ReceivedNs int64
	Bytes      uint64
	Comm       trace.CommID
	Tag        uint32
}

func (m *Message) received() *int64 { return &m.ReceivedNs }

// A Collective is drawn over its members from the first begin to the last end.
type Collective struct {
	Operation   trace.RegionID // the MPI function of the member that came last
	First, Last uint32         // rows of the outermost members
	Latest      uint32         // the row that came last
	BeginNs     int64          // of the first member
	LatestNs    int64          // begin of the last member
	EndNs       int64          // of the last member to leave

	Comm           trace.CommID
	Members        uint32 // that are drawn
	Root           uint32 // row; None: no root, or it is not drawn
	Sent, Received uint64 // bytes of those members, at most 2^63
}

// A Stretch is a piece of the critical path.
type Stretch struct {
	Row          uint32
	FromNs, ToNs int64
}

// Limits bound a Timeline.
type Limits struct {
	Runs, Messages, Collectives, Stretches, Pieces int // over all rows
}

// A Drawing makes the timeline of a trace from the events that an analysis of the whole run decodes:
// it is a profile.Observer. Memory is bounded by the limits and the number of call paths.
type Drawing struct {
	drawing[*drawn]
	limits Limits
}

// NewDrawing returns a drawing of a trace.
func NewDrawing(t *trace.Trace, limits Limits) *Drawing {
	b := newBuilder(t, limits)
	return &Drawing{newDrawing(b, b.newDrawn), limits}
}

// Timeline returns the timeline, once the trace is analyzed.
func (d *Drawing) Timeline(ctx context.Context, a *analysis.Result, jobs int) (*Timeline, error) {
	tl := &Timeline{LengthNs: d.b.length}
	tl.addCurves(d.gather(tl, d.b.chosen(a)), d.b.counters, d.limits)
	return tl, d.b.finish(ctx, jobs, tl, a, d.limits, nil)
}

// NewTimeline makes the timeline of a trace that was analyzed without a Drawing beside it, which
// decodes the trace once more.
func NewTimeline(ctx context.Context, t *trace.Trace, a *analysis.Result, limits Limits, jobs int) (*Timeline, error) {
	d := NewDrawing(t, limits)
	if err := d.decode(ctx, a.Waits, jobs); err != nil {
		return nil, err
	}
	return d.Timeline(ctx, a, jobs)
}

func newBuilder(t *trace.Trace, limits Limits) *builder {
	first, last := scope.Run(t)
	b := &builder{t: t, first: first, last: last, length: t.Defs.Clock.Nanoseconds(last - first)}
	used := 0
	for _, s := range t.Span {
		if s.Events > 0 {
			used++
		}
	}
	b.limit = max(limits.Runs/max(used, 1), 16)
	b.findCounters()
	b.pieces = b.piecesOfRow(limits, used)
	return b
}

// finish adds what joins the rows of a timeline; all of it is told to whoever wants more.
func (b *builder) finish(ctx context.Context, jobs int, tl *Timeline, a *analysis.Result, limits Limits, more *joins) error {
	b.row = make([]uint32, len(b.t.Span))
	for l := range b.row {
		b.row[l] = trace.None
	}
	for i, r := range tl.Rows {
		b.row[r.Location] = uint32(i)
	}
	if err := b.join(ctx, jobs, tl, limits, more); err != nil {
		return err
	}
	b.critical(tl, a, limits.Stretches)
	return b.t.Store.Err()
}

// gather adds the rows to the timeline, with common numbers of activities, in order of locations, and
// returns the curves of all that are of chosen counters.
func (d *Drawing) gather(tl *Timeline, chosen []bool) (curves []Curve) {
	common := newCommon()
	for l, lane := range d.lanes {
		if lane == nil {
			continue
		}
		numbers, kept := common.add(lane), d.kept[l]
		kept.runs.renumber(numbers)
		for _, c := range kept.curves {
			if chosen[c.counter] {
				curves = append(curves, Curve{Counter: c.counter, Row: uint32(len(tl.Rows)), StepNs: c.step, Pieces: c.kept.rows})
			}
		}
		tl.Rows = append(tl.Rows, Row{Location: lane.location, StepNs: kept.step, Runs: kept.runs})
	}
	tl.Paths, tl.Activities = common.paths, common.activities
	return curves
}

// A common numbering of activities of several locations.
type common struct {
	paths      *trace.CallTree
	activities []Activity
	numbers    map[Activity]uint32
}

func newCommon() *common {
	nothing := Activity{Path: trace.None}
	return &common{paths: trace.NewCallTree(), activities: []Activity{nothing}, numbers: map[Activity]uint32{nothing: 0}}
}

// add returns the common numbers of a lane's activities.
func (c *common) add(l *lane) []uint32 {
	paths := c.paths.Merge(l.tree)
	numbers := make([]uint32, len(l.activities))
	for i, a := range l.activities {
		if a.Path != trace.None {
			a.Path = paths[a.Path]
		}
		n, ok := c.numbers[a]
		if !ok {
			n = uint32(len(c.activities))
			c.numbers[a] = n
			c.activities = append(c.activities, a)
		}
		numbers[i] = n
	}
	return numbers
}

// coarsen halves the number of runs of the rows that have the most, and reports whether it
// could.
func (tl *Timeline) coarsen() bool {
	return halve(tl.Rows, func(r *Row) int { return r.Runs.Len() }, func(r *Row, limit int) {
		f := fitting{length: tl.LengthNs, limit: limit, stepper: stepper{r.StepNs, r.Runs}}
		f.coarsen()
		f.close()
		r.StepNs, r.Runs = f.step, f.runs
	})
}

// A builder holds what making a timeline needs.
type builder struct {
	t      *trace.Trace
	first  int64 // tick
	last   int64 // tick
	length int64 // ns
	limit  int   // of the runs of one row
	row    []uint32

	counters []Counter
	drawnAs  [][]int // indices into counters by trace.MetricMemberID; none: not drawn
	pieces   int     // of the curve of one row at most
}

func (b *builder) ns(tick int64) int64 { return b.t.Defs.Clock.Nanoseconds(tick - b.first) }

// drawn is what a location did, in as many runs as may be.
type drawn struct {
	fitting
	b      *builder
	curves []*sketched
}

// A sketched curve is one of a row.
type sketched struct {
	sketch
	counter int
}

func (b *builder) newDrawn(l trace.LocationID) *drawn {
	room := int(min(uint64(b.limit), b.t.Span[l].Events))
	return &drawn{b: b, fitting: fitting{length: b.length, limit: b.limit, stepper: stepper{step: 1, runs: newRuns(room)}}}
}

func (d *drawn) curve(counter int) plotter {
	s := &sketched{sketch{length: d.b.length, limit: d.b.pieces, step: 1}, counter}
	d.curves = append(d.curves, s)
	return s
}

func (d *drawn) close() {
	d.fitting.close()
	for _, s := range d.curves {
		s.finish()
	}
}

// critical keeps the longest stretches of the critical path where there are too many.
func (b *builder) critical(tl *Timeline, a *analysis.Result, limit int) {
	if a.CriticalPath == nil || a.Path == nil {
		return
	}
	n := a.Path.Len()
	tl.CriticalOf = n
	least := int64(0)
	if n > limit {
		// Stretches shorter than the mean of the limit cover little.
		least = a.CriticalPath.LengthNs / int64(max(limit, 1))
	}
	for i := n - 1; i >= 0; i-- {
		s := a.Path.At(i)
		if row := b.row[s.Location]; row != trace.None && s.ToNs-s.FromNs >= least {
			tl.Critical = append(tl.Critical, Stretch{Row: row, FromNs: s.FromNs, ToNs: s.ToNs})
		}
	}
}
