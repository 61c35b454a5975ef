package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/merge"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// whatifSchema names the JSON document of whatif.
const whatifSchema = "tracekit.whatif/1"

type whatifOptions struct {
	mergeFlags
	gateFlags
	outFlags
	paths []string
	gains bool
	slack bool
	top   int

	scale, balance, limit, network, speed, overlap, order []changeFlag

	changes []changeFlag
}

// A changeFlag is a change as it was asked for.
type changeFlag struct {
	text string // as in the document
	make func(m *whatif.Model) (whatif.Change, error)
}

// A whatifDocument says what changes would gain. Times are in ns, of ranks after the begin of
// the run.
type whatifDocument struct {
	Schema    string             `json:"schema"`
	Trace     document.TraceInfo `json:"trace"`
	Changes   []string           `json:"changes"`
	Baseline  int64              `json:"baseline_ns"`
	Predicted int64              `json:"predicted_ns"`
	Gain      int64              `json:"gain_ns"`
	Share     *float64           `json:"gain_share"` // of baseline_ns; null: that is 0
	Ranks     []whatif.RankTimes `json:"ranks"`
	Gains     []whatif.Gain      `json:"gains,omitempty"`
	Slack     *slackBlock        `json:"slack,omitempty"`
	Out       string             `json:"out,omitempty"`  // the trace that was written
	Lost      map[string]uint64  `json:"lost,omitempty"` // that its format cannot express, by what it is
	Model     whatifModel        `json:"model"`
	Undecided *undecidedSends    `json:"undecided,omitempty"` // not there: the run shows of all sends whether they wait
	Findings  []document.Finding `json:"findings"`

	missing []bool // by rank: nothing is recorded of it, and the text leaves it out
}

// A slackBlock says how much later the run as it is could have been without a later end: each
// rank at its most critical call, and the paths of calls that are next to the critical one.
type slackBlock struct {
	Ranks []int64    `json:"ranks"` // ns
	Next  []nextPath `json:"next"`
}

// A nextPath leads through a call, and is so much shorter than the critical path.
type nextPath struct {
	Shorter int64      `json:"shorter_ns"`
	Rank    field.Rank `json:"rank"`
	Place   string     `json:"place"`
	Start   int64      `json:"start_ns"` // of the call, after the begin of the run
}

// whatifModel says what the replay rests on.
type whatifModel struct {
	Synchronous *uint64 `json:"synchronous_bytes"` // size from which on sends wait for receivers; null: none is seen to
	Negative    uint64  `json:"negative_own_times"`
	LeftOut     uint64  `json:"left_out"`
	Devices     bool    `json:"waits_for_devices,omitempty"` // hosts wait for accelerators, which are not replayed
}

// undecidedSends are sends of which the run does not show whether they wait for their receivers.
type undecidedSends struct {
	Bytes     uint64 `json:"bytes"`        // from this size on
	Wait      bool   `json:"wait"`         // they are taken to: else nothing explains the time of the calls that complete them
	Predicted int64  `json:"predicted_ns"` // if it is the other way
}

