package diagnosis

import (
	"fmt"

	"tracekit/stats"
	"tracekit/stats/whatif"
)

// When a region counts as so short that the measurement itself is most of it.
const (
	tiny        = 4    // times the shortest visit to any region: a mean visit takes no longer
	mostForOne  = 2000 // ns: recording a visit takes no longer
	leastVisits = 1000 // fewer do not matter
)

// measurement judges what the measurement itself takes: writing its buffer, being switched off
// (where nothing is known of the program, and no gain), and recording visits to regions that are so
// short that hardly more is in them. Of these the shortest visit to any region is taken for what
// recording one takes.
func (f *finder) measurement() (out []candidate) {
	waits := make(map[stats.Site]stats.DelayRow)
	for _, row := range f.a.Delays {
		waits[placeOf(row)] = row
	}
	path := f.a.CriticalPath
	for _, row := range path.Regions {
		place := stats.Site{SourceLine: row.SourceLine, Operation: row.Operation}
		delay := waits[place]
		delay.SourceLine, delay.Operation = place.SourceLine, place.Operation
		c := f.candidate(delay, nil, row.TimeNs)
		c.cause.Kind, c.bound = stats.CauseMeasurement, row.TimeNs
		c.cause.Evidence = map[string]float64{"critical_path_ns": float64(row.TimeNs)}
		switch shortest := float64(path.ShortestNs); {
		case row.Region == stats.BufferFlush:
			c.changes, c.mended = []whatif.Change{whatif.Scale(f.site(place), 0)}, "With a buffer that is large enough"
			c.text = fmt.Sprintf("The measurement writes its buffer during the run, for %s of the critical path.", stats.FormatTime(row.TimeNs))
		case row.Region == stats.RecordingOff:
			c.text = fmt.Sprintf("Recording is switched off for %s of the critical path: what passes there, and who waits for it, is not known.", stats.FormatTime(row.TimeNs))
		case row.Operation == "" && row.Visits >= leastVisits && shortest > 0 && shortest <= mostForOne && row.VisitNs <= tiny*shortest:
			part := min(1, shortest/row.VisitNs)
			c.most(part * float64(row.TimeNs))
			c.cause.Evidence["visits"], c.cause.Evidence["mean_ns"], c.cause.Evidence["shortest_visit_ns"] = float64(row.Visits), row.VisitNs, shortest
			c.changes, c.mended = []whatif.Change{whatif.Scale(f.site(place), 1-part)}, "If it were left out of the measurement, and recording a visit takes that long"
			c.text = fmt.Sprintf("Visits to %s, %d of %s each, are hardly longer than the shortest to any region (%s): much of that is the measurement's own time.",
				placeText(row.SourceLine), row.Visits, stats.FormatTime(int64(row.VisitNs)), stats.FormatTime(path.ShortestNs))
		default:
			continue
		}
		out = append(out, c)
	}
	return out
}
