package report

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/words"
)

// doubts says first what makes all that follows doubtful.
func (r *Sections) doubts() {
	for i, line := range doubtLines(r.Analysis.Doubts) {
		if i > 0 {
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
	lines := []string{"Measurement doubtful: ranks probably share cores."}
	for i := range doubts {
		lines = append(lines, doubt(&doubts[i]))
	}
	return append(lines, "Try: run one rank per core, then measure again.")
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
