package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodesAreClosed(t *testing.T) {
	seen := make(map[Code]bool)
	for _, i := range Codes() {
		if seen[i.Code] || i.Code == "" || i.Text == "" {
			t.Errorf("%+v is a duplicate or empty", i)
		}
		seen[i.Code] = true
		if i.Code.Severity() != i.Severity {
			t.Errorf("%s has severity %s", i.Code, i.Code.Severity())
		}
	}
	unknown := Code("no such")
	if unknown.Severity() != SeverityError || unknown.Text() != "no such" || unknown.Brief() != "no such" {
		t.Errorf("an unknown code is %s: %s, %s", unknown.Severity(), unknown.Text(), unknown.Brief())
	}
	for code, want := range map[Code]string{CodeFarTimes: "times do not fit into 64 bits", CodeReduced: "the trace was reduced",
		CodeStepCut: CodeStepCut.Text()} {
		if got := code.Brief(); got != want {
			t.Errorf("%s in brief: %q, want %q", code, got, want)
		}
	}
}

func TestLedger(t *testing.T) {
	var l Ledger
	l.Add(CodeOpenRegion, Place{Location: 2, Seq: 5}, "later")
	l.Add(CodeOpenRegion, Place{Location: 1, Seq: 9}, "first")
	l.Add(CodeOpenRegion, Place{Location: 1, Seq: 9, Offset: 3}, "same event, further on")
	l.Add(CodeOpenRegion, Nowhere(), "nowhere")
	l.AddN(CodeBufferFlush, 0, Nowhere(), "not at all")
	l.AddN(CodeBufferFlush, 7, Place{Location: 3}, "flush")
	l.Add(CodeCorrupt, Place{Location: 4}, "corrupt")
	want := []Finding{ // errors, losses, information
		{CodeCorrupt, 1, Place{Location: 4}, "corrupt"},
		{CodeOpenRegion, 4, Place{Location: 1, Seq: 9}, "first"},
		{CodeBufferFlush, 7, Place{Location: 3}, "flush"},
	}
	if d := cmp.Diff(want, l.Findings()); d != "" {
		t.Error(d)
	}
	if l.Count(CodeOpenRegion) != 4 || l.Count(CodeTruncated) != 0 {
		t.Errorf("counts are %d and %d", l.Count(CodeOpenRegion), l.Count(CodeTruncated))
	}
}

// TestLedgerMergeInAnyOrder: ledgers of locations add up to the same, however merged.
func TestLedgerMergeInAnyOrder(t *testing.T) {
	parts := make([]Ledger, 3)
	for i := range parts {
		parts[i].AddN(CodeOpenRegion, uint64(i+1), Place{Location: LocationID(10 - i)}, "x")
	}
	var there, back Ledger
	for i := range parts {
		there.Merge(parts[i].Findings())
		back.Merge(parts[len(parts)-1-i].Findings())
	}
	if d := cmp.Diff(there.Findings(), back.Findings()); d != "" {
		t.Error(d)
	}
	if f := there.Findings()[0]; f.Count != 6 || f.First.Location != 8 {
		t.Errorf("%+v", f)
	}
}

func TestSyntaxError(t *testing.T) {
	for want, e := range map[string]*SyntaxError{
		"f.prv:3: bad":             {File: "f.prv", Line: 3, Offset: -1, Err: errBad},
		"f.evt at byte 7: bad":     {File: "f.evt", Offset: 7, Err: errBad},
		"f.evt (enter): bad":       {File: "f.evt", Offset: -1, Record: "enter", Err: errBad},
		"f.def at byte 0 (x): bad": {File: "f.def", Record: "x", Err: errBad},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if e.Unwrap() != errBad {
			t.Error("the cause is lost")
		}
	}
}

type testError string

func (e testError) Error() string { return string(e) }

const errBad = testError("bad")
