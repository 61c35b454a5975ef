package sampling

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/document/sample"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// categories makes the rows of categories, and what follows from them.
func (x *Result) categories(population, sampled *Sums) {
	r, all := x.run, len(x.run.configs)
	var counts, hits []uint64
	var seen struct{ categories, messages, bytes float64 }
	maxError, total := 0.0, 0
	for _, s := range r.streams {
		for i, k := range s.keys {
			truth, hit := &s.cells[i*len(s.sums)+all], &s.cells[i*len(s.sums)+x.k]
			if truth.count == 0 {
				continue
			}
			total++
			counts, hits = append(counts, truth.count), append(hits, hit.count)
			if k.send == pooled {
				x.Population.Pooled += truth.count
			}
			if hit.count > 0 {
				x.Sampled.Categories++
				seen.categories++
				seen.messages += float64(truth.count)
				seen.bytes += float64(truth.count) * float64(k.bytes)
			}
			row := r.categoryRow(s, k, truth, hit)
			row.Share = float64(truth.count) / float64(population.Messages)
			if row.SampledShare = ratio(float64(hit.count), float64(sampled.Messages)); row.SampledShare != nil {
				maxError = max(maxError, math.Abs(*row.SampledShare-row.Share))
			}
			x.Categories = append(x.Categories, row)
		}
	}
	slices.SortStableFunc(x.Categories, compareCategories)
	x.Population.Categories = total
	x.Coverage = sample.Coverage{Categories: ratio(seen.categories, float64(total)),
		Messages: ratio(seen.messages, float64(population.Messages)), Bytes: ratio(seen.bytes, bytesIn(x.Categories))}
	b := &x.Bias
	b.AfterPause = sample.PauseShare{Population: ratio(float64(population.AfterPause), float64(population.Messages)),
		Sampled: ratio(float64(sampled.AfterPause), float64(sampled.Messages))}
	b.MeanError = numbers.Known(relative(float64(sampled.Latency.sum)/float64(sampled.Messages),
		float64(population.Latency.sum)/float64(population.Messages)))
	b.MeanBytesError = numbers.Known(relative(float64(sampled.Bytes.sum)/float64(sampled.Messages),
		float64(population.Bytes.sum)/float64(population.Messages)))
	if sampled.Messages > 0 {
		b.MaxShareError = &maxError
	}
	if test, ok := represented(counts, hits); ok {
		p := test.p()
		biased := p < biasedBelow
		b.Chi2, b.DOF, b.PValue, b.Biased = &test.statistic, test.dof, &p, &biased
	}
	b.NeverSeen = []string{}
	for i := range x.Categories {
		if x.Categories[i].Sampled == 0 {
			b.NeverSeen = append(b.NeverSeen, x.Categories[i].ID)
		}
	}
	if x.Categories == nil {
		x.Categories = []sample.CategoryRow{}
	}
}

// bytesIn returns the bytes of all categories, where pooled messages have the least of their class,
// as with those that are seen.
func bytesIn(rows []sample.CategoryRow) (sum float64) {
	for i := range rows {
		sum += float64(rows[i].Population) * float64(rows[i].Bytes)
	}
	return sum
}

func compareCategories(a, b sample.CategoryRow) int {
	return cmp.Or(cmp.Compare(b.Population, a.Population), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To),
		cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.ID, b.ID))
}

// categoryRow makes the row of a category without its shares.
func (r *run) categoryRow(s *stream, k key, truth, hit *cell) sample.CategoryRow {
	row := sample.CategoryRow{From: field.Rank(s.rank), To: field.Rank(k.to), Bytes: k.bytes, Population: truth.count, Sampled: hit.count,
		MeanNs: r.ns(truth.total / int64(truth.count))}
	if k.send != pooled {
		row.Send, row.Receive = r.siteRow(k.send), r.siteRow(k.receive)
	}
	row.ID = identifier(&row)
	if hit.count == 0 {
		return row
	}
	row.Stat = &sample.StatRow{Count: hit.count, TotalNs: r.ns(hit.total), MinNs: r.ns(hit.min), MaxNs: r.ns(hit.max)}
	row.MeanError = numbers.Known(relative(float64(hit.total)/float64(hit.count), float64(truth.total)/float64(truth.count)))
	if hit.decades != nil {
		row.Freq = freqRows(truth.decades, hit.decades)
	}
	return row
}

func (r *run) siteRow(site uint32) *sample.SiteRow {
	s := r.sites[site]
	return &sample.SiteRow{Operation: s.Operation, SourceLine: s.SourceLine}
}

// identifier hashes the tuple of a category (64-bit FNV-1a).
func identifier(row *sample.CategoryRow) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\x00%d\x00%d", row.From, row.To, row.Bytes)
	for _, s := range []*sample.SiteRow{row.Send, row.Receive} {
		if s != nil {
			fmt.Fprintf(h, "\x00%s\x00%s\x00%s\x00%d", s.Operation, s.Region, s.File, s.Line)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// freqRows lists the decades in which there is something.
func freqRows(truth, hit *[decades]uint64) []sample.DecadeRow {
	rows := []sample.DecadeRow{}
	for d := range decades {
		if truth[d] == 0 {
			continue
		}
		row := sample.DecadeRow{Count: hit[d], True: truth[d]}
		if d > 0 {
			row.From = bound(d - 1)
		}
		if d < decades-1 {
			row.To = bound(d)
		}
		rows = append(rows, row)
	}
	return rows
}

// bound returns where class d+1 begins: 0, 1 ns, 10 ns …
func bound(d int) *int64 {
	ns := int64(0)
	if d > 0 {
		for ns = 1; d > 1; d-- {
			ns *= 10
		}
	}
	return &ns
}

// Messages calls yield for each message that a configuration with WRITE has sampled, location by
// location in the order of posting, until it returns false.
func (x *Result) Messages(yield func(l trace.LocationID, send int) bool) {
	bit := x.run.bit[x.k]
	for l, marks := range x.run.written {
		for first, rows := range marks.Rows {
			for i, mark := range rows {
				if mark&bit != 0 && !yield(trace.LocationID(l), first+i) {
					return
				}
			}
		}
	}
}

// wrote reports whether the configuration with WRITE has sampled a message.
func (x *Result) wrote(l trace.LocationID, send int) bool {
	return *x.run.written[l].Ptr(send)&x.run.bit[x.k] != 0
}
