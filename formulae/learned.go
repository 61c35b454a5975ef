package formulae

import (
	"context"

	"tracekit/engine"
	"tracekit/trace"
)

// Learned says how much of the sequences of each category was learned.
type Learned struct {
	SendReceivers Share `json:"send_receivers"`
	RecvSenders   Share `json:"recv_senders"`
	SendTags      Share `json:"send_tags"`
	RecvTags      Share `json:"recv_tags"`
	Branches      Share `json:"branches"`
	Iterations    Share `json:"iterations"`
}

// A Share counts the constructs of a category: call paths of MPI functions with a kind of
// event and a communicator (receivers, senders, tags), call paths that call others
// (branches), loops (iterations), on each location.
type Share struct {
	Constructs uint64  `json:"constructs"`
	Learned    uint64  `json:"learned"`
	Static     float64 `json:"static"`  // Learned / Constructs
	Dynamic    float64 `json:"dynamic"` // the same, each construct counting as often as it took place
	ByKind     ByKind  `json:"by_kind"`

	values, learnedValues uint64
}

// ByKind counts constructs by the kind of their formula.
type ByKind struct {
	Identity  uint64 `json:"identity"`
	General   uint64 `json:"general"`
	Iteration uint64 `json:"iteration"`
	Cycle     uint64 `json:"cycle"`
	Failed    uint64 `json:"failed"`
}

// add counts a construct.
func (s *Share) add(l *Learner) {
	kind := l.Formula().Kind
	s.Constructs++
	s.values += l.seen
	if kind != Failed {
		s.Learned++
		s.learnedValues += l.seen
	}
	switch kind {
	case Identity:
		s.ByKind.Identity++
	case General:
		s.ByKind.General++
	case Iteration:
		s.ByKind.Iteration++
	case Cycle:
		s.ByKind.Cycle++
	case Failed:
		s.ByKind.Failed++
	}
}

// finish computes the shares; nothing of nothing is all.
func (s *Share) finish() {
	s.Static, s.Dynamic = 1, 1
	if s.Constructs > 0 {
		s.Static = float64(s.Learned) / float64(s.Constructs)
	}
	if s.values > 0 {
		s.Dynamic = float64(s.learnedValues) / float64(s.values)
	}
}

// All returns the shares of the six categories with their names.
func (l *Learned) All() []NamedShare {
	return []NamedShare{{"send_receivers", &l.SendReceivers}, {"recv_senders", &l.RecvSenders}, {"send_tags", &l.SendTags},
		{"recv_tags", &l.RecvTags}, {"branches", &l.Branches}, {"iterations", &l.Iterations}}
}

// A NamedShare is a category's name and share.
type NamedShare struct {
	Name string
	*Share
}

// LearnedOf counts the constructs of call trees.
func LearnedOf(trees []*CallTree) *Learned {
	l := &Learned{}
	for _, t := range trees {
		for _, n := range t.nodes {
			l.node(n)
		}
	}
	for _, s := range l.All() {
		s.finish()
	}
	return l
}

// node counts the constructs of a node: its events by category, its loops, its branches.
func (l *Learned) node(n *treeNode) {
	calls := false
	for _, i := range n.items[1:] {
		switch i.kind {
		case trace.KindEnter:
			calls = true
		case trace.KindMpiSend, trace.KindMpiIsend:
			l.SendReceivers.add(i.peer)
			l.SendTags.add(i.tag)
		case trace.KindMpiRecv, trace.KindMpiIrecv:
			l.RecvSenders.add(i.peer)
			l.RecvTags.add(i.tag)
		}
		if i.body != nil {
			l.Iterations.add(i.times)
		}
	}
	if calls {
		l.Branches.add(n.branch)
	}
}

// A MemoryRow says what is learned if formulae may take a number of terms.
type MemoryRow struct {
	Terms int `json:"terms"`
	Learned
}

// MemoryTerms are the memories of the paper's table and beyond.
func MemoryTerms() []int { return []int{6, 12, 18, 24, 32, 64} }

// LearnedByMemory reads a trace once for each number of terms and tells what is learned.
func LearnedByMemory(ctx context.Context, src trace.Source, terms []int, opts engine.Options) ([]MemoryRow, error) {
	var rows []MemoryRow
	for _, n := range terms {
		trees, err := learning{terms: n}.run(ctx, src, Options{Jobs: opts.Jobs, Progress: opts.Progress})
		if err != nil {
			return nil, err
		}
		rows = append(rows, MemoryRow{n, *LearnedOf(trees)})
	}
	return rows, nil
}
