package diagram

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracekit/stats/scope"
	"tracekit/trace"
)

// A Rows says which locations have a bar.
type Rows string

// The choices of rows. Threads are the masters and the workers of processes, devices the streams
// of accelerators; all has what else was recorded as well.
const (
	AutoRows  Rows = "auto"      // processes and devices
	Processes Rows = "processes" // the master thread of each process
	Threads   Rows = "threads"
	Devices   Rows = "devices"
	AllRows   Rows = "all"
)

// A Sort says in which order ranks stand, from top to bottom.
type Sort string

// The orders of ranks; equal ranks stand in order of their numbers.
const (
	ByNone     Sort = "none" // as they were chosen, else by number
	ByTime     Sort = "time" // the most time outside calls that communicate first
	ByWaitTime Sort = "wait" // the most waiting first
	ByName     Sort = "name" // by node and name of the process
)

// axes are the labels of the axis of ranks.
var axes = map[Rows]string{Processes: "rank", Threads: "rank.thread", Devices: "rank, stream", AutoRows: "rank, stream",
	AllRows: "rank, location"}

// axis is the label of the axis of what is drawn.
func (d *diagram) axis() string { return axes[d.rows()] }

// rowHeight is the number of pixels below which rows are folded to one for each process.
const rowHeight = 3

// choose returns the ranks that are drawn, each once, in their order.
func (d *diagram) choose() ([]uint32, error) {
	ranks := d.opts.Ranks
	if len(ranks) == 0 {
		for r := range d.t.World {
			ranks = append(ranks, uint32(r))
		}
	}
	var chosen []uint32
	met := make([]bool, len(d.t.World))
	for _, r := range ranks {
		if int(r) >= len(met) {
			return nil, trace.NoRank(int(r), len(met))
		}
		if !met[r] {
			met[r] = true
			chosen = append(chosen, r)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the trace has no processes to draw")
	}
	d.sort(chosen)
	return chosen, nil
}

// sort puts ranks in the wanted order.
func (d *diagram) sort(ranks []uint32) {
	keys := make([]int64, len(d.t.World))
	switch d.opts.Sort {
	case ByTime, ByWaitTime:
		for _, r := range ranks {
			keys[r] = d.weight(d.t.World[r])
		}
		slices.SortStableFunc(ranks, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[b], keys[a]), cmp.Compare(a, b)) })
	case ByName:
		slices.SortStableFunc(ranks, func(a, b uint32) int { return cmp.Or(slices.Compare(d.name(a), d.name(b)), cmp.Compare(a, b)) })
	}
}

// weight returns by what a rank is sorted: its waits, or its time outside calls.
func (d *diagram) weight(l trace.LocationID) (sum int64) {
	if int(l) >= len(d.t.Calls) {
		return 0
	}
	calls := d.t.Calls[l]
	if d.opts.Sort == ByTime {
		sum = d.t.Span[l].Last - d.t.Span[l].First
	}
	for i := range calls.Len() {
		if d.opts.Sort == ByWaitTime {
			sum += d.waits[l].At(i).Time
		} else {
			sum -= calls.Ptr(i).Leave - calls.Ptr(i).Enter
		}
	}
	return sum
}

// name returns the names of a rank's node and process.
func (d *diagram) name(r uint32) []string {
	defs := d.t.Defs
	if l := d.t.World[r]; int(l) < len(defs.Locations) {
		if g := defs.Locations[l].Group; int(g) < len(defs.LocationGroups) {
			group := defs.LocationGroups[g]
			node := ""
			if int(group.Node) < len(defs.SystemTree) {
				node = defs.String(defs.SystemTree[group.Node].Name)
			}
			return []string{node, defs.String(group.Name)}
		}
	}
	return nil
}

