package analysis

import (
	"fmt"
	"math"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// Trace makes the block that says which trace it is.
func Trace(t *trace.Trace) document.TraceInfo {
	about, x := t.Source.Info(), scope.NewAxis(t)
	first, last := scope.Run(t)
	processes, missing := len(t.World), 0
	for _, m := range t.Missing() {
		if m {
			missing++
		}
	}
	if about.EachWorker() {
		processes, missing = processes-missing, 0
	}
	return document.TraceInfo{
		Path: about.Path, Format: about.Format, Creator: about.Creator,
		Processes: processes, ProcessesMissing: missing, Unranked: !t.Defs.Ranked(),
		Locations: len(t.Defs.Locations), Events: t.Coverage.EventsRead,
		StartNs: x.Instant(first), EndNs: x.Instant(last), DurationNs: x.Ns(last - first),
		ClockResolutionHz: t.Defs.Clock.Resolution, Rebuilt: document.RebuiltOf(about), Reduced: document.ReducedOf(about),
	}
}

// Coverage makes the block that says how much of the trace was used. What is skipped was
// read before.
func Coverage(t *trace.Trace) document.Coverage {
	c := t.Coverage
	return document.Coverage{EventsRead: c.EventsRead, EventsSkipped: c.EventsSkipped, LocationsTruncated: c.LocationsTruncated,
		Share: numbers.Ratio(int64(c.EventsRead-min(c.EventsSkipped, c.EventsRead)), int64(c.EventsRead))}
}

// Clock makes the block that says what was done about the clocks.
func Clock(t *trace.Trace) document.Clock {
	c, r := t.Clock, numbers.Rate{Resolution: t.Defs.Clock.Resolution}
	doc := document.Clock{
		Method: string(c.Method), ViolationsRaw: c.Messages.Raw, ViolationsOffsets: c.Messages.Offsets, ViolationsAfter: c.Messages.After,
		MaxViolationNs: r.Ns(max(c.Messages.Max, c.Collectives.Max)), MaxShiftNs: r.Ns(c.MaxShift), MinLatencyNs: r.Ns(c.MinLatency),
		Collectives: document.ClockViolations{ViolationsRaw: c.Collectives.Raw, ViolationsOffsets: c.Collectives.Offsets,
			ViolationsAfter: c.Collectives.After},
	}
	if a := c.Alignment; a != nil {
		doc.Alignment = &document.ClockAlignment{Clocks: a.Clocks, Unlinked: a.Unlinked, MaxOffsetNs: r.Ns(a.MaxOffset), MaxDriftPPM: a.MaxDrift,
			MaxBoundNs: r.Ns(a.MaxBound), Before: a.Before, Violations: a.Left}
	}
	return doc
}

// Findings lists those of the trace and of its analysis.
func Findings(t *trace.Trace, e *document.Efficiency, found []trace.Finding) []document.Finding {
	var ledger trace.Ledger
	ledger.Merge(t.Findings)
	ledger.Merge(found)
	if e != nil {
		aboveOne(&ledger, &e.Ratios, "")
	}
	if e != nil && e.WithoutInitFinalize != nil {
		aboveOne(&ledger, e.WithoutInitFinalize, " without MPI_Init and MPI_Finalize")
	}
	out := []document.Finding{}
	for _, f := range ledger.Findings() {
		out = append(out, finding(f))
	}
	return out
}

// aboveOne notes ratios that should not be above 1 and are: the ideal replay takes longer
// than the run, because messages run backwards in time.
func aboveOne(ledger *trace.Ledger, r *document.Ratios, of string) {
	for _, ratio := range []struct {
		name  string
		value *float64
	}{{"serialization", r.SerializationEfficiency}, {"transfer", r.TransferEfficiency}} {
		if ratio.value != nil && *ratio.value > 1 {
			ledger.Add(trace.CodeRatioAboveOne, trace.Nowhere(), fmt.Sprintf("%s efficiency%s is %.3f", ratio.name, of, *ratio.value))
		}
	}
}

// finding spells a finding out. One without a location and a file is about the trace.
func finding(f trace.Finding) document.Finding {
	out := document.Finding{Code: string(f.Code), Severity: f.Code.Severity().String(), Count: f.Count, Text: f.Code.Text()}
	if f.Text != "" {
		out.Text += ": " + f.Text
	}
	if f.First.Location == trace.None && f.First.File == "" {
		return out
	}
	out.First = &field.Place{Seq: f.First.Seq, File: field.Name(f.First.File)}
	if l := uint32(f.First.Location); l != math.MaxUint32 {
		out.First.Location = &l
	}
	if o := f.First.Offset; o >= 0 {
		out.First.Offset = &o
	}
	return out
}

// FindingRows returns findings as documents show them.
func FindingRows(findings []trace.Finding) []document.Finding {
	out := []document.Finding{}
	for _, f := range findings {
		out = append(out, finding(f))
	}
	return out
}
