package diagram

import (
	"context"
	"fmt"
	"time"

	"tracekit/document/palette"
	"tracekit/engine"
	"tracekit/plots"
	"tracekit/reduce/pattern"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Options say what part of a trace a space-time diagram shows and how.
type Options struct {
	Title         string
	Ranks         []uint32      // world ranks from top to bottom; none: all
	From, To      scope.Instant // unset: from the first event to the last, without startup and end
	Whole         bool          // with startup and end, too
	Rows          Rows          // "": processes and devices
	Sort          Sort          // "": none
	ColorBy       ColorBy
	Overhead      overhead.ByCall // for ByOverhead
	Messages      plots.MessageMode
	Width, Height int // pixels; 0: chosen by the number of ranks
	Jobs          int
	Progress      *engine.Progress
}

// A ColorBy says what the colors of the bars mean.
type ColorBy string

// The ways of coloring.
const (
	ByRegion   ColorBy = "region"   // the innermost region
	ByParadigm ColorBy = "paradigm" // what it belongs to: user code, MPI, OpenMP …
	ByWait     ColorBy = "wait"     // computation, MPI, and each kind of wait state
	ByOverhead ColorBy = "overhead" // computation, and how much of a call of MPI is beyond what it needs
)

// Draw draws the space-time diagram of a trace (DEFINITIONS 1.4): a bar for each rank's master thread and each stream of a device, or for
// other locations. Its colors say what it runs (see palette) and that it waits (wait states); messages and collectives join the bars. The
// ranks that others wait for most have a label, whatever the number of ranks. Times that were rebuilt from statistics stand on gray ground,
// and so does what was cut since it repeats what was kept. It decodes the trace once; memory depends on the size of the picture, not on the
// number of events or ranks, and the picture not on the number of jobs.
func Draw(ctx context.Context, t *trace.Trace, waits waits.ByCall, o Options) (*plots.Timeline, error) {
	d, err := newDiagram(ctx, t, waits, o)
	if err != nil {
		return nil, err
	}
	q := newQueue(d.timeline, d.bars)
	_, err = engine.Each(ctx, t.Source, engine.Options{Jobs: o.Jobs, Progress: o.Progress, InOrder: q.shared},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
			if d.bars[l] < 0 {
				return struct{}{}, nil
			}
			lane := d.timeline.Lane(d.bars[l])
			if err := newBar(d, l, lane).run(batches); err != nil {
				return struct{}{}, err
			}
			return struct{}{}, q.add(l, lane)
		})
	if err != nil {
		return nil, err
	}
	for l, bar := range d.bars {
		if bar >= 0 {
			d.ground(trace.LocationID(l))
		}
	}
	if err := d.join(ctx); err != nil {
		return nil, err
	}
	return d.timeline, t.Store.Err()
}

// A diagram is being made. Times in it are ns after the first event of the trace.
type diagram struct {
	t        *trace.Trace
	waits    waits.ByCall
	opts     Options
	timeline *plots.Timeline
	joins    joins // the same
	row      []int // of each world rank; -1: not drawn
	bars     []int // row of each location that is drawn; -1: it is not
	folded   bool  // locations of a process share a row
	start    int64 // first tick of the trace
	colors   colors

	rebuilt, cut [][]pattern.Stretch // by location
}

func newDiagram(ctx context.Context, t *trace.Trace, waits waits.ByCall, o Options) (*diagram, error) {
	first, last := scope.Run(t)
	d := &diagram{t: t, waits: waits, opts: o, start: first, colors: newColors(t.Defs, o.ColorBy)}
	ranks, err := d.choose()
	if err != nil {
		return nil, err
	}
	labels, lanes, err := d.arrange(ctx, ranks)
	if err != nil {
		return nil, err
	}
	length := d.ns(last)
	from, to, cut := d.crop(ranks, length)
	switch {
	case length == 0:
		return nil, fmt.Errorf("nothing to draw: all events of the run have the same time")
	case to <= from:
		return nil, fmt.Errorf("nothing to draw: the run of %[3]v has no events from %[1]v to "+
			"%[2]v", time.Duration(from), time.Duration(to),
			time.Duration(length))
	}
	marked, notes := d.culprits(ranks, from, to)
	d.timeline, err = plots.NewTimeline(plots.TimelineOptions{
		Title: o.Title, Subtitle: d.subtitle(ranks, from, to, length, cut), From: from, To: to,
		Ranks: labels, Lanes: lanes, RankAxis: d.axis(), Marked: marked, Notes: notes,
		Categories: d.colors.categories, Wait: palette.Waiting.Look().Light[0], Collective: palette.Collective.Look().Light[0],
		Messages: o.Messages, Width: o.Width, Height: o.Height,
	})
	d.joins = d.timeline
	d.rebuilt, d.cut = d.marked(trace.PropertyRegenerated), d.marked(trace.PropertyCut)
	return d, err
}

// ns returns a corrected tick in ns after the first event.
func (d *diagram) ns(tick int64) int64 { return d.t.Defs.Clock.Nanoseconds(tick - d.start) }

// rowOf returns the row of a location or else of its rank, -1 if neither is drawn.
func (d *diagram) rowOf(l trace.LocationID) int {
	if d.bars[l] >= 0 {
		return d.bars[l]
	}
	if r := d.t.Rank[l]; r != trace.None {
		return d.row[r]
	}
	return -1
}

// marked returns the stretches that a property of the trace names, by location, in corrected
// ticks.
func (d *diagram) marked(property string) [][]pattern.Stretch {
	out := make([][]pattern.Stretch, len(d.t.Defs.Locations))
	for _, s := range pattern.Marked(d.t.Source.Info(), d.t.Defs, property) {
		clock := &d.t.Clock.Maps[s.Location]
		s.Begin, s.End = clock.At(s.Begin), clock.At(s.End)
		out[s.Location] = append(out[s.Location], s)
	}
	return out
}

// ground puts what is not recorded of a location on gray ground: what was made again or cut,
// or else, in a rebuilt trace, all.
func (d *diagram) ground(l trace.LocationID) {
	about, s, row := d.t.Source.Info(), d.t.Span[l], d.rowOf(l)
	if s.Events > 0 && about.Reconstructed() && about.Properties[trace.PropertyRegenerated] == "" {
		d.timeline.Reconstructed(row, d.ns(s.First), d.ns(s.Last))
	}
	for _, x := range d.rebuilt[l] {
		d.timeline.Reconstructed(row, d.ns(x.Begin), d.ns(x.End))
	}
	for _, x := range d.cut[l] {
		d.timeline.Cut(row, d.ns(x.Begin), d.ns(x.End))
	}
}
