package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/field"
	"tracekit/document/outcome"
	"tracekit/merge"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/numbers"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// whatifSchema names the JSON document of whatif.
const whatifSchema = "tracekit.whatif/1"

type whatifOptions struct {
	cli.MergeFlags
	cli.GateFlags
	cli.OutFlags
	gains bool
	slack bool
	top   int

	curves curves

	scale, balance, limit, network, speed, overlap, order []changeFlag
	equal                                                 equalFlags
	measure                                               measureFlags

	changes []changeFlag
}

// A changeFlag is a change as it was asked for.
type changeFlag struct {
	text string // as in the document
	make func(m *whatif.Model) (whatif.Change, error)

	slower *slowdown // of a network that is slower by some amount, which training jobs know as well
}

func newWhatif(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "whatif TRACE...",
		Short: "Predict the run time after a change, or find what saves most",
		Long: `Whatif replays the run with changes. Each rank does the same in the same order, and each call
keeps its own time. All waits are computed anew. Without a change, the replay gives every time of
the run exactly.

Without a change, whatif tries the most promising changes and lists them by gain. Changes can be
repeated and combined. PLACE is a region, an operation such as MPI_Recv, or a line (halo.c:80).
MPI_Recv@halo.c:80 is an operation at a line, MPI_Recv@solve one in a region. The time of a region
excludes its callees and waits: waits follow from the replay.

With --measurement the run takes what measuring would cost it, or what it took is removed. Without
a value for the costs of your recorder, measure them: few recorders document theirs.

A curve shows how the run time grows if each message, or each byte, takes longer. It starts from the
recorded network, or from that of --network. The tolerance is how much longer messages may take
before the run is 1, 5 or 10 % longer.`,
		Example: `  tracekit whatif traces.otf2
  tracekit whatif --balance interior traces.otf2
  tracekit whatif --scale interior=0.5@0-3 --network latency=1us,bandwidth=25GB traces.otf2
  tracekit whatif --latency-curve traces.otf2 -o curve.png
  tracekit whatif --measurement remove,event=0.5us traces.otf2 -o compensated.otf2
  tracekit whatif --each --measurement event=1us run-*.otf2 -o overhead.png
  tracekit whatif --replace-slowest 3% job`,
		Args: cobra.MinimumNArgs(1),
	}, &whatifOptions{}, runWhatif)
}

func (o *whatifOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.GateFlags)
	flags.Var(set, &o.scale, changes("scale", parseScale), "scale", "", "multiply the time at a place: `PLACE=FACTOR[@RANKS]`")
	flags.Var(set, &o.balance, changes("balance", atPlace(whatif.Balance)), "balance", "", "give each rank the mean time of all "+
		"ranks at this `PLACE`, visit by visit")
	flags.Var(set, &o.limit, changes("cap", atPlace(whatif.Cap)), "cap", "", "limit calls at this `PLACE` to their necessary time "+
		"(t_max)")
	flags.Var(set, &o.network, networks().Offering("ideal", "latency=", "bandwidth=", "latency=+", "byte=+"), "network", "",
		"another `network`: ideal (messages take no time), latency=1us,bandwidth=25GB per second, or one of these; "+
			"latency=+1us,byte=+0.1ns: slower than recorded")
	flags.Var(set, &o.speed, changes("rank-speed", parseRankSpeed), "rank-speed", "", "change the speed of computation: "+
		"`RANKS=FACTOR`, where 2 is twice as fast")
	flags.Var(set, &o.overlap, changes("nonblocking", atPlace(whatif.Nonblocking)), "nonblocking", "", "let blocking sends and "+
		"receives at this `PLACE` overlap with the following work")
	flags.Var(set, &o.order, changes("order", atPlace(whatif.Order)), "order", "", "let consecutive receives at this `PLACE` take "+
		"messages in the order of arrival")
	o.equal.add(set)
	o.measure.add(set)
	set.BoolVar(&o.gains, "gains", false, "try the most promising changes and list them by gain (default without a change)")
	set.BoolVar(&o.slack, "slack", false, "show how much later ranks could be without a later end, and nearly critical paths")
	o.curves.add(set)
	flags.Top(set, &o.top, "10")
	o.AddOut(set, "`trace` to write: the predicted run, or .png or .svg: the curve")
}

func (o *whatifOptions) Validate() error {
	if err := o.MergeFlags.Validate(); err != nil {
		return err
	}
	o.changes = slices.Concat(o.scale, o.balance, o.limit, o.network, o.speed, o.overlap, o.order)
	if len(o.network) > 1 {
		return cli.Usagef("--network is given twice")
	}
	texts, _ := o.equal.list()
	changed := len(o.changes)+len(texts)+len(o.measure.list) > 0
	if o.measure.runs {
		return o.checkRuns()
	}
	if err := o.curves.check(o.Paths, &o.OutFlags); err != nil || o.curves.format != "" {
		return err
	}
	if !changed && o.Out != "" {
		return cli.Usagef("-o needs a change: --scale, --balance, --cap, --network, --rank-speed, --nonblocking, --order or --measurement")
	}
	o.gains = o.gains || !changed && !o.slack && !o.curves.asked()
	return o.OutFlags.Validate()
}