// arrange gives each location that is drawn its row, and each rank the row at which its messages
// end. Where there are more rows than room, those of a process share one.
func (d *diagram) arrange(ctx context.Context, ranks []uint32) (labels []string, lanes []int, err error) {
	d.row, d.bars = make([]int, len(d.t.World)), make([]int, len(d.t.Defs.Locations))
	for i := range d.row {
		d.row[i] = -1
	}
	for l := range d.bars {
		d.bars[l] = -1
	}
	rows := d.locations(ctx, ranks)
	total := 0
	for _, of := range rows {
		total += len(of)
	}
	if total == 0 {
		return nil, nil, fmt.Errorf("the trace has no %s to draw", d.rows())
	}
	d.folded = d.rows() != Processes && total > d.room()
	for i, of := range rows {
		for k, l := range of {
			if d.folded && k > 0 && d.onDevice(l) == d.onDevice(of[k-1]) {
				d.bars[l] = len(labels) - 1
				lanes[len(lanes)-1]++
				continue
			}
			d.bars[l] = len(labels)
			lanes = append(lanes, 1)
			labels = append(labels, d.label(ranks, i, k, l))
		}
	}
	for r, l := range d.t.World {
		if int(l) < len(d.bars) {
			d.row[r] = d.bars[l]
		}
	}
	return labels, lanes, nil
}

// rows returns what has rows: processes alone where they are asked for or no device was recorded.
func (d *diagram) rows() Rows {
	switch d.opts.Rows {
	case "", AutoRows:
		for l := range d.t.Defs.Locations {
			if d.onDevice(trace.LocationID(l)) && d.t.Span[l].Events > 0 {
				return AutoRows
			}
		}
		return Processes
	}
	return d.opts.Rows
}

// onDevice reports whether a location is a stream of a device.
func (d *diagram) onDevice(l trace.LocationID) bool {
	return d.t.Defs.Locations[l].Kind == trace.LocationGPU
}

// room returns the number of rows that have room without being folded.
func (d *diagram) room() int {
	const others, highest = 110, 900
	height := d.opts.Height
	if height == 0 {
		height = highest
	}
	return max(1, (height-others)/rowHeight)
}

// locations returns the locations that are drawn of each rank, in order of the ranks; at the end
// those of no rank.
func (d *diagram) locations(ctx context.Context, ranks []uint32) [][]trace.LocationID {
	out := make([][]trace.LocationID, len(ranks)+1)
	place := make([]int, len(d.t.World))
	for r := range place {
		place[r] = -1
	}
	for i, r := range ranks {
		place[r] = i
		if l := d.t.World[r]; d.rows() != Devices && int(l) < len(d.bars) {
			out[i] = append(out[i], l)
		}
	}
	if d.rows() == Processes {
		return out[:len(ranks)]
	}
	aside := scope.Aside(d.t)
	for l, def := range d.t.Defs.Locations {
		r := d.t.Rank[l]
		if d.t.Span[l].Events == 0 || aside[l] || !d.draws(def.Kind) || r == trace.None && len(d.opts.Ranks) > 0 ||
			d.annotates(ctx, trace.LocationID(l)) {
			continue
		}
		switch {
		case r == trace.None:
			out[len(ranks)] = append(out[len(ranks)], trace.LocationID(l))
		case place[r] >= 0 && d.t.World[r] != trace.LocationID(l):
			out[place[r]] = append(out[place[r]], trace.LocationID(l))
		}
	}
	return out
}

// annotates reports whether a location is a stream that executes nothing: it has annotations only, so that its row would be empty.
func (d *diagram) annotates(ctx context.Context, l trace.LocationID) bool {
	if !d.onDevice(l) {
		return false
	}
	for batch, err := range d.t.Source.Events(ctx, l) {
		if err != nil {
			return false // who draws it says so
		}
		for _, r := range batch.Flow.Region {
			if d.colors.of(r, true) != none {
				return false
			}
		}
	}
	return true
}

