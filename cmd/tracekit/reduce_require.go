package main

import (
	"fmt"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/reduce"
	"tracekit/report/show"
)

// failing returns a line for each requirement that does not hold.
func failing(doc *outcome.Reduce, requirements []reduce.Requirement) (reasons []string, err error) {
	for _, r := range requirements {
		covered, worse, worst := 0, 0, ""
		for _, f := range doc.Certificate {
			if !r.Covers(f.Metric) {
				continue
			}
			covered++
			if !r.Holds(f) {
				if worse++; worse == 1 {
					worst = f.Metric + " by " + show.Difference(f)
				}
			}
		}
		if covered == 0 {
			return nil, cli.Usagef("--require %s: the certificate has no figure %s", r.Text, r.Path)
		}
		if worse > 0 {
			reasons = append(reasons, fmt.Sprintf("--require %s: %s of %s differ by more; the worst is %s",
				r.Text, words.Count(worse), words.Plural(covered, "figure", "figures"), worst))
		}
	}
	return reasons, nil
}
