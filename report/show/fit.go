package show

import (
	"fmt"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
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
	heading := fmt.Sprintf("What calls need at the %s quantile (%s): %s, for %s a law is accepted", words.Share(d.Quantile), d.Way(),
		words.Plural(len(d.Models), "key", "keys"), words.Count(accepted))
	report.Keys(heading, keys, false).Print(out.W, out.Width)
	if d.Paper {
		printEstimates(out, keys)
	}
	printStability(out, d)
}

// printEstimates prints, as the paper does, every law in each of the three ways to find its λ.
func printEstimates(out *report.Sections, keys []document.OverheadKey) {
	g := &text.Grid{Heading: "Laws by maximum likelihood, by least Σ|f-p| (equation 10 of the paper) and by least χ²; λ of an exponential law is per µs, of a Poisson law in windows",
		Titles: []string{"<operation", "<role", "processes", "bytes", "window", "<law", "<by", "λ", "offset", "χ²", "ν", "p", "<accepted"}}
	for i := range keys {
		k := &keys[i]
		for m := range k.Fit.Models {
			law := &k.Fit.Models[m]
			for n, e := range law.Estimates {
				verdict, p := yesNo(e.Test.Accepted), words.Decimal(&e.Test.P)
				if !e.Test.Testable() {
					verdict, p = "not testable", "-"
				}
				if m == k.Fit.Chosen && n == k.Fit.Estimate {
					verdict += ", chosen"
				}
				lambda, offset := lambdaOf(law.Family, e.Params)
				g.Add(k.Operation, k.Role, words.Count(k.Processes), words.Bytes(k.Bytes), words.Time(k.Fit.Histogram.Window),
					string(law.Family),
					e.By, lambda, offset, words.Decimal(&e.Test.Chi2), fmt.Sprint(e.Test.DOF), p, verdict)
			}
		}
	}
	g.Print(out.W, out.Width)
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

func printStability(out *report.Sections, d *outcome.Fit) {
	for _, k := range d.Stability {
		g := &text.Grid{Heading: fmt.Sprintf("t_max by number of calls: %s (%s)", k.Name(), d.Way()),
			Titles: []string{"calls", "t_min", "t_max", "<law", "χ²", "ν", "p", "<accepted", "<t_max within 5 % of all"}}
		for _, r := range k.Rows {
			law, chi2, dof, p := "-", "-", "-", "-"
			if r.Law != "" {
				law, chi2, dof, p = string(r.Law), words.Decimal(r.Chi2), fmt.Sprint(*r.Dof), words.Decimal(r.PValue)
			}
			g.Add(words.Count(r.Calls), words.Time(r.TMinNs), words.Time(r.TMaxNs), law, chi2, dof, p, yesNo(r.Accepted), yesNo(r.Within))
		}
		g.Print(out.W, out.Width)
	}
}
