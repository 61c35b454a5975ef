package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/whatif"
)

// Whatif prints what changes would gain, with Top rows in each table.
func Whatif(out *report.Sections, doc *outcome.Whatif) {
	w := out.W
	report.PrintRebuilt(out.W, "", doc.Trace.Rebuilt)
	what := "run time"
	if doc.Steps > 0 {
		what = words.Plural(doc.Steps, "training step takes", "training steps take")
	}
	fmt.Fprintln(w, text.Wrap(fmt.Sprintf("%s: %s %s", doc.Trace.Path, what, words.Time(doc.Baseline)), out.Width, 2))
	for _, said := range modelNotes(doc) {
		fmt.Fprintln(w, text.Wrap(said, out.Width, 0))
	}
	if len(doc.Changes) > 0 {
		fmt.Fprintf(w, "With %s: %s, %s\n", strings.Join(doc.Changes, ", "), words.Time(doc.Predicted), gained(doc.Gain, doc.Share))
		for _, note := range []string{zeroCostNote(doc), undecidedNote(doc), unremovedNote(doc)} {
			if note != "" {
				fmt.Fprintln(w, text.Wrap(note, out.Width, 0))
			}
		}
		if len(doc.Ranks) > 0 {
			printEnds(out, doc)
		}
	}
	if doc.Out != "" {
		fmt.Fprintf(w, "\nThe run with these changes: %s\n", doc.Out)
		Lost(w, doc.Lost, "not in it: %s %s")
	}
	if len(doc.Gains) > 0 {
		found, left := withoutStartup(doc.Gains)
		shown := found[:min(out.Top, len(found))]
		note := "Wall time by which the run would be shorter with each change alone. Balance: each rank gets the mean over ranks; scale: " +
			"the time there is that many times as long. Gains do not add up"
		if slices.ContainsFunc(shown, whatif.Gain.Together) {
			note += "; the row of several places is of all these changes together"
		}
		notes := []string{note + "."}
		if left != nil {
			notes = append(notes, fmt.Sprintf("Startup is left out: %s, %s.", left.Place, words.Time(left.GainNs)))
		}
		if n := alike(found); n > 1 {
			notes = append(notes, fmt.Sprintf("The first %d gain the same, because something else then takes as long.", n))
		}
		out.Table(gains, report.RowsOf(shown), notes...)
	}
	if doc.Slack != nil {
		slack(out, doc.Slack, doc.Missing)
	}
	curves(out, doc)
	if doc.Picture != "" {
		fmt.Fprintf(w, "\nPicture: %s\n", doc.Picture)
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(w, out.Width, "Findings", doc.Findings)
	}
}

// withoutStartup returns the gains of what passes between MPI_Init and MPI_Finalize, and the largest one of these calls. Where there are no
// others, it returns all.
func withoutStartup(gains []whatif.Gain) (rest []whatif.Gain, left *whatif.Gain) {
	for i, g := range gains {
		switch startup := strings.HasPrefix(g.Place, "MPI_Init") || strings.HasPrefix(g.Place, "MPI_Finalize"); {
		case !startup || g.Together():
			rest = append(rest, g)
		case left == nil:
			left = &gains[i]
		}
	}
	if rest == nil {
		return gains, nil
	}
	return rest, left
}

// alike returns how many of the first gains are about the same.
func alike(gains []whatif.Gain) int {
	n := 0
	for n < len(gains) && whatif.Alike(gains[0].GainNs, gains[n].GainNs) {
		n++
	}
	return n
}

// modelNotes say what a reader should know about the replay of this trace.
func modelNotes(doc *outcome.Whatif) (notes []string) {
	if n := doc.Model.Negative; n > 0 {
		notes = append(notes, fmt.Sprintf("Model: %s before what they waited for, as clocks disagree: that stays as it is.",
			words.Plural(int(n), "call ends", "calls end")))
	}
	if n := doc.Model.LeftOut; n > 0 {
		notes = append(notes, fmt.Sprintf("Model: %s left out, which come after the calls that receive them have ended.",
			words.Plural(int(n), "message is", "messages are")))
	}
	if doc.Model.Devices {
		notes = append(notes, "Model: accelerators are not replayed: calls that wait for them keep their time, and other changes may gain less.")
	}
	return notes
}

// zeroCostNote says, beside an ideal network, what the run would take with zero-cost MPI, and how these differ; "" if that is not known.
func zeroCostNote(doc *outcome.Whatif) string {
	if doc.ZeroCost == nil {
		return ""
	}
	return fmt.Sprintf("On an ideal network messages take no time, and calls keep what they take themselves. With zero-cost MPI, which the "+
		"transfer efficiency is of, calls only wait: %s.", words.Time(*doc.ZeroCost))
}

