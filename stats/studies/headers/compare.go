package headers

import (
	"cmp"
	"slices"

	"tracekit/document"
)

// ComparisonSchema names the JSON document that a Comparison is.
const ComparisonSchema = "tracekit.headers-comparison/1"

// A Comparison shows how two profiles differ: both views of the run, what explains the time beyond what messages need, and the model.
// It is the document that `tracekit compare --headers --json` prints.
type Comparison struct {
	Schema    string             `json:"schema"` // always ComparisonSchema
	A         document.TraceInfo `json:"a"`
	B         document.TraceInfo `json:"b"`
	Host      []MetricChange     `json:"host"`    // sums over ranks, the largest change first
	Message   []MetricChange     `json:"message"` // the path to the end
	Transfers []MetricChange     `json:"transfers"`
	Calls     []MetricChange     `json:"calls"`
	Counters  []CounterChange    `json:"counters"` // headers of the ranks that end last
	Model     [2]Model           `json:"model"`    // of A, of B
	FindingsA []document.Finding `json:"findings_a"`
	FindingsB []document.Finding `json:"findings_b"`
}

// A MetricChange is the time of a metric in two runs. ShareA and ShareB are of the whole of each view.
type MetricChange struct {
	Metric   string   `json:"metric"`
	ANs      int64    `json:"a_ns"`
	BNs      int64    `json:"b_ns"`
	ChangeNs int64    `json:"change_ns"`
	ShareA   *float64 `json:"share_a"`
	ShareB   *float64 `json:"share_b"`
	Derived  bool     `json:"derived"`
}

// A CounterChange is an explicit counter in two headers, beside the margins of the next paths; null: the header has no such counter.
type CounterChange struct {
	Metric    string `json:"metric"`
	ANs       *int64 `json:"a_ns"`
	BNs       *int64 `json:"b_ns"`
	MarginANs *int64 `json:"margin_a_ns"`
	MarginBNs *int64 `json:"margin_b_ns"`
	Derived   bool   `json:"derived"`
}

// Compare compares two profiles.
func Compare(a, b *Profile) *Comparison {
	c := &Comparison{Schema: ComparisonSchema, A: a.Trace, B: b.Trace, Host: changes(a.Host, b.Host), Message: changes(a.Message, b.Message),
		Counters: []CounterChange{}, Model: [2]Model{a.Model, b.Model}, FindingsA: a.Findings, FindingsB: b.Findings}
	transfers := func(x BeyondRow) int64 { return x.TransfersNs }
	calls := func(x BeyondRow) int64 { return x.CallsNs }
	c.Transfers = changes(a.Beyond.rows(transfers), b.Beyond.rows(transfers))
	c.Calls = changes(a.Beyond.rows(calls), b.Beyond.rows(calls))
	for side, p := range []*Profile{a, b} {
		for _, x := range p.last() {
			k := slices.IndexFunc(c.Counters, func(o CounterChange) bool { return o.Metric == x.Metric })
			if k < 0 {
				k, c.Counters = len(c.Counters), append(c.Counters, CounterChange{Metric: x.Metric, Derived: x.Derived})
			}
			if o := &c.Counters[k]; side == 0 {
				o.ANs, o.MarginANs = &x.TimeNs, x.MarginNs
			} else {
				o.BNs, o.MarginBNs = &x.TimeNs, x.MarginNs
			}
		}
	}
	return c
}

// last returns the counters of the rank that ends last.
func (p *Profile) last() []CounterRow {
	for _, r := range p.Ranks {
		if p.Path != nil && r.Rank == p.Path.Rank {
			return r.Counters
		}
	}
	return nil
}

// rows returns the parts as rows of metrics.
func (b *Beyond) rows(of func(BeyondRow) int64) (rows []MetricRow) {
	if b == nil {
		return nil
	}
	var whole int64
	for _, x := range b.Parts {
		whole += of(x)
	}
	for _, x := range b.Parts {
		if of(x) > 0 {
			rows = append(rows, MetricRow{x.Metric, of(x), share(of(x), whole), true})
		}
	}
	return rows
}

func changes(a, b []MetricRow) []MetricChange {
	out := []MetricChange{}
	for side, rows := range [][]MetricRow{a, b} {
		for _, x := range rows {
			k := slices.IndexFunc(out, func(o MetricChange) bool { return o.Metric == x.Metric })
			if k < 0 {
				k, out = len(out), append(out, MetricChange{Metric: x.Metric, Derived: x.Derived})
			}
			if o := &out[k]; side == 0 {
				o.ANs, o.ShareA = x.TimeNs, x.Share
			} else {
				o.BNs, o.ShareB = x.TimeNs, x.Share
			}
		}
	}
	for k := range out {
		out[k].ChangeNs = out[k].BNs - out[k].ANs
	}
	slices.SortStableFunc(out, func(x, y MetricChange) int {
		return cmp.Compare(max(y.ChangeNs, -y.ChangeNs), max(x.ChangeNs, -x.ChangeNs))
	})
	return out
}
