package formulae

import (
	"context"
	"iter"

	"tracekit/engine"
	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A category is a subject of sequences. The first six are the paper's, the others ours.
type category uint8

// The categories.
const (
	sendReceivers category = iota // receivers of each send construct
	recvSenders                   // senders of each receive construct
	sendTags
	recvTags
	branches   // the items of a call path, one after the other
	iterations // of a loop, each time it is met
	sizes      // bytes of sends, receives and collectives
	roots      // of collectives that have one
	fields     // arguments and attributes of events
	categories
)

var categoryNames = [categories]string{"send_receivers", "recv_senders", "send_tags", "recv_tags", "branches",
	"iterations", "sizes", "roots", "fields"}

var categoryTitles = [categories]string{"receivers of sends", "senders of receives", "tags of sends", "tags of receives",
	"order of calls", "iterations of loops", "sizes", "roots of collectives", "arguments and attributes"}

// String returns the category's name, as documents have it.
func (c category) String() string { return categoryNames[c] }

// A construct is a formula of a tree and its subject: an item of a node, or the branches of the
// node (item 0).
type construct struct {
	*sequence.Formula
	category   category
	node, item int
}

// sequences yields the sequences of a tree.
func (t *Tree) sequences() iter.Seq[construct] {
	return func(yield func(construct) bool) {
		for n := range t.Nodes {
			node := &t.Nodes[n]
			if node.calls() && !yield(construct{&node.Branch, branches, n, 0}) {
				return
			}
			for k := range node.Items {
				for s := range node.Items[k].sequences() {
					if s.node, s.item = n, k; !yield(s) {
						return
					}
				}
			}
		}
	}
}

// calls reports whether a call path calls others: one that does not has no branches.
func (n *Node) calls() bool {
	for k := range n.Items {
		if n.Items[k].Kind == trace.KindEnter {
			return true
		}
	}
	return false
}

// sequences yields what an item's formulae are about.
func (i *Item) sequences() iter.Seq[construct] {
	var list []construct
	add := func(c category, f *sequence.Formula) { list = append(list, construct{Formula: f, category: c}) }
	switch i.side() {
	case sent:
		add(sendReceivers, &i.Peer)
		add(sendTags, &i.Tag)
		add(sizes, &i.Size)
	case received:
		add(recvSenders, &i.Peer)
		add(recvTags, &i.Tag)
		add(sizes, &i.Size)
	case collective:
		if i.Op.Pattern().Rooted() {
			add(roots, &i.Peer)
		}
		add(sizes, &i.Size)
		add(sizes, &i.Got)
	}
	if i.Body != nil {
		add(iterations, &i.Times)
	}
	for k := range i.Values {
		add(fields, &i.Values[k])
	}
	return func(yield func(construct) bool) {
		for _, s := range list {
			if !yield(s) {
				return
			}
		}
	}
}

// Learned holds how much of the sequences of each category was learned.
type Learned struct {
	SendReceivers Share `json:"send_receivers"`
	RecvSenders   Share `json:"recv_senders"`
	SendTags      Share `json:"send_tags"`
	RecvTags      Share `json:"recv_tags"`
	Branches      Share `json:"branches"`
	Iterations    Share `json:"iterations"`

	Paper Share `json:"paper"` // the six categories above, which are the paper's, together

	Sizes  Share `json:"sizes"`
	Roots  Share `json:"roots"`
	Fields Share `json:"fields"`

	Messages OfMessages `json:"messages"`
}

// OfMessages counts the messages that were sent, and those that constructs sent whose
// receivers, tags and sizes were learned.
type OfMessages struct {
	Sent    uint64  `json:"sent"`
	Learned uint64  `json:"learned"`
	Share   float64 `json:"share"` // Learned / Sent; 1 if nobody sent
}

// A Share counts the constructs of a category: call paths of MPI functions with a kind of
// event and a communicator, call paths that call others (branches), loops (iterations), on
// each location.
type Share struct {
	Constructs   uint64  `json:"constructs"`
	Learned      uint64  `json:"learned"`
	Static       float64 `json:"static"`  // Learned / Constructs
	Dynamic      float64 `json:"dynamic"` // the same, each construct counting as often as it took place
	ByKind       ByKind  `json:"by_kind"`
	ValuesByKind ByKind  `json:"values_by_kind"` // each construct counting as often as it took place
}

// ByKind counts constructs by the kind of their formula.
type ByKind struct {
	Identity  uint64 `json:"identity"`
	General   uint64 `json:"general"`
	Iteration uint64 `json:"iteration"`
	Cycle     uint64 `json:"cycle"`
	Failed    uint64 `json:"failed"`
}

// of returns the counter of a kind.
func (k *ByKind) of(kind sequence.Kind) *uint64 {
	return [sequence.Failed + 1]*uint64{&k.Identity, &k.General, &k.Iteration, &k.Cycle, &k.Failed}[min(kind, sequence.Failed)]
}

// all returns the sum of the counters.
func (k *ByKind) all() uint64 { return k.Identity + k.General + k.Iteration + k.Cycle + k.Failed }

// merge adds the counters of others.
func (k *ByKind) merge(o *ByKind) {
	for kind := range sequence.Failed + 1 {
		*k.of(kind) += *o.of(kind)
	}
}

// add counts a construct.
func (s *Share) add(f *sequence.Formula) {
	*s.ByKind.of(f.Kind)++
	*s.ValuesByKind.of(f.Kind) += f.Seen
}

// finish computes the shares.
func (s *Share) finish() {
	s.Constructs = s.ByKind.all()
	s.Learned = s.Constructs - s.ByKind.Failed
	values := s.ValuesByKind.all()
	s.Static, s.Dynamic = ratio(s.Learned, s.Constructs), ratio(values-s.ValuesByKind.Failed, values)
}

// ratio returns a/b; nothing of nothing is all.
func ratio(a, b uint64) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// All returns the shares of the categories, in their order, with their names.
func (l *Learned) All() []NamedShare {
	var out []NamedShare
	for c, s := range l.shares() {
		out = append(out, NamedShare{categoryNames[c], s})
	}
	return out
}

func (l *Learned) shares() [categories]*Share {
	return [categories]*Share{&l.SendReceivers, &l.RecvSenders, &l.SendTags, &l.RecvTags, &l.Branches, &l.Iterations,
		&l.Sizes, &l.Roots, &l.Fields}
}

// A NamedShare is a category's name and share.
type NamedShare struct {
	Name string
	*Share
}

// LearnedOf counts the constructs of all locations.
func LearnedOf(locations []Location) *Learned {
	l := &Learned{}
	shares := l.shares()
	for i := range locations {
		tree := locations[i].Tree
		for s := range tree.sequences() {
			shares[s.category].add(s.Formula)
			if s.category <= iterations {
				l.Paper.add(s.Formula)
			}
		}
		for n := range tree.Nodes {
			for k := range tree.Nodes[n].Items {
				l.Messages.add(&tree.Nodes[n].Items[k])
			}
		}
	}
	for _, s := range append(shares[:], &l.Paper) {
		s.finish()
	}
	l.Messages.Share = ratio(l.Messages.Learned, l.Messages.Sent)
	return l
}

// add counts the messages that an item sent.
func (m *OfMessages) add(i *Item) {
	if i.side() != sent {
		return
	}
	m.Sent += i.Count
	if i.Peer.Kind != sequence.Failed && i.Tag.Kind != sequence.Failed && i.Size.Kind != sequence.Failed {
		m.Learned += i.Count
	}
}

// A MemoryRow says what is learned if formulae may take a number of terms.
type MemoryRow struct {
	Terms int `json:"terms"`
	Learned
}

// MemoryTerms are the memories of the paper's table and beyond.
func MemoryTerms() []int { return []int{6, 12, 18, 24, 32, 64} }

// LearnedByMemory reads a trace once for each number of terms and returns what is learned; if
// paper is set, with the paper's kinds of formulae alone.
func LearnedByMemory(ctx context.Context, src trace.Source, terms []int, paper bool, opts engine.Options) ([]MemoryRow, error) {
	var rows []MemoryRow
	for _, n := range terms {
		parts, err := learning{form: sequence.Form{Terms: n, Paper: paper}}.run(ctx, src, Options{Jobs: opts.Jobs, Progress: opts.Progress})
		if err != nil {
			return nil, err
		}
		locations := make([]Location, len(parts))
		for l := range parts {
			locations[l].Tree = parts[l].Tree
		}
		rows = append(rows, MemoryRow{n, *LearnedOf(locations)})
	}
	return rows, nil
}
