package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
	"tracekit/stats/stragglers"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// equalFlags are changes that make workers, or ranks, equal.
type equalFlags struct{ stragglers.Change }

func (f *equalFlags) add(set *pflag.FlagSet) {
	set.BoolVar(&f.Equalize, "equalize", false, "make all workers equally fast; of other programs, ranks take the mean at each place")
	flags.Var(set, &f.Replace, flags.Parsed(parseShare), "replace-slowest", "", "make this `share` of workers, the slowest, compute as long as "+
		"their peers, as in 3%; at least one")
	set.BoolVar(&f.Rebalance, "rebalance", false, "move layers of a training job, so that pipeline stages compute equally long")
}

// parseShare reads a share, such as 3% or 0.03.
func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, errors.New("want a share above 0, such as 3%")
	}
	return v, nil
}

// list returns the changes as they are written, and each alone.
func (f *equalFlags) list() (texts []string, alone []stragglers.Change) {
	if f.Equalize {
		texts, alone = append(texts, "equalize"), append(alone, stragglers.Change{Equalize: true})
	}
	if f.Replace > 0 {
		text := "replace-slowest " + strconv.FormatFloat(100*f.Replace, 'g', 4, 64) + "%"
		texts, alone = append(texts, text), append(alone, stragglers.Change{Replace: f.Replace})
	}
	if f.Rebalance {
		texts, alone = append(texts, "rebalance"), append(alone, stragglers.Change{Rebalance: true})
	}
	return texts, alone
}

// changes are those of a program that is no training job.
func (f *equalFlags) changes(ctx context.Context, m *whatif.Model, a *analysis.Result) (list []whatif.Change, err error) {
	if f.Rebalance {
		return nil, cli.Usagef("--rebalance is for training jobs, and this trace is none of such a job")
	}
	if f.Equalize {
		return m.Equalized(a), nil
	}
	if f.Replace > 0 {
		equal, err := m.Equal(ctx, a, f.Replace)
		if err != nil {
			return nil, err
		}
		var ranks []uint32
		for _, r := range equal.Slowest {
			ranks = append(ranks, uint32(r))
		}
		return m.Equalized(a, ranks...), nil
	}
	return nil, nil
}

// trainingModel returns the model of a training job, nil if a trace is none of such a job.
func trainingModel(ctx context.Context, t *trace.Trace, jobs int) (*stragglers.Model, error) {
	m, err := stragglers.NewModel(ctx, stragglers.Source(t), jobs)
	var missing *stragglers.MissingError
	if !t.Defs.IsTraining() && (errors.Is(err, stragglers.ErrNoJob) || errors.As(err, &missing)) {
		return nil, nil
	}
	return m, err
}

// slower returns by how much the network is slower; ok tells that this is the only change of the network and of calls.
func (o *whatifOptions) slower() (s slowdown, ok bool) {
	switch {
	case len(o.changes) == 0:
		return s, true
	case len(o.changes) > 1 || o.changes[0].slower == nil:
		return s, false
	}
	return *o.changes[0].slower, true
}

// predictTraining replays the steps of a training job with the changes, or with each that there is.
func (o *whatifOptions) predictTraining(ctx context.Context, io *cli.Streams, t *trace.Trace, m *stragglers.Model) (err error) {
	findings := analysis.FindingRows(cli.FindingsOf(t))
	s, _ := o.slower()
	o.equal.Latency, o.equal.PerByte = s.latency, s.perByte
	if o.equal.PerByte > 0 {
		if _, err := m.Sized(); err != nil {
			return err
		}
	}
	doc := &outcome.Whatif{Schema: whatifSchema, Trace: outcome.NewInfo(t.Source).Trace, Changes: []string{}, Ranks: []whatif.RankTimes{},
		Findings: findings, Baseline: m.Predict(stragglers.Change{}), Steps: m.Steps()}
	texts, _ := o.equal.list()
	for _, c := range o.changes {
		doc.Changes = append(doc.Changes, c.text)
	}
	doc.Changes = append(doc.Changes, texts...)
	doc.Predicted = m.Predict(o.equal.Change)
	doc.Gain = doc.Baseline - doc.Predicted
	doc.Share = numbers.Ratio(doc.Gain, doc.Baseline)
	if o.gains {
		each := equalFlags{stragglers.Change{Equalize: true, Replace: stragglers.SlowestShare, Rebalance: true}}
		texts, alone := each.list()
		for i, c := range alone {
			gain := doc.Baseline - m.Predict(c)
			doc.Gains = append(doc.Gains, whatif.Gain{Place: "training steps", Change: texts[i], GainNs: gain,
				Share: numbers.Ratio(gain, doc.Baseline)})
		}
		slices.SortStableFunc(doc.Gains, func(a, b whatif.Gain) int { return cmp.Compare(b.GainNs, a.GainNs) })
	}
	if err = o.trainingCurve(ctx, m, doc); err != nil {
		return err
	}
	if o.Out != "" && o.curves.format == "" {
		doc.Out = o.Out
		changed := m.Changed(o.equal.Change)
		if _, doc.Lost, err = o.WriteTrace(ctx, io, &o.ReadFlags, changed, t.Store); err != nil {
			return err
		}
	}
	return o.Finish(io, doc, func() { show.Whatif(io.Sections(o.top), doc) }, findings, o.Gate(doc))
}

// trainingCurve finds the curves that are asked for, and draws one if -o asks for it.
func (o *whatifOptions) trainingCurve(ctx context.Context, m *stragglers.Model, doc *outcome.Whatif) (err error) {
	curve := func(unit string, lines []stragglers.Line, replays int) *whatif.Curve {
		c := &whatif.Curve{Unit: unit, RunTime: int64(math.Round(lines[0].Base)), To: lines[len(lines)-1].To, Replays: replays}
		for _, l := range lines {
			c.Pieces = append(c.Pieces, whatif.Piece{From: l.From, To: l.To, Base: l.Base, Slope: l.Slope, Messages: uint64(l.Messages)})
		}
		c.Tolerate(lines[0].Base)
		return c
	}
	if o.curves.latency.asked {
		lines, replays := m.Latency(o.curves.latency.to, o.equal.Change)
		doc.Latency = curve("ns", lines, replays)
	}
	if o.curves.bandwidth.asked {
		lines, replays, err := m.Bandwidth(o.curves.bandwidth.to, o.equal.Change)
		if err != nil {
			return err
		}
		doc.Bandwidth = curve("ns/B", lines, replays)
		if doc.Bandwidth.Unsized, err = m.Sized(); err != nil {
			return err
		}
	}
	return o.curves.draw(ctx, doc, &o.OutFlags)
}
