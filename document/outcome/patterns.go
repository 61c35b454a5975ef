package outcome

import (
	"strconv"

	"tracekit/reduce/pattern"
)

// DescribePatterns says what repeats, and what is kept of it.
func (doc *Reduce) DescribePatterns(rule *pattern.Rule) {
	found := rule.Found
	if doc.Found = found; found == nil {
		return
	}
	site := siteOf(rule)
	for _, p := range found.Patterns {
		doc.Patterns = append(doc.Patterns, Pattern{Site: site, First: p.First, FirstNs: p.FirstNs, PeriodNs: p.PeriodNs,
			Instances: p.Instances, Kept: p.Kept, Regenerated: p.Regenerated})
	}
	if found.Repeats == nil {
		return
	}
	doc.Times = &PatternTimes{Kept: "exact", Bytes: found.Described, ExactBytes: found.Exact}
	if laws := found.Repeats.Laws; laws != nil {
		doc.Times.Kept, doc.Times.Seed, doc.Times.BoundBytes = "laws", laws.Seed, found.Bound
		doc.Times.Laws, doc.Times.Empirical = found.Repeats.Families()
	}
}

// siteOf says where intervals begin.
func siteOf(rule *pattern.Rule) string {
	s := rule.Found.Site
	if s.Operation == "" {
		return rule.Options.Marker.String()
	}
	text := s.Operation
	if s.Region != "" {
		text += " in " + s.Region
	}
	if s.File != "" {
		text += ", " + s.File
		if s.Line > 0 {
			text += ":" + strconv.Itoa(int(s.Line))
		}
	}
	return text
}