// changes takes changes of a kind, which a function reads.
func changes(kind string, parse func(string) (func(*whatif.Model) (whatif.Change, error), error)) flags.Kind[[]changeFlag] {
	return flags.Repeated(flags.Parsed(func(value string) (changeFlag, error) {
		change, err := parse(value)
		return changeFlag{text: kind + " " + value, make: change}, err
	}))
}

// networks reads --network.
func networks() flags.Kind[[]changeFlag] {
	return flags.Repeated(flags.Parsed(func(value string) (changeFlag, error) {
		f := changeFlag{text: "network " + value}
		var err error
		if !strings.Contains(value, "=+") {
			f.make, err = parseNetwork(value)
			return f, err
		}
		s, err := parseSlowdown(value)
		f.slower = &s
		f.make = func(m *whatif.Model) (whatif.Change, error) { return m.Slower(s.latency, s.perByte), nil }
		return f, err
	}))
}

// atPlace returns the parser of changes that are told by their place alone.
func atPlace(change func(whatif.Place) whatif.Change) func(string) (func(*whatif.Model) (whatif.Change, error), error) {
	return func(value string) (func(*whatif.Model) (whatif.Change, error), error) {
		if value == "" {
			return nil, errors.New("want a place, such as a region, an operation or a line (halo.c:80)")
		}
		return func(m *whatif.Model) (whatif.Change, error) {
			place, err := m.Place(value)
			return change(place), err
		}, nil
	}
}

// parseScale reads PLACE=FACTOR[@RANKS].
func parseScale(value string) (func(*whatif.Model) (whatif.Change, error), error) {
	i := strings.LastIndexByte(value, '=')
	if i < 1 {
		return nil, errors.New("want PLACE=FACTOR or PLACE=FACTOR@RANKS, such as solve=0.5@0-3")
	}
	text, list, _ := strings.Cut(value[i+1:], "@")
	factor, err := parseFactor(text)
	if err != nil {
		return nil, err
	}
	ranks, err := flags.ParseRanks(list)
	if err != nil {
		return nil, err
	}
	return func(m *whatif.Model) (whatif.Change, error) {
		place, err := m.Place(value[:i])
		return whatif.Scale(place, factor, ranks...), err
	}, nil
}

func parseFactor(text string) (float64, error) {
	factor, err := strconv.ParseFloat(text, 64)
	if err != nil || !(factor >= 0 && factor <= 1e6) {
		return 0, fmt.Errorf("%q is not a factor: want a number from 0 to 1000000", text)
	}
	return factor, nil
}

// parseRankSpeed reads RANKS=FACTOR.
func parseRankSpeed(value string) (func(*whatif.Model) (whatif.Change, error), error) {
	list, text, ok := strings.Cut(value, "=")
	if !ok || list == "" {
		return nil, errors.New("want RANKS=FACTOR, such as 0-3=2")
	}
	factor, err := parseFactor(text)
	if err != nil {
		return nil, err
	}
	if factor == 0 {
		return nil, errors.New("a speed of 0 never ends; want more than 0")
	}
	ranks, err := flags.ParseRanks(list)
	return func(*whatif.Model) (whatif.Change, error) { return whatif.RankSpeed(factor, ranks...), nil }, err
}

// parseNetwork reads ideal, or latency= and bandwidth=.
func parseNetwork(value string) (func(*whatif.Model) (whatif.Change, error), error) {
	if value == "ideal" {
		return func(*whatif.Model) (whatif.Change, error) { return whatif.IdealNetwork(), nil }, nil
	}
	var latency time.Duration
	var bandwidth int64
	for _, part := range strings.Split(value, ",") {
		key, text, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "latency":
			latency, err = time.ParseDuration(text)
			if err == nil && (latency < 0 || latency > time.Hour) {
				err = fmt.Errorf("latency %s is not valid", latency)
			}
		case "bandwidth":
			bandwidth, err = flags.ParseSize(strings.TrimSuffix(text, "/s"))
			if err == nil && bandwidth < 1 {
				err = errors.New("bandwidth 0 is not valid")
			}
		default:
			err = errors.New("want ideal, latency=TIME, bandwidth=SIZE or both, with a comma between them")
		}
		if err != nil {
			return nil, err
		}
	}
	return func(m *whatif.Model) (whatif.Change, error) {
		return m.Network(float64(latency.Nanoseconds()), float64(bandwidth)), nil
	}, nil
}