// undecidedNote says what the prediction would be if sends did, or did not, wait for receivers as
// the model assumes; "" if it would be about the same.
func undecidedNote(doc *outcome.Whatif) string {
	u := doc.Undecided
	if u == nil || max(u.Predicted-doc.Predicted, doc.Predicted-u.Predicted) < doc.Predicted/200 {
		return ""
	}
	if u.Wait {
		return fmt.Sprintf("Sends of %s and more are taken to wait for their receivers, as nothing else explains how long the calls take that "+
			"complete them. If they do not: %s.", words.Bytes(u.Bytes), words.Time(u.Predicted))
	}
	return fmt.Sprintf("The run does not show whether sends of %s and more wait for their receivers: none is completed so early or so late "+
		"that it tells. If they do: %s.", words.Bytes(u.Bytes), words.Time(u.Predicted))
}

func gained(gain int64, share *float64) string {
	switch {
	case gain == 0:
		return "as long as before"
	case gain > 0:
		return fmt.Sprintf("%s (%s) shorter", words.Time(gain), words.ShareOrDash(share))
	}
	if share != nil {
		loss := -*share
		share = &loss
	}
	return fmt.Sprintf("%s (%s) longer", words.Time(-gain), words.ShareOrDash(share))
}

func signed(ns int64) string {
	if ns < 0 {
		return "-" + words.Time(-ns)
	}
	return words.Time(ns)
}

var gains = &report.Table{Key: "gains", Title: "Gains", Columns: []report.Column{
	{Key: "place", Title: "place"},
	{Key: "change", Title: "change"},
	{Title: "gain", Unit: unit.Remarks, Value: report.Of(func(g *whatif.Gain) any { return signed(g.GainNs) })},
	{Key: "gain_share", Title: "share", Unit: unit.Share},
}}

// An end is when a rank ended, and would.
type end struct {
	Rank int `json:"rank"`
	whatif.RankTimes
}

// earlier returns by how much the rank would end earlier.
func (e *end) earlier() int64 { return e.Baseline - e.Predicted }

var ends = &report.Table{Key: "ends", Title: "Ends of ranks", Note: "Times after the start of the run, largest moves first.",
	Columns: []report.Column{
		{Key: "rank", Title: "rank", Unit: unit.Plain},
		{Key: "baseline_ns", Title: "recorded", Unit: unit.Time},
		{Key: "predicted_ns", Title: "predicted", Unit: unit.Time},
		{Title: "earlier", Unit: unit.Remarks, Value: report.Of(func(e *end) any { return signed(e.earlier()) })},
	}}

// printEnds prints when the ranks end whose end moves most.
func printEnds(out *report.Sections, doc *outcome.Whatif) {
	var rows []end
	for r, t := range doc.Ranks {
		if !doc.Missing[r] {
			rows = append(rows, end{r, t})
		}
	}
	moved := func(e end) int64 { return max(e.earlier(), -e.earlier()) }
	slices.SortStableFunc(rows, func(a, b end) int { return cmp.Compare(moved(b), moved(a)) })
	out.Table(ends, report.RowsOf(rows[:min(out.Top, len(rows))]))
}

// A rankSlack is how much later a rank could be.
type rankSlack struct {
	Rank  int   `json:"rank"`
	Slack int64 `json:"slack_ns"`
}

var slacks = &report.Table{Key: "slack", Title: "Slack of ranks",
	Note: "Slack: how much later a rank could be at its most critical call without a later end. Ranks without slack lie on the " +
		"critical path.",
	Columns: []report.Column{
		{Key: "rank", Title: "rank", Unit: unit.Plain},
		{Key: "slack_ns", Title: "slack", Unit: unit.Time},
	}}

var nextPaths = &report.Table{Key: "next", Title: "Next paths",
	Note: "Longest paths that are not critical, each named by a call on it. Speeding up one place saves at most the distance to " +
		"the first, unless the place is on it too.",
	Columns: []report.Column{
		{Key: "shorter_ns", Title: "shorter by", Unit: unit.Time},
		{Key: "rank", Title: "rank", Unit: unit.Rank},
		{Key: "place", Title: "through"},
		{Key: "start_ns", Title: "at", Unit: unit.Time},
	}}

func slack(out *report.Sections, s *outcome.Slack, missing []bool) {
	var rows []rankSlack
	for r, ns := range s.Ranks {
		if !missing[r] {
			rows = append(rows, rankSlack{r, ns})
		}
	}
	slices.SortStableFunc(rows, func(a, b rankSlack) int { return cmp.Compare(a.Slack, b.Slack) })
	out.Table(slacks, report.RowsOf(rows[:min(out.Top, len(rows))]))
	out.Table(nextPaths, report.RowsOf(s.Next))
}
