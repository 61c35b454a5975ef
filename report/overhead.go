package report

import (
	"fmt"
	"strings"

	"tracekit/document"
	"tracekit/document/words"
	"tracekit/report/text"
)

// overhead prints the overhead of MPI calls by line, the pairs of lines that wait for each
// other, and the laws behind it.
func (r *Sections) overhead() {
	o := r.Analysis.Overhead
	if o == nil || len(o.Lines) == 0 {
		return
	}
	learned := "learned from this trace"
	if p := o.Profile; p != nil {
		learned = "learned on " + words.OrNotRecorded(p.Machine)
		if p.Library != "" {
			learned += " with " + p.Library
		}
	}
	fmt.Fprintln(r.W)
	r.Line("%sOverhead of %s: %s of %s, beyond what %s of like calls need, %s.", Mark(r.Analysis.Trace.Rebuilt),
		strings.Replace(r.calls(), "Comm", "comm", 1),
		words.Time(o.OverheadNs), words.Time(o.TotalNs), words.Share(o.Quantile), learned)
	r.pairs(o)
	r.keys(o)
}

// A judged pair is one of which wait states say something.
type judged struct {
	By string `json:"by_wait_states"`
}

// pairs prints the pairs of lines with overhead.
func (r *Sections) pairs(o *document.Overhead) {
	n := 0
	for n < len(o.Pairs) && o.Pairs[n].Verdict != "none" {
		n++
	}
	rows := r.rows(senders)[:n]
	for i, p := range top(r, o.Pairs[:n]) {
		by := judged{"not confirmed"}
		switch {
		case p.Reason != "":
			by.By = p.Reason
		case p.ByWaits:
			by.By = "decided by them"
		case p.Confirmed:
			by.By = "confirmed"
		}
		rows[i] = append(rows[i], by)
	}
	g := r.begin(senders, "", rows)
	g.Remark(len(g.Rows), func(i int) string {
		if o.Pairs[i].Mixed {
			return "t_max of profile and trace"
		}
		return ""
	})
	r.Show(g)
}

// keys prints what calls need.
func (r *Sections) keys(o *document.Overhead) {
	anomalous := 0
	for _, k := range o.Keys {
		if k.Anomalous {
			anomalous++
		}
	}
	heading := fmt.Sprintf(text.Modelled+"What calls need, waits taken off: %s of operation, role, processes and bytes, %s%s",
		words.Plural(len(o.Keys), "key", "keys"), words.Plural(anomalous, "has too many slow calls",
			"have too many slow calls"), r.Of(len(o.Keys), "keys"))
	g := Keys(heading, top(r, o.Keys), o.Profile != nil)
	g.Note("Times of single calls. A key is what comparable calls share: operation, role, processes, bytes. t_max: upper limit of " +
		"an undisturbed call.")
	r.Show(g)
}

// costRemarks returns the remarks on the overhead of a source line.
func costRemarks(o *document.Overhead, l *document.LineRow) string {
	s := ""
	if l.Unreliable {
		s = "overhead unreliable"
	}
	if o == nil || o.Profile == nil || l.OverheadNs == nil || l.OverheadSource == "profile" {
		return s
	}
	if s != "" {
		s += "; "
	}
	if l.OverheadSource == "both" {
		return s + "overhead partly by this trace"
	}
	return s + "overhead by this trace"
}

// A law is what text shows of the law of a key, with its remarks.
type law struct {
	Model   string   `json:"model"`
	Chi2    *float64 `json:"chi2"`
	Dof     *int     `json:"dof"`
	PValue  *float64 `json:"p_value"`
	Remarks string   `json:"remarks"`
}

// Keys makes a table of keys. If they are compared with a profile, those that the profile does not have say so. Remarks say what
// stands in for a law that was not accepted (see document.OverheadKey.From), and which keys have too many slow calls.
func Keys(heading string, list []document.OverheadKey, profile bool) *text.Grid {
	rows := RowsOf(list)
	for i := range list {
		k, shown := &list[i], law{Model: "none", Remarks: keyRemarks(&list[i])}
		if k.Source == "profile" {
			shown.Model = "profile"
		}
		if k.Accepted {
			shown.Model, shown.Chi2, shown.Dof, shown.PValue = string(k.Model), k.Chi2, k.Dof, k.PValue
		}
		if profile && k.Source == "trace" {
			shown.Remarks = strings.TrimSuffix("by this trace; "+shown.Remarks, "; ")
		}
		rows[i] = Row{shown, k}
	}
	return (&Sections{Top: len(list)}).begin(keyTable, heading, rows)
}

func keyRemarks(k *document.OverheadKey) string {
	s := ""
	add := func(text string) {
		if s != "" {
			s += "; "
		}
		s += text
	}
	if k.Anomalous {
		add("slow")
	}
	if k.From != "law" {
		add(k.From)
	}
	switch len(k.Pooled) {
	case 0:
	case 1:
		add("size class pooled")
	default:
		add(fmt.Sprintf("%d sizes pooled", len(k.Pooled)))
	}
	if k.Few {
		add("few")
	}
	if k.Unreliable {
		add("unreliable")
	}
	return s
}
