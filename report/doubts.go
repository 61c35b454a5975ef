package report

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/words"
)

// doubts says first what makes all that follows doubtful.
func (r *Sections) doubts() {
	doubts := r.Analysis.Doubts
	if len(doubts) == 0 {
		return
	}
	fmt.Fprintln(r.W, "MEASUREMENT DOUBTFUL: ranks probably share cores.")
	for i := range doubts {
		r.Line("  %s", Doubt(&doubts[i]))
	}
	r.Line("  Try: run one rank per core, then measure again.")
}

// Doubt says what sign there is that the measurement is disturbed.
func Doubt(d *document.Doubt) string {
	if d.Kind == document.TimeSlices {
		return fmt.Sprintf("Of the MPI calls that last %s or more, %s last a multiple of %s, the time slice of a scheduler.",
			words.Time(d.SliceNs/2), words.Share(*d.Share), words.Time(d.SliceNs))
	}
	return fmt.Sprintf("Small %s takes %s in the median after the last rank has come, and %s or less in one of ten.", d.Operation,
		words.Time(d.MedianNs), words.Time(d.FastNs))
}
