package report

import (
	"fmt"

	"tracekit/document/doubt"
	"tracekit/document/words"
	"tracekit/trace"
)

// doubts says first what makes all that follows doubtful.
func (r *Sections) doubts() {
	for _, lines := range doubtLines(r.Analysis.Doubts) {
		for i, line := range lines {
			if i > 0 {
				line = "  " + line
			}
			r.Line("%s", line)
		}
	}
}

// Doubtful begins the lines that say why a measurement is doubtful.
const Doubtful = "Measurement doubtful: "

// DoubtHeadlines returns a line for each kind of doubt.
func DoubtHeadlines(doubts []doubt.Sign) (out []string) {
	for _, lines := range doubtLines(doubts) {
		out = append(out, lines[0])
	}
	return out
}

// WhyNoWaits says why a trace cannot show that a rank waits for another one; "" if it can.
func WhyNoWaits(t *trace.Trace) string {
	if len(t.World) == 1 {
		return "the trace has one rank"
	}
	messages := t.Collectives.Len()
	for l := range t.Sends {
		messages += t.Sends[l].Len() + t.Recvs[l].Len()
	}
	if messages == 0 {
		return "the trace records no messages and no collectives"
	}
	return ""
}

// doubtLines say of doubts of one kind that there are some, then each, and what to do about them.
func doubtLines(doubts []doubt.Sign) (out [][]string) {
	cores := []string{Doubtful + "ranks probably share cores."}
	for i := range doubts {
		d := &doubts[i]
		if d.Kind == doubt.SlowData {
			out = append(out, slowData(d))
			continue
		}
		if d.Kind != doubt.LateRecords {
			cores = append(cores, shared(d))
			continue
		}
		which := "one file"
		if d.Rank != nil {
			which = fmt.Sprintf("rank %d", *d.Rank)
		}
		out = append(out, []string{
			fmt.Sprintf(Doubtful+"records of %s start %s (%s) late.", which, words.Time(d.LateNs), words.Share(*d.Share)),
			"Other ranks wait for it. The time until then is not recorded.", "Try: record all ranks from the same moment."})
	}
	if len(cores) > 1 {
		out = append([][]string{append(cores, "Try: run one rank per core, then measure again.")}, out...)
	}
	return out
}

// slowData says that clocks may differ, without a record that contradicts them.
func slowData(d *doubt.Sign) []string {
	what, though := fmt.Sprintf("%s instances", d.Operation), "once all ranks are in their calls"
	if d.From != nil {
		what, though = fmt.Sprintf("messages from rank %d to rank %d", *d.From, *d.Rank), fmt.Sprintf("though rank %d waits for some", *d.Rank)
	}
	return []string{Doubtful + "clocks of ranks may differ, or ranks share cores.",
		fmt.Sprintf("Of %s small %s, none takes less than %s, %s. No network is that slow.", words.Count(d.Instances), what, words.Time(d.FastNs),
			though),
		"Waits between these ranks are not known.", "Try: record with synchronized clocks and one rank per core."}
}

// shared says what sign there is that the measurement is disturbed.
func shared(d *doubt.Sign) string {
	if d.Kind == doubt.TimeSlices {
		return fmt.Sprintf("Of MPI calls of %s or more, %s last a multiple of %s, a scheduler time slice.",
			words.Time(d.SliceNs/2), words.Share(*d.Share), words.Time(d.SliceNs))
	}
	return fmt.Sprintf("Small %s: median %s after the last rank arrives, but at most %s in one of ten.", d.Operation,
		words.Time(d.MedianNs), words.Time(d.FastNs))
}
