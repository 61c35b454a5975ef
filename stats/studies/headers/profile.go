package headers

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/stats/analysis"
	"tracekit/stats/fit"
	"tracekit/stats/measurement"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// Schema names the JSON document that a Profile is.
const Schema = "tracekit.headers/1"

// Options says how headers are made. The zero value of each but Layout is a sensible default.
type Options struct {
	Jobs   int
	Layout Layout
	Mask   []string // metrics that are never shown explicitly

	// Exact takes the time of transfers from the trace, whose clocks know both ends. Without it
	// headers hold what a rank could know: the model's time.
	Exact bool

	// Cost says what a message costs that carries a header. The trace was not taken with it, so that it is no part of any other time.
	Cost measurement.Costs

	Ranks []uint32  // selected, in any order; empty: all
	Pair  [2]uint32 // the two designated ranks of sampling; the same one twice: two that lie opposite
}

// A Profile holds the message-centric and the host-centric profile of a run. It is the document that
// `tracekit headers --json` prints.
type Profile struct {
	Schema    string              `json:"schema"` // always Schema
	Trace     document.TraceInfo  `json:"trace"`
	Selection *document.Selection `json:"selection,omitempty"` // nil: the whole trace
	Layout    LayoutRow           `json:"layout"`
	Host      []MetricRow         `json:"host"` // what the selected ranks did, summed over them
	// time on the path that led to the end of the run, without the limit of the counters
	Message  []MetricRow        `json:"message"`
	Beyond   *Beyond            `json:"beyond"` // of the times of Message; null: no rank has events
	Sizes    []SizeRow          `json:"sizes"`  // ascending
	Ranks    []RankRow          `json:"ranks"`  // at the end of the run, ascending
	Path     *Path              `json:"path"`   // null: no rank has events
	Sampling *Sampling          `json:"sampling"`
	Model    Model              `json:"model"`
	Findings []document.Finding `json:"findings"`
}

// A LayoutRow says what a header is in a message.
type LayoutRow struct {
	Bytes    int `json:"bytes"`
	Counters int `json:"counters"`
}

// A MetricRow is the time of one metric. Derived is true of what a model made: a trace holds no
// time of the wire, and none of copying. Share is null of nothing.
type MetricRow struct {
	Metric  string   `json:"metric"`
	TimeNs  int64    `json:"time_ns"`
	Share   *float64 `json:"share"`
	Derived bool     `json:"derived"`
}

// A SizeRow compares both views for the messages of From to To-1 bytes. Host is what the ranks
// that complete their receives (or, blocked in a send, their sends) did since their last
// merges; Message is the paths from the last merges before: where the rank waited, over the one
// that it waited for. What ends in a collective, or at the end of the run, is in no row.
type SizeRow struct {
	From     uint64      `json:"from"`
	To       uint64      `json:"to"`
	Messages uint64      `json:"messages"`
	Host     []MetricRow `json:"host"`
	Message  []MetricRow `json:"message"`
}

// A CounterRow is one explicit counter.
type CounterRow struct {
	Metric   string `json:"metric"`
	TimeNs   int64  `json:"time_ns"`
	MarginNs *int64 `json:"margin_ns,omitempty"` // so much of it can go before another path is the longest; none of a mean
	Derived  bool   `json:"derived"`
}

// A RankRow is the summary of a rank at its last event. Hops is null in the layout that has
// none, MonitoringNs in the one that has no counter for it.
type RankRow struct {
	Rank         uint32       `json:"rank"`
	Counters     []CounterRow `json:"counters"`
	OtherNs      int64        `json:"other_ns"`
	TotalNs      int64        `json:"total_ns"`
	Hops         *uint32      `json:"hops"`
	MonitoringNs *int64       `json:"monitoring_ns"`
}

// Path compares the header at the end of the run, that of the rank which ends last, with the
// critical path of DEFINITIONS 2.4. ErrorShare is the difference of the totals, of the length.
// CompositionErrorShare is how much of the path the header does not name rightly, for it is
// missing, in OTHER or under another metric; of computation, by region, the critical path is
// compared, of MPI the sum alone, for the path does not separate its parts.
type Path struct {
	Rank                  uint32   `json:"rank"`
	LengthNs              int64    `json:"length_ns"`
	HeaderNs              int64    `json:"header_ns"`
	ErrorShare            *float64 `json:"error_share"`
	CompositionErrorShare *float64 `json:"composition_error_share"`
	OtherShare            *float64 `json:"other_share"` // of the header's total
	Hops                  uint32   `json:"hops"`
	Unmerged              uint64   `json:"unmerged"` // waits that stay waits, for those who caused them had not got there
}

