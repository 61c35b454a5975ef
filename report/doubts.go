package report

import (
	"fmt"
	"strings"

	"tracekit/document"
	"tracekit/document/words"
)

// doubts says first what makes all that follows doubtful.
func (r *Sections) doubts() {
	for i, line := range doubtLines(r.Analysis.Doubts) {
		if i > 0 && !strings.HasPrefix(line, "Measurement") {
			line = "  " + line
		}
		r.Line("%s", line)
	}
}

// doubtLines are what to say of doubts: that there are some, each, and what to do about them.
func doubtLines(doubts []document.Doubt) []string {
	if len(doubts) == 0 {
		return nil
	}
	lines, late := []string{"Measurement doubtful: ranks probably share cores."}, []string{}
	for i := range doubts {
		if d := &doubts[i]; d.Kind != document.LateRecords {
			lines = append(lines, doubt(d))
		} else {
			late = append(late, fmt.Sprintf("Measurement doubtful: the records of rank %d begin %s (%s of the run) after the first of all.", *d.Rank,
				words.Time(d.LateNs), words.Share(*d.Share)),
				"Other ranks wait for it. What it does until then is not known, perhaps only its recording begins late.",
				"Try: begin to record all ranks at the same time.")
		}
	}
	if len(lines) == 1 {
		return late
	}
	return append(append(lines, "Try: run one rank per core, then measure again."), late...)
}

// doubt says what sign there is that the measurement is disturbed.
func doubt(d *document.Doubt) string {
	if d.Kind == document.TimeSlices {
		return fmt.Sprintf("Of the MPI calls that last %s or more, %s last a multiple of %s, the time slice of a scheduler.",
			words.Time(d.SliceNs/2), words.Share(*d.Share), words.Time(d.SliceNs))
	}
	return fmt.Sprintf("Small %s takes %s in the median after the last rank has come, and %s or less in one of ten.", d.Operation,
		words.Time(d.MedianNs), words.Time(d.FastNs))
}