func runWhatif(ctx context.Context, io *cli.Streams, opts *whatifOptions) error {
	if opts.measure.runs {
		return opts.predictRuns(ctx, io)
	}
	t, err := opts.Open(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if _, ok := opts.slower(); ok && !opts.slack {
		m, err := trainingModel(ctx, t, opts.Jobs)
		if err != nil {
			return err
		}
		if m != nil {
			return opts.predictTraining(ctx, io, t, m)
		}
	}
	options := analysis.Options{Top: 1}
	if len(opts.limit) > 0 {
		options.Overhead = &overhead.Options{PerCall: true}
	}
	a, err := opts.Analyze(ctx, io, t, options)
	if err != nil {
		return err
	}
	m, err := whatif.New(ctx, t, a, opts.Jobs)
	if err != nil {
		return err
	}
	m, other, undecided, err := settle(ctx, m)
	if err != nil {
		return err
	}
	doc := &outcome.Whatif{Schema: whatifSchema, Missing: t.Missing(), Trace: a.Trace, Changes: []string{}, Findings: a.Findings,
		Model: outcome.ReplayModel{Synchronous: m.Synchronous(), Negative: m.Negative, LeftOut: m.LeftOut, Devices: m.WaitsForDevices()}}
	var changes []whatif.Change
	for _, c := range opts.changes {
		change, err := c.make(m)
		if err != nil {
			return fmt.Errorf("--%s: %w", c.text, err)
		}
		changes, doc.Changes = append(changes, change), append(doc.Changes, c.text)
	}
	equal, err := opts.equal.changes(ctx, m, a)
	if err != nil {
		return err
	}
	texts, _ := opts.equal.list()
	changes, doc.Changes = append(changes, equal...), append(doc.Changes, texts...)
	measured, texts, err := opts.measure.changes(ctx, t, opts.Jobs)
	if err != nil {
		return err
	}
	changes, doc.Changes = append(changes, measured...), append(doc.Changes, texts...)
	p, err := opts.predict(ctx, io, t, m, changes, doc)
	if err != nil {
		return err
	}
	doc.Unremoved = p.Left
	if other != nil {
		q, err := other.Predict(ctx, changes...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			undecided.Predicted, doc.Undecided = q.RunTime, undecided
		}
	}
	if e := a.Efficiency; e != nil && slices.Contains(doc.Changes, "network ideal") {
		doc.ZeroCost = e.ZeroCostRuntimeNs
	}
	doc.Baseline, doc.Predicted, doc.Gain, doc.Ranks = p.Baseline, p.RunTime, p.Gain(), p.Ranks
	doc.Share = numbers.Ratio(doc.Gain, doc.Baseline)
	if opts.gains {
		if doc.Gains, err = m.Gains(ctx, a); err != nil {
			return err
		}
	}
	if opts.slack {
		if doc.Slack, err = slackOf(ctx, t, m, opts.top); err != nil {
			return err
		}
	}
	if err := opts.curves.find(ctx, m, other, changes, doc, &opts.OutFlags); err != nil {
		return err
	}
	return opts.Finish(io, doc, func() { show.Whatif(io.Sections(opts.top), doc) }, doc.Findings, opts.Gate(doc))
}

// settle chooses the model in which sends of which the run does not tell that wait for their
// receivers if they are likely to, and returns the other one too, nil if there is none.
func settle(ctx context.Context, m *whatif.Model) (chosen, other *whatif.Model, sends *outcome.UndecidedSends, err error) {
	u, err := m.Undecided(ctx)
	switch {
	case err != nil || u == nil:
		return m, nil, nil, err
	case u.Likely:
		return u.Other, m, &outcome.UndecidedSends{Bytes: u.Bytes, Wait: true}, nil
	}
	return m, u.Other, &outcome.UndecidedSends{Bytes: u.Bytes}, nil
}

// predict replays the run with changes, and writes it if that is asked for.
func (o *whatifOptions) predict(ctx context.Context, io *cli.Streams, t *trace.Trace, m *whatif.Model, changes []whatif.Change,
	doc *outcome.Whatif) (whatif.Prediction, error) {
	if o.Out == "" || o.curves.format != "" {
		return m.Predict(ctx, changes...)
	}
	maps, spans, p, err := m.Times(ctx, changes...)
	if err != nil {
		return p, err
	}
	moved := *t
	moved.Source = merge.Corrected(t)
	moved.Defs, moved.Clock.Maps, moved.Span = moved.Source.Defs(), maps, spans
	src := merge.Corrected(&moved)
	doc.Out = o.Out
	_, doc.Lost, err = o.WriteTrace(ctx, io, &o.ReadFlags, src, t.Store)
	return p, err
}

func slackOf(ctx context.Context, t *trace.Trace, m *whatif.Model, top int) (*outcome.Slack, error) {
	s, err := m.Slack(ctx, top)
	if err != nil {
		return nil, err
	}
	first, _ := scope.Run(t)
	ns := t.Defs.Clock.Nanoseconds
	out := &outcome.Slack{Ranks: make([]int64, len(t.World)), Next: []outcome.NextPath{}}
	for r, l := range t.World {
		if int(l) < len(s.Least) {
			out.Ranks[r] = ns(s.Least[l])
		}
	}
	for _, n := range s.Next {
		c := t.Calls[n.Location].At(int(n.Call))
		out.Next = append(out.Next, outcome.NextPath{Shorter: ns(n.Slack), Rank: field.Rank(t.Rank[n.Location]), Place: m.NameOf(c.Path),
			Start: ns(c.Enter - first)})
	}
	return out, nil
}