func newWhatif(io *streams, run func(context.Context, *streams, *whatifOptions) error) *cobra.Command {
	opts := &whatifOptions{}
	cmd := &cobra.Command{
		Use:   "whatif TRACE...",
		Short: "Say how long the run would take if something in it were different",
		Long: `Whatif replays the run with changes: each rank does what it did in the same order, each
call keeps its own time, and all waits are found anew. Without a change every time of the
run comes out again, to the tick.

Changes can be repeated and combined. PLACE is a region, an operation such as MPI_Recv, a
line (halo.c:80), or one of the first two at a line or in a region (MPI_Recv@halo.c:80). Time
of a region is its own, without what it calls, and waits are left out: they follow.`,
		Example: `  tracekit whatif --balance interior traces.otf2
  tracekit whatif --scale solve=0.5@0-3 --network latency=1us,bandwidth=25GB traces.otf2
  tracekit whatif --gains traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	cli.Var(set, &opts.scale, changes("scale", parseScale), "scale", "", "make the time there longer or shorter: `PLACE=FACTOR[@RANKS]`")
	cli.Var(set, &opts.balance, changes("balance", atPlace(whatif.Balance)), "balance", "", "give each rank the mean over ranks of the "+
		"time at this `PLACE`, visit by visit")
	cli.Var(set, &opts.limit, changes("cap", atPlace(whatif.Cap)), "cap", "", "let calls at this `PLACE` take no longer than such "+
		"calls need (t_max)")
	cli.Var(set, &opts.network, changes("network", parseNetwork).Offering("ideal", "latency=", "bandwidth="), "network", "",
		"another `network`: ideal, or latency=1us,bandwidth=25GB (per second; either may be left out: it costs nothing)")
	cli.Var(set, &opts.speed, changes("rank-speed", parseRankSpeed), "rank-speed", "", "let ranks compute that many times as fast: "+
		"`RANKS=FACTOR`")
	cli.Var(set, &opts.overlap, changes("nonblocking", atPlace(whatif.Nonblocking)), "nonblocking", "", "let blocking sends and "+
		"receives at this `PLACE` overlap with what follows")
	cli.Var(set, &opts.order, changes("order", atPlace(whatif.Order)), "order", "", "let receives at this `PLACE` that follow each "+
		"other take messages as they come")
	set.BoolVar(&opts.gains, "gains", false, "try what promises most, and list it by gain")
	set.BoolVar(&opts.slack, "slack", false, "say how much later ranks could be without a later end of the run, and which paths are nearly critical")
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", "`rows` of each table")
	opts.outFlags.add(set, "`trace` to write: the run with the changes")
	return cmd
}

func (o *whatifOptions) validate() error {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	o.changes = slices.Concat(o.scale, o.balance, o.limit, o.network, o.speed, o.overlap, o.order)
	if len(o.network) > 1 {
		return usagef("--network: there is one network")
	}
	if len(o.changes) == 0 && !o.gains && !o.slack {
		return usagef("name a change (--scale, --balance, --cap, --network, --rank-speed, --nonblocking, --order), or let --gains try some; or ask for --slack")
	}
	return o.outFlags.validate()
}

// changes takes changes of a kind, which a function reads.
func changes(kind string, parse func(string) (func(*whatif.Model) (whatif.Change, error), error)) cli.Kind[[]changeFlag] {
	return cli.Repeated(cli.Parsed(func(value string) (changeFlag, error) {
		change, err := parse(value)
		return changeFlag{kind + " " + value, change}, err
	}))
}

// atPlace returns the parser of changes that are told by their place alone.
func atPlace(change func(whatif.Place) whatif.Change) func(string) (func(*whatif.Model) (whatif.Change, error), error) {
	return func(value string) (func(*whatif.Model) (whatif.Change, error), error) {
		if value == "" {
			return nil, errors.New("name a place")
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
	ranks, err := cli.ParseRanks(list)
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
		return 0, fmt.Errorf("%q is no factor: want a number from 0 to 1000000", text)
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
		return nil, errors.New("ranks that compute at speed 0 never end")
	}
	ranks, err := cli.ParseRanks(list)
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
				err = fmt.Errorf("a latency of %s makes no sense", latency)
			}
		case "bandwidth":
			bandwidth, err = cli.ParseSize(strings.TrimSuffix(text, "/s"))
			if err == nil && bandwidth < 1 {
				err = errors.New("a bandwidth of 0 makes no sense")
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

func runWhatif(ctx context.Context, io *streams, opts *whatifOptions) error {
	t, err := opts.open(ctx, io, opts.paths...)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	options := analysis.Options{Top: 1}
	if len(opts.limit) > 0 {
		options.Overhead = &overhead.Options{PerCall: true}
	}
	a, err := opts.analyze(ctx, io, t, options)
	if err != nil {
		return err
	}
	m, err := whatif.New(ctx, t, a, opts.jobs)
	if err != nil {
		return err
	}
	m, other, undecided, err := settle(ctx, m)
	if err != nil {
		return err
	}
	doc := &whatifDocument{Schema: whatifSchema, missing: t.Missing(), Trace: a.Trace, Changes: []string{}, Findings: a.Findings,
		Model: whatifModel{Synchronous: m.Synchronous(), Negative: m.Negative, LeftOut: m.LeftOut, Devices: m.WaitsForDevices()}}
	var changes []whatif.Change
	for _, c := range opts.changes {
		change, err := c.make(m)
		if err != nil {
			return fmt.Errorf("--%s: %w", c.text, err)
		}
		changes, doc.Changes = append(changes, change), append(doc.Changes, c.text)
	}
	p, err := opts.predict(ctx, io, t, m, changes, doc)
	if err != nil {
		return err
	}
	if other != nil {
		q, err := other.Predict(ctx, changes...)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			undecided.Predicted, doc.Undecided = q.RunTime, undecided
		}
	}
	doc.Baseline, doc.Predicted, doc.Gain, doc.Ranks = p.Baseline, p.RunTime, p.Gain(), p.Ranks
	if p.Baseline > 0 {
		share := float64(doc.Gain) / float64(doc.Baseline)
		doc.Share = &share
	}
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
	return opts.finish(io, doc, func() { doc.print(io, opts.top) }, doc.Findings, opts.gate(doc))
}

// settle chooses the model in which sends of which the run does not tell that wait for their
// receivers if they are likely to, and returns the other one too, nil if there is none.
func settle(ctx context.Context, m *whatif.Model) (chosen, other *whatif.Model, sends *undecidedSends, err error) {
	u, err := m.Undecided(ctx)
	switch {
	case err != nil || u == nil:
		return m, nil, nil, err
	case u.Likely:
		return u.Other, m, &undecidedSends{Bytes: u.Bytes, Wait: true}, nil
	}
	return m, u.Other, &undecidedSends{Bytes: u.Bytes}, nil
}

// predict replays the run with changes, and writes it if that is asked for.
func (o *whatifOptions) predict(ctx context.Context, io *streams, t *trace.Trace, m *whatif.Model, changes []whatif.Change, doc *whatifDocument) (whatif.Prediction, error) {
	if o.out == "" {
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
	doc.Out = o.out
	_, doc.Lost, err = o.write(ctx, io, &o.readFlags, src, t.Store)
	return p, err
}

func slackOf(ctx context.Context, t *trace.Trace, m *whatif.Model, top int) (*slackBlock, error) {
	s, err := m.Slack(ctx, top)
	if err != nil {
		return nil, err
	}
	first, _ := scope.Run(t)
	ns := t.Defs.Clock.Nanoseconds
	out := &slackBlock{Ranks: make([]int64, len(t.World)), Next: []nextPath{}}
	for r, l := range t.World {
		if int(l) < len(s.Least) {
			out.Ranks[r] = ns(s.Least[l])
		}
	}
	for _, n := range s.Next {
		c := t.Calls[n.Location].At(int(n.Call))
		out.Next = append(out.Next, nextPath{ns(n.Slack), field.Rank(t.Rank[n.Location]), m.NameOf(c.Path), ns(c.Enter - first)})
	}
	return out, nil
}

func (doc *whatifDocument) print(io *streams, top int) {
	w := io.Out
	report.PrintRebuilt(io.Out, "", doc.Trace.Rebuilt)
	fmt.Fprintf(w, "%s: run time %s\n", doc.Trace.Path, words.Time(doc.Baseline))
	for _, said := range doc.modelNotes() {
		fmt.Fprintln(w, text.Wrap(said, io.Width, 0))
	}
	if len(doc.Changes) > 0 {
		fmt.Fprintf(w, "With %s: %s, %s\n", strings.Join(doc.Changes, ", "), words.Time(doc.Predicted), gained(doc.Gain, doc.Share))
		if note := doc.undecidedNote(); note != "" {
			fmt.Fprintln(w, text.Wrap(note, io.Width, 0))
		}
		doc.printRanks(io, top)
	}
	if doc.Out != "" {
		fmt.Fprintf(w, "\nThe run with these changes: %s\n", doc.Out)
		for _, what := range sortedKeys(doc.Lost) {
			fmt.Fprintf(w, "  not in it: %s %s\n", words.Count(doc.Lost[what]), what)
		}
	}
	if len(doc.Gains) > 0 {
		shown := doc.Gains[:min(top, len(doc.Gains))]
		g := &text.Grid{Heading: "Gains", Titles: []string{"<place", "<change", "gain", "share"}}
		note := "Wall time by which the run would be shorter with each change alone. Balance: each rank gets the mean over ranks; scale: " +
			"the time there is that many times as long. Gains do not add up"
		if slices.ContainsFunc(shown, whatif.Gain.Together) {
			note += "; the row of several places is of all these changes together"
		}
		g.Note(note + ".")
		if n := alike(doc.Gains); n > 1 {
			g.Note(fmt.Sprintf("The first %d gain the same: then something else takes as long.", n))
		}
		for _, x := range shown {
			g.Add(x.Place, x.Change, signed(x.GainNs), words.ShareOrDash(x.Share))
		}
		g.Print(w, io.Width)
	}
	if doc.Slack != nil {
		doc.Slack.print(io, top, doc.missing)
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(w, io.Width, "Findings", doc.Findings)
	}
}

// alike returns how many of the first gains are about the same.
func alike(gains []whatif.Gain) int {
	n := 0
	for n < len(gains) && whatif.Alike(gains[0].GainNs, gains[n].GainNs) {
		n++
	}
	return n
}

// modelNotes say what a reader should know about the replay of this trace.
func (doc *whatifDocument) modelNotes() (notes []string) {
	if n := doc.Model.Negative; n > 0 {
		notes = append(notes, fmt.Sprintf("Model: %s before what they waited for, as clocks disagree: that stays as it is.",
			words.Plural(int(n), "call ends", "calls end")))
	}
	if n := doc.Model.LeftOut; n > 0 {
		notes = append(notes, fmt.Sprintf("Model: %s left out, which come after the calls that receive them have ended.",
			words.Plural(int(n), "message is", "messages are")))
	}
	if doc.Model.Devices {
		notes = append(notes, "Model: accelerators are not replayed: calls that wait for them keep their time, and other changes may gain less.")
	}
	return notes
}

// undecidedNote says what the prediction would be if sends did, or did not, wait for receivers as
// the model assumes; "" if it would be about the same.
func (doc *whatifDocument) undecidedNote() string {
	u := doc.Undecided
	if u == nil || max(u.Predicted-doc.Predicted, doc.Predicted-u.Predicted) < doc.Predicted/200 {
		return ""
	}
	if u.Wait {
		return fmt.Sprintf("Sends of %s and more are taken to wait for their receivers, as nothing else explains how long the calls take that complete them. If they do not: %s.",
			words.Bytes(u.Bytes), words.Time(u.Predicted))
	}
	return fmt.Sprintf("The run does not show whether sends of %s and more wait for their receivers: none is completed so early or so late that it tells. If they do: %s.",
		words.Bytes(u.Bytes), words.Time(u.Predicted))
}

func gained(gain int64, share *float64) string {
	switch {
	case gain == 0:
		return "as long as before"
	case gain < 0:
		loss := -*share
		return fmt.Sprintf("%s (%s) longer", words.Time(-gain), words.ShareOrDash(&loss))
	}
	return fmt.Sprintf("%s (%s) shorter", words.Time(gain), words.ShareOrDash(share))
}

func signed(ns int64) string {
	if ns < 0 {
		return "-" + words.Time(-ns)
	}
	return words.Time(ns)
}

// printRanks prints when the ranks end whose end moves most.
func (doc *whatifDocument) printRanks(io *streams, top int) {
	type row struct {
		rank int
		whatif.RankTimes
	}
	var rows []row
	for r, t := range doc.Ranks {
		if !doc.missing[r] {
			rows = append(rows, row{r, t})
		}
	}
	moved := func(r row) int64 { return max(r.Predicted-r.Baseline, r.Baseline-r.Predicted) }
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(moved(b), moved(a)) })
	g := &text.Grid{Heading: "Ends of ranks", Titles: []string{"rank", "recorded", "predicted", "earlier"}}
	g.Note("After the begin of the run; those that move most first.")
	for _, r := range rows[:min(top, len(rows))] {
		g.Add(strconv.Itoa(r.rank), words.Time(r.Baseline), words.Time(r.Predicted), signed(r.Baseline-r.Predicted))
	}
	g.Print(io.Out, io.Width)
}

func (s *slackBlock) print(io *streams, top int, missing []bool) {
	g := &text.Grid{Heading: "Slack of ranks", Titles: []string{"rank", "slack"}}
	g.Note("How much later a rank could be, at its most critical call, without a later end of the run; the least first. Ranks without slack " +
		"lie on the critical path.")
	var ranks []int
	for r := range s.Ranks {
		if !missing[r] {
			ranks = append(ranks, r)
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(s.Ranks[a], s.Ranks[b]) })
	for _, r := range ranks[:min(top, len(ranks))] {
		g.Add(strconv.Itoa(r), words.Time(s.Ranks[r]))
	}
	g.Print(io.Out, io.Width)
	g = &text.Grid{Heading: "Next paths", Titles: []string{"shorter by", "rank", "<through", "at"}}
	g.Note("The longest paths that are not critical, each by a call that it leads through: no gain at one place makes the run shorter by " +
		"more than the first of them lacks, unless the place is on that path too.")
	for _, p := range s.Next {
		g.Add(words.Time(p.Shorter), words.Rank(p.Rank), p.Place, words.Time(p.Start))
	}
	g.Print(io.Out, io.Width)
}
