package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/plots"
	"tracekit/report/figure"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/numbers"
	"tracekit/stats/studies/sampling"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// measureFlags are changes of what measuring costs.
type measureFlags struct {
	list []measureFlag
	runs bool
}

// A measureFlag is what one flag adds or removes.
type measureFlag struct {
	text   string
	costs  measurement.Costs
	remove bool
	config *sampling.Config // nil: no message is sampled
}

func (f *measureFlags) add(set *pflag.FlagSet) {
	flags.Var(set, &f.list, flags.Repeated(flags.Parsed(parseMeasure).Offering("remove,event=", "event=", "header=", "photon,sampling=", "impulse",
		"buffer")),
		"measurement", "", "add what measuring `costs`: event=1us for each record, header=3.6us, photon,sampling=P-0.01-STAT and others; "+
			"remove,event=1us takes it away")
	set.BoolVar(&f.runs, "each", false, "each TRACE is a run of its own: the run time of each with and without --measurement")
}

// parseMeasure reads costs, with the word remove before and a configuration of sampling among them.
func parseMeasure(text string) (measureFlag, error) {
	m := measureFlag{text: "measurement " + text}
	rest, remove := strings.CutPrefix(text, "remove,")
	m.remove = remove
	var parts []string
	for part := range strings.SplitSeq(rest, ",") {
		name, ok := strings.CutPrefix(part, "sampling=")
		if !ok {
			parts = append(parts, part)
			continue
		}
		c, err := sampling.Parse(name, sampling.Defaults{Seed: sampling.DefaultSeed})
		if err != nil {
			return m, err
		}
		m.config = &c
	}
	var err error
	if m.costs, err = cli.ParseCosts(strings.Join(parts, ","), measurement.Costs{Record: 32}); err != nil {
		return m, err
	}
	if !m.costs.Records() && !m.costs.Messages() {
		return m, errors.New("nothing costs anything; want event=TIME, header=TIME or other costs")
	}
	return m, nil
}

// changes returns the changes and how they were asked for. Their tables go with those of the trace.
func (f *measureFlags) changes(ctx context.Context, t *trace.Trace, jobs int) (list []whatif.Change, texts []string, err error) {
	for _, m := range f.list {
		costs := m.costs
		if m.config != nil {
			costs.Header, costs.Layer = 0, 0 // sampling has them
			loads, err := sampling.LoadOf(ctx, t, *m.config, sampling.Options{Jobs: jobs, Cost: m.costs})
			if err != nil {
				return nil, nil, err
			}
			list = append(list, whatif.Measure(loads, m.remove))
		}
		loads, err := measurement.Make(ctx, t, &costs, jobs)
		if err != nil {
			return nil, nil, err
		}
		list, texts = append(list, whatif.Measure(loads, m.remove)), append(texts, m.text)
	}
	return list, texts, nil
}

// records returns how many records a trace has, and their bytes by the model.
func (f *measureFlags) records(t *trace.Trace) (records, bytes uint64) {
	for _, s := range t.Span {
		records += s.Events
	}
	for _, m := range f.list {
		bytes = max(bytes, records*uint64(max(m.costs.Record, 0)))
	}
	return records, bytes
}

// predictRuns replays several runs with the costs.
func (o *whatifOptions) predictRuns(ctx context.Context, io *cli.Streams) error {
	doc := &outcome.Whatif{Schema: whatifSchema, Changes: []string{}}
	for _, path := range o.Paths {
		row, err := o.measuredRun(ctx, io, path, doc)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		doc.Runs = append(doc.Runs, row)
	}
	slices.SortStableFunc(doc.Runs, func(a, b outcome.MeasuredRun) int { return cmp.Compare(a.Processes, b.Processes) })
	if o.curves.format != "" {
		f, err := figure.MeasuredRuns(doc)
		if err != nil {
			return err
		}
		doc.Picture = o.Out
		if err := picture(&o.OutFlags).Draw(ctx, f); err != nil {
			return err
		}
	}
	return o.Finish(io, doc, func() { show.MeasuredRuns(io.Sections(o.top), doc) }, doc.Findings, o.Gate(doc))
}

// measuredRun replays one of them. The first run is that of the document.
func (o *whatifOptions) measuredRun(ctx context.Context, io *cli.Streams, path string,
	doc *outcome.Whatif) (row outcome.MeasuredRun, err error) {
	t, err := o.Open(ctx, io, path)
	if err != nil {
		return row, err
	}
	defer t.Source.Close()
	defer t.Store.Close()
	a, err := o.Analyze(ctx, io, t, analysis.Options{Top: 1})
	if err != nil {
		return row, err
	}
	m, err := whatif.New(ctx, t, a, o.Jobs)
	if err != nil {
		return row, err
	}
	changes, texts, err := o.measure.changes(ctx, t, o.Jobs)
	if err != nil {
		return row, err
	}
	p, err := m.Predict(ctx, changes...)
	if err != nil {
		return row, err
	}
	row = outcome.MeasuredRun{Path: path, Processes: len(t.World), Baseline: p.Baseline, Predicted: p.RunTime,
		Share: numbers.Ratio(p.RunTime-p.Baseline, p.Baseline), Unremoved: p.Left}
	row.Records, row.Bytes = o.measure.records(t)
	if doc.Runs == nil {
		doc.Trace, doc.Changes, doc.Baseline, doc.Predicted, doc.Gain, doc.Ranks = a.Trace, texts, p.Baseline, p.RunTime, p.Gain(), p.Ranks
		doc.Share = numbers.Ratio(doc.Gain, doc.Baseline)
	}
	doc.Findings = append(doc.Findings, a.Findings...)
	return row, nil
}

// checkRuns refuses what does not go with several runs, and finds out whether -o is a picture.
func (o *whatifOptions) checkRuns() error {
	if len(o.measure.list) == 0 {
		return cli.Usagef("--each needs --measurement")
	}
	if texts, _ := o.equal.list(); len(o.changes)+len(texts) > 0 || o.curves.asked() || o.slack || o.gains {
		return cli.Usagef("--each goes with --measurement alone")
	}
	if o.Out == "" {
		return nil
	}
	format, err := plots.FormatOf(o.Out)
	if err != nil {
		return cli.Usagef("--each: -o %s: want a picture, .png or .svg", o.Out)
	}
	o.curves.format = format
	return picture(&o.OutFlags).Validate()
}