// Beyond is what transfers and calls on the path took beyond what they need, by what explains it. The parts sum to both wholes.
type Beyond struct {
	TransfersNs int64        `json:"transfers_ns"`
	CallsNs     int64        `json:"calls_ns"` // of calls that did not wait
	Parts       []BeyondRow  `json:"parts"`
	Missing     []MissingRow `json:"missing"` // of unexplained transfers
	Local       LocalRow     `json:"local"`
}

// A BeyondRow is a part. Of calls, what is unexplained stays overhead in other tables.
type BeyondRow struct {
	Metric      string `json:"metric"`
	TransfersNs int64  `json:"transfers_ns"`
	CallsNs     int64  `json:"calls_ns"`
}

// A MissingRow is the time that a record would explain which the trace lacks.
type MissingRow struct {
	Record string `json:"record"` // MissingNode or MissingProgress
	TimeNs int64  `json:"time_ns"`
}

// The records that may be missing.
const (
	MissingNode     = "node"     // the machine of both ranks in the system tree
	MissingProgress = "progress" // enough messages to show whether they go on while a rank is in no call of MPI
)

// A LocalRow has the calls of the whole run that no other rank can delay, since they only start a send or a receive.
type LocalRow struct {
	Calls  uint64 `json:"calls"`
	TimeNs int64  `json:"time_ns"`
	NeedNs int64  `json:"need_ns"` // if each took as long as the fastest of its function
}

// Sampling is what two designated ranks read in rounds.
type Sampling struct {
	Ranks     [2]uint32 `json:"ranks"`
	HopLimits [2]uint32 `json:"hop_limits"` // of what each of them injects
	Rounds    []Round   `json:"rounds"`
}

// A Round is the readings under one mask: the means of their counters.
type Round struct {
	Masked   []string     `json:"masked"`
	Readings int          `json:"readings"`
	Counters []CounterRow `json:"counters"`
	OtherNs  int64        `json:"other_ns"`
}

// A Model is what was derived: see Wire and Calls. Times are in ns.
type Model struct {
	Wire         *LineRow  `json:"wire"`           // of the smallest transfers of all messages that somebody waited for; null: there are none
	Sizes        int       `json:"sizes"`          // classes of sizes that Wire is fitted to
	SizesForBend int       `json:"sizes_for_bend"` // that Bend needs
	Bend         *BendRow  `json:"bend"`           // null: too few classes of sizes
	Pairs        int       `json:"pairs"`          // of nodes with a law of their own
	Calls        []CallRow `json:"calls"`
}

// A BendRow is the network in two pieces. The law changes between two sizes that were seen. If Accepted it stands in place of Wire.
type BendRow struct {
	AboveBytes uint64  `json:"above_bytes"`
	FromBytes  uint64  `json:"from_bytes"`
	PValue     float64 `json:"p_value"` // of an improvement like this where there is one line
	Accepted   bool    `json:"accepted"`
	Eager      LineRow `json:"eager"`
	Rendezvous LineRow `json:"rendezvous"`
}

// A LineRow is a line over bytes.
type LineRow struct {
	FloorNs   float64 `json:"floor_ns"`
	PerByteNs float64 `json:"per_byte_ns"`
}

// A CallRow is what calls of a class take by themselves: at least, and beyond that for each
// byte that they copy. Accepted says that the latter is seen.
type CallRow struct {
	Calls     string  `json:"calls"`
	Side      string  `json:"side"` // send or receive
	FloorNs   float64 `json:"floor_ns"`
	PerByteNs float64 `json:"per_byte_ns"`
	PValue    float64 `json:"p_value"` // of the growth
	Accepted  bool    `json:"accepted"`
}

// Make makes the profile of a trace from its analysis, which may select a part of the run but
// no ranks. Its tables lie in the trace's Store.
func Make(ctx context.Context, t *trace.Trace, a *analysis.Result, opts Options) (*Profile, error) {
	r := &run{t: t, waits: a.Waits, segments: a.Segments, metrics: newMetrics(t, a), windowed: a.Selection != nil}
	selected, err := selectRanks(t, opts.Ranks)
	if err != nil {
		return nil, err
	}
	if r.costs, err = newCosts(ctx, r, opts.Jobs); err != nil {
		return nil, fmt.Errorf("finding what messages cost: %w", err)
	}
	for l := range t.Calls {
		r.nodes = append(r.nodes, t.Defs.Node(trace.LocationID(l)))
	}
	r.inside, err = r.newInside(ctx)
	defer r.inside.release()
	if err != nil {
		return nil, fmt.Errorf("adding up calls: %w", err)
	}
	if r.progresses, err = r.newProgress(ctx, opts.Jobs); err != nil {
		return nil, fmt.Errorf("looking at messages: %w", err)
	}
	p := newReplay(r, selected)
	defer p.release()
	p.exact = opts.Exact
	if p.mask, err = r.metrics.mask(opts.Mask); err != nil {
		return nil, err
	}
	p.self = int64(opts.Cost.Header * float64(t.Defs.Clock.Resolution) / 1e9)
	if err := p.play(ctx); err != nil {
		return nil, fmt.Errorf("replaying headers: %w", err)
	}
	doc := &profiled{replay: p, a: a, opts: opts}
	return doc.document(ctx)
}

