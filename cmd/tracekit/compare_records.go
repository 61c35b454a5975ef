package main

import (
	"context"
	"fmt"
	"math"

	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/reconstruct/difference"
	"tracekit/report/text"
	"tracekit/trace"
)

// A recordsBlock says how two traces differ record by record, as the AIMS paper does (DEFINITIONS
// 1.4). Differences are B - A, in ns.
type recordsBlock struct {
	Paired   *pairedRecords `json:"records,omitempty"`  // nil: not asked for
	Position *spread        `json:"position,omitempty"` // nil: no record is paired
	Block    *spread        `json:"block,omitempty"`
	Quality  *quality       `json:"quality,omitempty"`

	differences *difference.Differences
}

// pairedRecords counts the records; First are places of the first ones without a partner.
type pairedRecords struct {
	Paired uint64       `json:"paired"`
	OnlyA  uint64       `json:"only_a"`
	OnlyB  uint64       `json:"only_b"`
	FirstA *field.Place `json:"first_a"`
	FirstB *field.Place `json:"first_b"`
}

// A spread describes a distribution of differences.
type spread struct {
	Count  uint64  `json:"count"`
	Min    int64   `json:"min_ns"`
	Mean   float64 `json:"mean_ns"`
	Max    int64   `json:"max_ns"`
	Sigma  float64 `json:"sigma_ns"`
	Spread float64 `json:"spread_ns"` // 2 √(ln 2) σ
	FWHM   float64 `json:"fwhm_ns"`   // 2 √(2 ln 2) σ
}

// quality holds the quality factors against a repeated run; null if B has no spread.
type quality struct {
	Repeat         string   `json:"repeat"`
	PositionSpread float64  `json:"position_spread_ns"` // of the repeated run
	BlockSpread    float64  `json:"block_spread_ns"`
	PositionFactor *float64 `json:"position_factor"`
	BlockFactor    *float64 `json:"block_factor"`
}

// recordsOf pairs the records of the first runs of both sides and, if there is one, of a repeated
// run of A.
func recordsOf(ctx context.Context, io *streams, opts *compareOptions, a, b *side) (r recordsBlock, err error) {
	d, err := compareSides(ctx, io, opts, a, b)
	if err != nil {
		return r, err
	}
	r = recordsBlock{
		Paired:   &pairedRecords{Paired: d.Paired, OnlyA: d.OnlyA, OnlyB: d.OnlyB, FirstA: placeOf(d.FirstA), FirstB: placeOf(d.FirstB)},
		Position: spreadOf(d.Position), Block: spreadOf(d.Block), differences: d,
	}
	if opts.repeat != "" {
		r.Quality, err = qualityOf(ctx, io, opts, a, d)
	}
	return r, err
}

func compareSides(ctx context.Context, io *streams, opts *compareOptions, a, b *side) (*difference.Differences, error) {
	bar := startProgress(io, opts.quiet, "comparing")
	defer bar.done()
	return difference.Find(ctx, a.t, b.t, difference.Options{Jobs: opts.jobs, Progress: &bar.Progress})
}

func qualityOf(ctx context.Context, io *streams, opts *compareOptions, a *side, d *difference.Differences) (*quality, error) {
	c, err := openSide(ctx, io, opts, opts.repeat)
	if err != nil {
		return nil, err
	}
	defer c.close()
	r, err := compareSides(ctx, io, opts, a, c)
	if err != nil {
		return nil, err
	}
	q := &quality{Repeat: opts.repeat, PositionSpread: r.Position.Spread(), BlockSpread: r.Block.Spread()}
	q.PositionFactor = factor(r.Position.Spread(), d.Position.Spread())
	q.BlockFactor = factor(r.Block.Spread(), d.Block.Spread())
	return q, nil
}

// factor returns reference/spread as the paper's table 6 computes it, nil if there is no
// spread to divide by.
func factor(reference, spread float64) *float64 {
	if spread == 0 {
		return nil
	}
	f := reference / spread
	return &f
}

func placeOf(p *trace.Place) *field.Place {
	if p == nil {
		return nil
	}
	l := uint32(p.Location)
	return &field.Place{Location: &l, Seq: p.Seq}
}

func spreadOf(d *difference.Distribution) *spread {
	if d.N == 0 {
		return nil
	}
	return &spread{Count: d.N, Min: d.Min, Mean: d.Mean(), Max: d.Max, Sigma: d.Sigma(), Spread: d.Spread(), FWHM: d.FWHM()}
}

// print prints the spreads, and the quality factors if there are any.
func (r *recordsBlock) print(io *streams) {
	w := io.Out
	fmt.Fprintf(w, "\nRecords: %s in both, %s only in A, %s only in B\n",
		words.Count(r.Paired.Paired), words.Count(r.Paired.OnlyA), words.Count(r.Paired.OnlyB))
	g := &text.Grid{Heading: "Differences, B - A", Titles: []string{"<", "records", "least", "mean", "most", "σ", "spread", "full width at half maximum"}}
	for _, s := range []struct {
		name string
		s    *spread
	}{{"position", r.Position}, {"block", r.Block}} {
		if s.s != nil {
			g.Add(s.name, words.Count(s.s.Count), words.Time(s.s.Min), words.Nanoseconds(s.s.Mean), words.Time(s.s.Max),
				words.Nanoseconds(s.s.Sigma), words.Nanoseconds(s.s.Spread), words.Nanoseconds(s.s.FWHM))
		}
	}
	g.Print(w, io.Width)
	if q := r.Quality; q != nil {
		text.Line(w, "Quality factors against %s: position %s, block %s", q.Repeat, words.Decimal(q.PositionFactor), words.Decimal(q.BlockFactor))
	}
}

// histograms draws the differences.
func (r *recordsBlock) histograms(title string) (*plots.Figure, error) {
	return plots.DifferenceHistograms(plots.DifferencesData{Title: title,
		Position: differencesPlot(r.differences.Position), Block: differencesPlot(r.differences.Block), LogY: true})
}

// differencesPlot shows what lies within two spreads of the mean.
func differencesPlot(d *difference.Distribution) plots.Differences {
	const windows = 200
	half := math.Max(2*d.Spread(), 1)
	edges, counts, beyond := d.Histogram(d.Mean()-half, d.Mean()+half, windows)
	return plots.Differences{Edges: edges, Counts: counts, Beyond: beyond, Mean: d.Mean(), Spread: d.Spread()}
}