// draws reports whether locations of a kind have rows, beside masters.
func (d *diagram) draws(k trace.LocationKind) bool {
	switch d.rows() {
	case Threads:
		return k == trace.LocationCPUThread
	case Devices, AutoRows:
		return k == trace.LocationGPU
	}
	return k != trace.LocationMetric
}

// label names a row: that of a master, or folded, by the rank, a worker by rank and number, others
// by their names.
func (d *diagram) label(ranks []uint32, i, k int, l trace.LocationID) string {
	name := d.t.Defs.String(d.t.Defs.Locations[l].Name)
	if i == len(ranks) {
		return name
	}
	rank := strconv.Itoa(int(ranks[i]))
	switch {
	case d.folded || d.rows() != Devices && k == 0:
		return rank
	case d.rows() == Threads:
		return rank + "." + strconv.Itoa(k)
	}
	return rank + " " + name
}

// crop returns the stretch that is drawn: without startup, the time until the first rank has left
// MPI_Init, and end, from when the last one enters MPI_Finalize, unless they were asked for; cut
// is what is left out.
func (d *diagram) crop(ranks []uint32, length int64) (from, to, cut int64) {
	from, to = d.opts.From.At(length, 0), d.opts.To.At(length, length)
	if d.opts.Whole {
		return from, to, 0
	}
	begin, end := int64(-1), int64(-1)
	for _, r := range ranks {
		l := d.t.World[r]
		if int(l) >= len(d.t.Calls) {
			continue
		}
		calls := d.t.Calls[l]
		if i := trace.FindStartup(calls, trace.ClassInit); i >= 0 {
			if at := d.ns(calls.At(i).Leave); begin < 0 || at < begin {
				begin = at
			}
		}
		if i := trace.FindStartup(calls, trace.ClassFinalize); i >= 0 {
			end = max(end, d.ns(calls.At(i).Enter))
		}
	}
	f, t := from, to
	if d.opts.From.Kind == scope.Unset && begin >= 0 {
		f = begin
	}
	if d.opts.To.Kind == scope.Unset && end >= 0 {
		t = min(t, end)
	}
	if cut = f - from + to - t; f >= t || float64(cut) < leastCrop*float64(length) {
		return from, to, 0
	}
	return f, t, cut
}

// leastCrop is the share of the run below which startup and end are drawn.
const leastCrop = 0.02

// subtitle says what is drawn of what.
func (d *diagram) subtitle(ranks []uint32, from, to, length, cut int64) string {
	begin := "0"
	if from != 0 {
		begin = duration(from)
	}
	whole := fmt.Sprintf("%s to %s of %s", begin, duration(to), duration(length))
	parts := []string{whole}
	if cut > 0 {
		parts[0] += fmt.Sprintf(", without %s of startup and end", duration(cut))
	}
	if len(ranks) == len(d.t.World) {
		parts = append(parts, plural(len(ranks), "rank"))
	} else {
		parts = append(parts, fmt.Sprintf("%d of %s", len(ranks), plural(len(d.t.World), "rank")))
	}
	switch {
	case d.folded:
		what := string(d.rows())
		if d.rows() == AutoRows {
			what = "streams"
		}
		parts = append(parts, what+" folded to one row a process")
	case d.rows() != Processes && d.rows() != AutoRows:
		parts = append(parts, "rows: "+string(d.rows()))
	}
	if s := d.opts.Sort; s != "" && s != ByNone {
		parts = append(parts, "sorted by "+string(s))
	}
	clock := "clock as recorded"
	if m := string(d.t.Clock.Method); m != "none" && m != "" {
		clock = "clock: " + m
	}
	return strings.Join(append(parts, clock), "; ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// duration writes a time with four digits at most and its unit.
func duration(ns int64) string {
	x, unit := float64(ns), "ns"
	for _, larger := range []string{"µs", "ms", "s"} {
		if x < 999.5 && x > -999.5 {
			break
		}
		x, unit = x/1000, larger
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + " " + unit
}