// selectRanks returns which locations are the master threads of selected ranks.
func selectRanks(t *trace.Trace, ranks []uint32) ([]bool, error) {
	chosen := make([]bool, len(t.World))
	for _, r := range ranks {
		if int(r) >= len(t.World) {
			return nil, fmt.Errorf("selecting ranks: %w", trace.NoRank(int(r), len(t.World)))
		}
		chosen[r] = true
	}
	out := make([]bool, len(t.Calls))
	for r, l := range t.World {
		if int(l) < len(out) && t.Span[l].Events > 0 {
			out[l] = len(ranks) == 0 || chosen[r]
		}
	}
	return out, nil
}

// mask returns the mask of metrics.
func (m *metrics) mask(names []string) (mask uint64, err error) {
	for _, name := range names {
		tag, ok := m.tag(name)
		switch {
		case !ok:
			return 0, fmt.Errorf("masking: no metric %q; metrics are %s", name, strings.Join(m.names[1:], ", "))
		case tag >= 64:
			return 0, fmt.Errorf("masking: %q is metric %d, but a mask holds 63", name, tag)
		}
		mask |= 1 << tag
	}
	return mask, nil
}

// profiled makes the document of a replay that was played.
type profiled struct {
	*replay
	a    *analysis.Result
	opts Options
}

func (p *profiled) document(ctx context.Context) (*Profile, error) {
	doc := &Profile{Schema: Schema, Trace: p.a.Trace, Selection: p.selection(), Findings: p.a.Findings,
		Layout: LayoutRow{int(p.opts.Layout), p.opts.Layout.Counters()}, Host: p.rows(p.host), Message: []MetricRow{}, Sizes: []SizeRow{},
		Ranks: []RankRow{}}
	if r := doc.Trace.Rebuilt; r != nil {
		doc.Trace.Rebuilt = &document.Rebuilt{From: r.From, Approximate: r.Approximate,
			Modelled: []string{"host", "message", "model", "path", "ranks", "sampling", "sizes"}}
	}
	for k := range p.sizes {
		if s := &p.sizes[k]; s.messages > 0 || len(p.rows(s.host)) > 0 {
			doc.Sizes = append(doc.Sizes, SizeRow{From: classFrom(k), To: classFrom(k + 1), Messages: s.messages, Host: p.rows(s.host),
				Message: p.rows(s.message)})
		}
	}
	last := trace.LocationID(trace.None)
	for r, l := range p.t.World {
		if int(l) >= len(p.ranks) || p.t.Span[l].Events == 0 || p.segments[l].Len() != p.t.Calls[l].Len() {
			continue
		}
		if last == trace.None || p.t.Span[l].Last > p.t.Span[last].Last {
			last = l
		}
		if p.counted[l] {
			doc.Ranks = append(doc.Ranks, p.rank(uint32(r), &p.ranks[l].summary))
		}
	}
	if last != trace.None {
		times, beyond, err := p.composition(ctx, last)
		if err != nil {
			return nil, err
		}
		doc.Message, doc.Path, doc.Beyond = p.rows(times), p.path(last), p.excess(&beyond)
	}
	doc.Model = p.model()
	var err error
	doc.Sampling, err = p.sample(ctx)
	return doc, err
}

// excess describes what the path took beyond what it needs. Sums are converted, so that the parts add up.
func (p *profiled) excess(e *excess) *Beyond {
	out := &Beyond{Parts: []BeyondRow{}, Missing: []MissingRow{}, Local: LocalRow{p.costs.local.calls, p.ns(p.costs.local.time),
		p.ns(p.costs.local.needs)}}
	var transfers, calls int64
	for tag := tagQueued; tag <= tagUnexplained; tag++ {
		transfers, calls = transfers+e.transfers[tag], calls+e.calls[tag]
		row := BeyondRow{p.metrics.names[tag], p.ns(transfers) - out.TransfersNs, p.ns(calls) - out.CallsNs}
		out.TransfersNs, out.CallsNs = p.ns(transfers), p.ns(calls)
		out.Parts = append(out.Parts, row)
	}
	for _, m := range []MissingRow{{MissingNode, p.ns(e.missing.node)}, {MissingProgress, p.ns(e.missing.progress)}} {
		if m.TimeNs > 0 {
			out.Missing = append(out.Missing, m)
		}
	}
	return out
}

