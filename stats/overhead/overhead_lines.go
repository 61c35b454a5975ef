package overhead

import (
	"cmp"
	"slices"

	"tracekit/document/field"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// LineCalls are the durations, without wait states, of the calls of one operation from one source
// line, key by key.
type LineCalls struct {
	field.SourceLine
	Operation string
	Keys      []LineKey // that with the most calls first
}

// A LineKey holds the calls that a line has of one key.
type LineKey struct {
	Key    int // index into Overhead.Keys
	Calls  uint64
	Bars   fit.Bars
	Counts []uint64 // by bar; the last are beyond all
}

// linesDrawn is how many lines have their calls counted, those with the most time; barsDrawn,
// in how many bars at most.
const (
	linesDrawn = 100
	barsDrawn  = 48
)

// lineBars counts the calls of some lines in bars, by line and group of sizes.
type lineBars map[lineGroup][]uint64

type lineGroup struct{ line, group int }

// DrawLines chooses the lines whose calls are counted.
func (o *Finder) DrawLines(p *profile.Profiler, part *profile.Part) {
	type line struct {
		site  profile.Site
		time  int64
		paths []int
	}
	var lines []line
	for s, at := range p.MpiPaths(part) {
		if at.Index == len(lines) {
			lines = append(lines, line{site: at.Site})
		}
		x := &lines[at.Index]
		x.time = numbers.Plus(x.time, s.Inclusive)
		x.paths = append(x.paths, int(s.Path))
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.time, a.time), p.CompareSites(a.site, b.site))
	})
	o.lineOf = make([]int, len(o.T.Tree.Nodes))
	for i := range o.lineOf {
		o.lineOf[i] = -1
	}
	for k := range lines[:min(len(lines), linesDrawn)] {
		o.drawn = append(o.drawn, lines[k].site)
		for _, path := range lines[k].paths {
			o.lineOf[path] = k
		}
	}
	for i := range o.groups {
		r := &o.groups[i].Result
		o.bars = append(o.bars, r.Bars(r.TMax, barsDrawn))
	}
}

// count counts a call of a path that takes some ns without its wait, if it is of a line that is drawn.
func (w *charger) count(path trace.PathID, group int, time int64) {
	if w.lineOf[path] < 0 {
		return
	}
	at := lineGroup{w.lineOf[path], group}
	last := &w.counted[path]
	if last.counts == nil || last.at != at {
		counts := w.charges.lines[at]
		if counts == nil {
			counts = make([]uint64, w.bars[group].N+1)
			w.charges.lines[at] = counts
		}
		*last = countedLine{at, counts}
	}
	last.counts[w.bars[group].At(time)]++
}

// A countedLine is where calls of a path were last counted: mostly it is there again.
type countedLine struct {
	at     lineGroup
	counts []uint64
}

func (b lineBars) merge(o lineBars) {
	for at, counts := range o {
		if b[at] == nil {
			b[at] = counts
			continue
		}
		for k, n := range counts {
			b[at][k] += n
		}
	}
}

// lineCalls returns what was counted; rows are the keys of the groups.
func (o *Finder) lineCalls(p *profile.Profiler, rows []int) []LineCalls {
	lines := make([]LineCalls, len(o.drawn))
	for k, at := range o.drawn {
		lines[k] = LineCalls{SourceLine: profile.Spell(p.T.Defs, at.Line), Operation: p.T.Defs.RegionLabel(at.Operation)}
	}
	for at, counts := range o.charges.lines {
		x := LineKey{Key: rows[at.group], Bars: o.bars[at.group], Counts: counts}
		for _, n := range counts {
			x.Calls += n
		}
		lines[at.line].Keys = append(lines[at.line].Keys, x)
	}
	for k := range lines {
		slices.SortFunc(lines[k].Keys, func(a, b LineKey) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Key, b.Key)) })
	}
	return lines
}
