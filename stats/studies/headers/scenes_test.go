package headers_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/scope"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// TestScenes runs the hand-worked cases of testdata. The arithmetic stands in each file. A case
// wants some kinds of lines; of these kinds it wants all.
func TestScenes(t *testing.T) {
	tracetest.Cases(t, "*.txtar", func(t *testing.T, parts map[string]string) {
		s, h := options(t, parts["options"])
		_, _, p := made(t, tracetest.MustParse(t, parts["trace"]), merge.Options{Clock: merge.ClockNone}, s, h)
		tracetest.CheckLines(t, parts["want"], strings.Split(strings.TrimSpace(brief(p)), "\n"))
	})
}

// options reads "ranks=1 from=20 to=60 exact=1 layout=96 monitoring=100 mask=compute:_main".
func options(t *testing.T, text string) (s analysis.Options, h headers.Options) {
	for _, word := range strings.Fields(text) {
		key, value, _ := strings.Cut(word, "=")
		if key == "mask" {
			h.Mask = append(h.Mask, strings.ReplaceAll(value, "_", " "))
			continue
		}
		var n int64
		if _, err := fmt.Sscan(value, &n); err != nil {
			t.Fatal(word, err)
		}
		switch key {
		case "ranks":
			h.Ranks = append(h.Ranks, uint32(n))
		case "from":
			s.From = scope.Instant{Kind: scope.AfterNs, Ns: n}
		case "to":
			s.To = scope.Instant{Kind: scope.AfterNs, Ns: n}
		case "exact":
			h.Exact = n == 1
		case "layout":
			h.Layout = headers.Layout(n)
		case "monitoring":
			h.Cost.Header = float64(n)
		default:
			t.Fatalf("unknown option %s", word)
		}
	}
	return s, h
}

// brief writes a profile in lines, a word for the kind of line first.
func brief(p *headers.Profile) string {
	var b bytes.Buffer
	rows := func(kind string, rows []headers.MetricRow) {
		for _, r := range rows {
			fmt.Fprintf(&b, "%s %s %d\n", kind, r.Metric, r.TimeNs)
		}
	}
	fmt.Fprintf(&b, "layout %d %d\n", p.Layout.Bytes, p.Layout.Counters)
	rows("host", p.Host)
	rows("path", p.Message)
	for _, s := range p.Sizes {
		size := fmt.Sprintf("size %d..%d", s.From, s.To)
		fmt.Fprintf(&b, "%s messages %d\n", size, s.Messages)
		rows(size+" host", s.Host)
		rows(size+" path", s.Message)
	}
	for _, r := range p.Ranks {
		fmt.Fprintf(&b, "rank %d total %d other %d", r.Rank, r.TotalNs, r.OtherNs)
		if r.Hops != nil {
			fmt.Fprintf(&b, " hops %d", *r.Hops)
		}
		if r.MonitoringNs != nil {
			fmt.Fprintf(&b, " monitoring %d", *r.MonitoringNs)
		}
		b.WriteByte('\n')
	}
	for _, r := range p.Ranks {
		for _, c := range r.Counters {
			fmt.Fprintf(&b, "counter %d %s %d\n", r.Rank, c.Metric, c.TimeNs)
		}
	}
	for _, r := range p.Ranks {
		for _, c := range r.Counters {
			fmt.Fprintf(&b, "margin %d %s %d\n", r.Rank, c.Metric, *c.MarginNs)
		}
	}
	if x := p.Path; x != nil {
		fmt.Fprintf(&b, "length %d rank %d header %d error %s composition %s unmerged %d\n", x.LengthNs, x.Rank, x.HeaderNs,
			fraction(*x.ErrorShare, x.LengthNs), fraction(*x.CompositionErrorShare, x.LengthNs), x.Unmerged)
	}
	if p.Sampling == nil {
		fmt.Fprintln(&b, "no sampling")
		return b.String()
	}
	fmt.Fprintf(&b, "sampling %d %d hops %d %d rounds %d\n", p.Sampling.Ranks[0], p.Sampling.Ranks[1], p.Sampling.HopLimits[0],
		p.Sampling.HopLimits[1], len(p.Sampling.Rounds))
	for i, r := range p.Sampling.Rounds {
		fmt.Fprintln(&b, strings.TrimSpace(fmt.Sprintf("round %d readings %d other %d masked %s", i, r.Readings, r.OtherNs,
			strings.Join(r.Masked, ", "))))
		for _, c := range r.Counters {
			fmt.Fprintf(&b, "reading %d %s %d\n", i, c.Metric, c.TimeNs)
		}
	}
	return b.String()
}

// fraction writes a share as the fraction of whole numbers that it must be.
func fraction(share float64, of int64) string {
	for n := range of + 1 {
		if share == float64(n)/float64(of) {
			if n == 0 {
				return "0"
			}
			return fmt.Sprintf("%d/%d", n, of)
		}
	}
	return fmt.Sprint(share)
}