// selection returns the block that says what was selected.
func (p *profiled) selection() *document.Selection {
	if len(p.opts.Ranks) == 0 {
		return p.a.Selection
	}
	s := document.Selection{FromNs: p.a.Trace.StartNs, ToNs: p.a.Trace.EndNs}
	if p.a.Selection != nil {
		s = *p.a.Selection
	}
	s.Ranks = slices.Compact(slices.Sorted(slices.Values(p.opts.Ranks)))
	return &s
}

// classFrom returns the smallest size of class k of sizes.
func classFrom(k int) uint64 {
	switch {
	case k == 0:
		return 0
	case k > 64:
		return 1<<64 - 1
	}
	return 1 << (k - 1)
}

func (p *profiled) ns(ticks int64) int64 { return p.t.Defs.Clock.Nanoseconds(ticks) }

// rows lists times by tag, the largest first; converted, they add up to what the sum is converted.
func (p *profiled) rows(times []int64) []MetricRow {
	rows := []MetricRow{}
	var sum int64
	for tag, time := range times {
		before := p.ns(sum)
		sum += time
		if time != 0 {
			rows = append(rows, MetricRow{Metric: p.metrics.names[tag], TimeNs: p.ns(sum) - before, Derived: isDerived(uint8(tag))})
		}
	}
	for i := range rows {
		rows[i].Share = share(rows[i].TimeNs, p.ns(sum))
	}
	slices.SortStableFunc(rows, func(a, b MetricRow) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	return rows
}

func share(part, whole int64) *float64 { return numbers.Known(float64(part) / float64(whole)) }

// counters lists the explicit counters of a header, the largest first.
func (p *profiled) counters(h *Header) []CounterRow {
	rows := []CounterRow{}
	for i, tag := range h.Tags {
		if tag != 0 {
			margin := p.ns(int64(h.Margins[i]))
			rows = append(rows, CounterRow{p.metrics.names[tag], p.ns(int64(h.Times[i])), &margin, isDerived(tag)})
		}
	}
	return rows
}

// rank returns the summary of a rank as a message of the layout would carry it.
func (p *profiled) rank(rank uint32, h *Header) RankRow {
	seen, err := p.opts.Layout.Decode(p.opts.Layout.Append(nil, h))
	if err != nil {
		panic("headers: a header does not fit its layout: " + err.Error())
	}
	seen.Margins = h.Margins
	row := RankRow{Rank: rank, Counters: p.counters(&seen), OtherNs: p.ns(int64(seen.Other)), TotalNs: p.ns(int64(seen.Total()))}
	if p.opts.Layout == Layout96 {
		self := p.ns(int64(seen.Self))
		row.MonitoringNs = &self
	} else {
		row.Hops = &seen.Hops
	}
	return row
}

// path compares the header at the end of a location with the critical path.
func (p *profiled) path(last trace.LocationID) *Path {
	h := &p.ranks[last].summary
	out := &Path{Rank: p.t.Rank[last], HeaderNs: p.ns(int64(h.Total())), Hops: h.Hops, Unmerged: p.unmerged}
	out.OtherShare = share(p.ns(int64(h.Other)), out.HeaderNs)
	if p.a.CriticalPath == nil {
		return out
	}
	out.LengthNs = p.a.CriticalPath.LengthNs
	out.ErrorShare = share(max(out.HeaderNs-out.LengthNs, out.LengthNs-out.HeaderNs), out.LengthNs)
	on := make(map[string]int64)
	for _, row := range p.a.CriticalPath.Regions {
		on[p.metrics.ofPath(row)] += row.TimeNs
	}
	shown := make(map[string]int64)
	for i, tag := range h.Tags {
		if tag != 0 {
			shown[p.metrics.group(tag)] += p.ns(int64(h.Times[i]))
		}
	}
	var missed int64
	for name, time := range on {
		missed += max(0, time-shown[name])
	}
	out.CompositionErrorShare = share(missed, out.LengthNs)
	return out
}

// anyMPI stands for all metrics of MPI.
const anyMPI = "MPI"

// ofPath returns the metric of a row of the critical path.
func (m *metrics) ofPath(row document.CriticalRow) string {
	switch {
	case row.Operation != "":
		return anyMPI
	case row.Region == field.BufferFlush || row.Region == field.RecordingOff:
		return OutsideRegions
	case row.Region == field.NotRecorded || row.Region == field.OutsideRegions:
		return string(row.Region[1 : len(row.Region)-1])
	}
	return m.ofRegion(string(row.Region))
}

// group returns the metric under which the critical path has what a tag counts. It has no waits.
func (m *metrics) group(tag uint8) string {
	switch tag {
	case tagWait, tagOutside, tagNotRecorded:
		return m.names[tag]
	}
	if tag < firstRegion {
		return anyMPI
	}
	return m.names[tag]
}

// model describes what was derived.
func (p *profiled) model() Model {
	perTick := 1e9 / float64(p.t.Defs.Clock.Resolution)
	m := Model{Pairs: len(p.costs.pairs), Calls: []CallRow{}}
	line := func(l fit.Line) LineRow { return LineRow{max(0, l.Intercept) * perTick, max(0, l.Slope) * perTick} }
	w := p.costs.wire
	m.Sizes, m.SizesForBend = w.low.Points, fit.LeastBent
	if w.low.Points > 0 {
		wire := line(w.low)
		m.Wire = &wire
	}
	if b := w.bend; b != nil {
		m.Bend = &BendRow{AboveBytes: b.above, FromBytes: b.from, PValue: b.P, Accepted: b.accepted, Eager: line(b.Low), Rendezvous: line(b.High)}
	}
	names := map[trace.CallClass]string{trace.ClassSend: "MPI_Send, MPI_Ssend", trace.ClassBsend: "MPI_Bsend, MPI_Rsend",
		trace.ClassIsend: "MPI_Isend …",
		trace.ClassRecv:  "MPI_Recv", trace.ClassIrecv: "MPI_Irecv", trace.ClassSendrecv: "MPI_Sendrecv", trace.ClassWait: "MPI_Wait …",
		trace.ClassStart: "MPI_Start …"}
	for _, key := range p.costs.sortedKeys() {
		c := p.costs.own[key]
		side := "send"
		if key.tag == tagReceive {
			side = "receive"
		}
		m.Calls = append(m.Calls, CallRow{Calls: names[key.class], Side: side, FloorNs: c.floor * perTick, PerByteNs: c.perByte * perTick,
			PValue: c.line.P, Accepted: c.perByte > 0})
	}
	return m
}

// sample replays the sampling, nil where it cannot be: without a hop count, or without messages.
func (p *profiled) sample(ctx context.Context) (*Sampling, error) {
	if p.opts.Layout == Layout96 {
		return nil, nil
	}
	g := newGraph(p.a.CommMatrix, len(p.t.World))
	a, b, ok := g.opposite()
	if want := p.opts.Pair; want[0] != want[1] {
		if int(max(want[0], want[1])) >= len(p.t.World) {
			return nil, fmt.Errorf("sampling: %w", trace.NoRank(int(max(want[0], want[1])), len(p.t.World)))
		}
		a, b, ok = want[0], want[1], true
	}
	if !ok {
		return nil, nil
	}
	there, back := g.hops(a, b), g.hops(b, a)
	out := &Sampling{Ranks: [2]uint32{a, b}, HopLimits: [2]uint32{uint32(there), uint32(back)}, Rounds: []Round{}}
	s := newSampling(p.run, [2]designated{{location: p.t.World[a], hops: uint32(there)}, {location: p.t.World[b], hops: uint32(back)}}, g)
	defer s.release()
	if err := s.play(ctx); err != nil {
		return nil, fmt.Errorf("replaying sampling: %w", err)
	}
	for _, r := range s.rounds {
		out.Rounds = append(out.Rounds, p.round(r))
	}
	return out, nil
}

// round describes a round.
func (p *profiled) round(r *round) Round {
	out := Round{Masked: []string{}, Readings: r.count, Counters: []CounterRow{}}
	for mask := r.mask; mask != 0; mask &= mask - 1 {
		out.Masked = append(out.Masked, p.metrics.names[bits.TrailingZeros64(mask)])
	}
	for tag, mean := range mean(r.readings) {
		switch time := p.ns(int64(mean + 0.5)); {
		case tag == 0:
			out.OtherNs = time
		case mean > 0:
			out.Counters = append(out.Counters, CounterRow{p.metrics.names[tag], time, nil, isDerived(uint8(tag))})
		}
	}
	slices.SortStableFunc(out.Counters, func(a, b CounterRow) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	return out
}
