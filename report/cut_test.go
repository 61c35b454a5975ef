package report

import (
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/waitstate"
	"tracekit/trace"
)

// TestPartIsNoWhole: a trace from which little time was cut says so, also where nothing is worth fixing, on text and page.
func TestPartIsNoWhole(t *testing.T) {
	a := &document.Analysis{Efficiency: &document.Efficiency{}, Diagnosis: []cause.Cause{}, WaitStates: &waitstate.States{}}
	a.Trace.Reduced = &document.Reduced{By: []string{"sample P-0.9-WRITE"}, CutShare: 0.004}
	a.Trace.Events = 1
	var out strings.Builder
	(&Overview{Sections: &Sections{W: &out, Width: 100, Top: 10, Analysis: a}}).Print()
	const cut, nothing = "0.4 % of the time was cut", "Nothing, in what is left of the trace"
	if s := Ship(a); !strings.Contains(strings.Join(s.Doubts, " "), cut) || !strings.HasPrefix(s.Nothing, nothing) {
		t.Errorf("the page says %q and %q", s.Doubts, s.Nothing)
	}
	if !strings.Contains(out.String(), cut) || !strings.Contains(out.String(), nothing) {
		t.Error(out.String())
	}
}

// TestRecordedIsNoWhole: where records of calls are missing, that nothing is to be fixed is said of what is recorded alone, and a share of
// the ranks' time that worker threads spend in such calls stands in place of an efficiency.
func TestRecordedIsNoWhole(t *testing.T) {
	share := 0.6
	a := &document.Analysis{Diagnosis: []cause.Cause{}, WaitStates: &waitstate.States{},
		Efficiency:   &document.Efficiency{WorkerThreads: &document.WorkerThreads{IncompleteCallsNs: 3e6}},
		Unclassified: &document.Unclassified{Incomplete: []document.IncompleteCalls{{Calls: 2, Share: &share, Missing: document.MissingMember}}}}
	a.Trace.Events = 1
	var out strings.Builder
	(&Overview{Sections: &Sections{W: &out, Width: 100, Top: 10, Analysis: a}}).Print()
	const nothing, unknown = "Nothing, in what is recorded", "nknown: worker threads spend 3.00 ms in calls that wait for unknown ranks"
	if s := out.String(); !strings.Contains(s, nothing) || !strings.Contains(s, unknown) {
		t.Errorf("it does not say %q and %q:\n%s", nothing, unknown, s)
	}
	if s := Ship(a); !strings.HasPrefix(s.Nothing, nothing) || !strings.Contains(s.Hidden, unknown) {
		t.Errorf("the page says %q and %q", s.Nothing, s.Hidden)
	}
}

// TestLossesByEffect: that times of events contradict each other stands before definitions that do.
func TestLossesByEffect(t *testing.T) {
	a := &document.Analysis{}
	for _, code := range []trace.Code{trace.CodeDuplicateDefinition, trace.CodeBadDefinition, trace.CodeTimeDecreases,
		trace.CodeClockViolation} {
		a.Findings = append(a.Findings, document.Finding{Code: string(code), Severity: "error", Text: code.Text(), Count: 1})
	}
	o := &Overview{Sections: &Sections{Width: 100, Analysis: a}}
	o.width = 100
	items := o.losses()
	if len(items) < 2 || !strings.Contains(items[0][0], "run backwards") || !strings.Contains(items[1][0], "end before they begin") {
		t.Errorf("%q", items)
	}
}
