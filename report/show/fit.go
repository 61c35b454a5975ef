package show

import (
	"cmp"
	"fmt"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/fit"
)

// Fit prints what calls need, of the Top keys with the most calls.
func Fit(out *report.Sections, d *outcome.Fit) {
	report.PrintRebuilt(out.W, "Durations are a model's: a trace was ", d.Rebuilt)
	fmt.Fprintln(out.W, text.Wrap(fmt.Sprintf("%s made on %s by %s; %s; MPI: %s", words.Plural(len(d.Traces), "trace", "traces"),
		words.OrNotRecorded(d.Machine),
		words.OrNotRecorded(d.Creator), words.Plural(d.Processes, "process", "processes"), words.OrNotRecorded(d.Library)), out.Width, 2))
	if len(d.Findings) > 0 {
		report.PrintFindings(out.W, out.Width, "Findings", d.Findings)
	}
	accepted := 0
	for _, k := range d.Models {
		if k.Accepted {
			accepted++
		}
	}
	keys := d.Shown(out.Top)
	heading := fmt.Sprintf("What calls need at the %s quantile (%s): %s, %s with an accepted law", words.Share(d.Quantile), d.Way(),
		words.Plural(len(d.Models), "key", "keys"), words.Count(accepted))
	report.Keys(heading, keys, false).Print(out.W, out.Width)
	if d.Paper {
		printEstimates(out, keys)
	}
	printStability(out, d)
	if b := d.Base; b != nil {
		fmt.Fprintln(out.W, "\n"+text.Wrap(fmt.Sprintf("Base points: %s of %s measured points stay in the profile. Interpolation between them "+
			"misses no "+
			"measured t_max by more than %s (allowed: %s).", words.Count(d.BasePoints), words.Count(b.Measured), words.Share(b.Error),
			words.Share(b.Tolerance)), out.Width, 0))
	}
}

// An estimate is a law of a key with one way to find its parameters.
type estimate struct {
	Window  int64      `json:"window_ns"`
	Family  fit.Family `json:"family"`
	By      string     `json:"by"`
	Lambda  string     `json:"lambda"`
	Offset  string     `json:"offset"`
	Chi2    float64    `json:"chi2"`
	DOF     int        `json:"dof"`
	P       *float64   `json:"p_value"` // nil: not testable
	Verdict string     `json:"verdict"`
}

var estimates = &report.Table{Key: "estimates",
	Title: "Laws by maximum likelihood, by least Σ|f-p| (equation 10 of the paper) and by least χ²; λ of an exponential law is per µs, " +
		"of a Poisson law in windows",
	Columns: []report.Column{
		{Key: "operation", Title: "operation"},
		{Key: "role", Title: "role"},
		{Key: "processes", Title: "processes", Unit: unit.Count},
		{Key: "bytes", Title: "bytes", Unit: unit.Bytes},
		{Key: "window_ns", Title: "window", Unit: unit.Time},
		{Key: "family", Title: "law"},
		{Key: "by", Title: "by"},
		{Key: "lambda", Title: "λ", Unit: unit.Remarks},
		{Key: "offset", Title: "offset", Unit: unit.Remarks},
		{Key: "chi2", Title: "χ²", Unit: unit.Decimal},
		{Key: "dof", Title: "ν", Unit: unit.Plain},
		{Key: "p_value", Title: "p", Unit: unit.Decimal},
		{Key: "verdict", Title: "accepted"},
	}}

// printEstimates prints, as the paper does, every law in each of the three ways to find its λ.
func printEstimates(out *report.Sections, keys []document.OverheadKey) {
	var rows []report.Row
	for i := range keys {
		k := &keys[i]
		for m := range k.Fit.Models {
			law := &k.Fit.Models[m]
			for n, e := range law.Estimates {
				x := &estimate{Window: k.Fit.Histogram.Window, Family: law.Family, By: e.By, Chi2: e.Test.Chi2, DOF: e.Test.DOF,
					P: &e.Test.P, Verdict: yesNo(e.Test.Accepted)}
				if !e.Test.Testable() {
					x.Verdict, x.P = "not testable", nil
				}
				if m == k.Fit.Chosen && n == k.Fit.Estimate {
					x.Verdict += ", chosen"
				}
				x.Lambda, x.Offset = lambdaOf(law.Family, e.Params)
				rows = append(rows, report.Row{x, k})
			}
		}
	}
	out.Table(estimates, rows)
}

// lambdaOf returns the λ of a law that has one, per µs or in windows, and its offset.
func lambdaOf(f fit.Family, params []fit.Param) (lambda, offset string) {
	if f != fit.Exponential && f != fit.Poisson && f != fit.LocatedPoisson {
		return "-", "-"
	}
	x, offset := params[0].Value, "-"
	if f == fit.Exponential {
		x *= 1000
	}
	if len(params) > 1 {
		offset = words.Decimal(&params[1].Value)
	}
	return words.Decimal(&x), offset
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

var stability = &report.Table{Key: "stability", Columns: []report.Column{
	{Key: "calls", Title: "calls", Unit: unit.Count},
	{Key: "t_min_ns", Title: "t_min", Unit: unit.Time},
	{Key: "t_max_ns", Title: "t_max", Unit: unit.Time},
	{Title: "law", Value: report.Of(func(r *outcome.StableRow) any { return cmp.Or(string(r.Law), "-") })},
	{Key: "chi2", Title: "χ²", Unit: unit.Decimal},
	{Key: "dof", Title: "ν", Unit: unit.Plain},
	{Key: "p_value", Title: "p", Unit: unit.Decimal},
	{Key: "accepted", Title: "accepted", Unit: unit.YesNo},
	{Key: "within", Title: "t_max within 5 % of all", Unit: unit.YesNo},
}}

func printStability(out *report.Sections, d *outcome.Fit) {
	for _, k := range d.Stability {
		t := *stability
		t.Title = fmt.Sprintf("t_max by number of calls: %s (%s)", k.Name(), d.Way())
		out.Table(&t, report.RowsOf(k.Rows))
	}
}
