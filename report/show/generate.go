package show

import (
	"fmt"

	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/samples"
)

// Truth prints what was generated into a path, and what an analysis of it must find.
func Truth(out *report.Sections, path string, truth *samples.Truth) {
	text.Line(out.W, "%s: %s at %s, %s (%s), run time %s", path, words.Plural(int(truth.Events), "event", "events"),
		words.Plural(truth.Locations, "location", "locations"), words.Plural(int(truth.Messages), "message", "messages"),
		words.Bytes(truth.Bytes), words.Time(truth.Last-truth.First))
	g := &text.Grid{Heading: "What an analysis must find", Titles: []string{"<wait state", "calls", "time"}}
	w := truth.Waits
	for _, row := range []struct {
		of    waitstate.Kind
		which string
		w     samples.Wait
	}{
		{waitstate.LateSender, "", w.LateSender}, {waitstate.LateSenderWrongOrder, ", same source", w.WrongOrderSame},
		{waitstate.LateSenderWrongOrder, ", different source", w.WrongOrderDifferent}, {waitstate.LateReceiver, "", w.LateReceiver},
		{waitstate.LateReceiverBehindLateSender, "", w.LateReceiverBehindLateSender}, {waitstate.AtNxN, "", w.WaitAtNxN},
		{waitstate.NxNCompletion, "", w.NxNCompletion}, {waitstate.AtBarrier, "", w.WaitAtBarrier},
		{waitstate.BarrierCompletion, "", w.BarrierCompletion}, {waitstate.LateBroadcast, "", w.LateBroadcast},
		{waitstate.EarlyReduce, "", w.EarlyReduce}, {waitstate.EarlyScan, "", w.EarlyScan},
		{waitstate.AtNxNUnclassified, "", w.WaitAtNxNUnclassified},
	} {
		if row.w.Count > 0 {
			g.Add(row.of.ShownTitle()+row.which, words.Count(row.w.Count), words.Time(row.w.Time))
		}
	}
	g.Print(out.W, out.Width)
}

// TrainingTruth prints what was generated of a training job, and what an analysis of it must find.
func TrainingTruth(out *report.Sections, path string, o samples.TrainingOptions, truth *samples.TrainingTruth) {
	text.Line(out.W, "%s: %s of %s on %s, %s", path, words.Plural(o.Steps, "step", "steps"),
		words.Plural(truth.Workers, "worker", "workers"),
		words.Plural(truth.GPUs, "GPU", "GPUs"), words.Plural(int(truth.Events), "event", "events"))
	g := &text.Grid{Heading: "What an analysis must find", Titles: []string{"<", "excess", "<when"}}
	for _, s := range truth.Slow {
		when := "always"
		switch {
		case s.Random:
			when = "at random"
		case s.Since > 0:
			when = fmt.Sprintf("since step %d", s.Since)
		}
		g.Add(fmt.Sprintf("rank %d (dp %d, stage %d)", s.Rank, s.DP, s.Stage), words.Share(s.Excess), when)
	}
	if truth.LastStage {
		g.Add("last stage", words.Share(o.LastStage), "always")
	}
	if truth.Sequences {
		g.Add("micro-batches of different length", words.Share(o.Sequences), "at random")
	}
	if len(truth.Slow) == 0 && !truth.LastStage && !truth.Sequences {
		g.Add("workers are equal", "-", "")
	}
	g.Print(out.W, out.Width)
}
