package tkf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/internal/coder"
	"tracekit/formulae/internal/pack"
	"tracekit/reconstruct"
	"tracekit/trace"
)

// statistics writes what was learned of all locations, with means that a replay was
// calibrated by.
func (c *compressor) statistics(ctx context.Context, w io.Writer) (*Report, error) {
	p, err := formulae.Learn(ctx, c.src, formulae.Options{Form: c.opts.Form, Durations: c.opts.Durations,
		Jobs: c.opts.Jobs, Progress: c.opts.Progress, Store: c.opts.Store})
	if err != nil {
		return nil, err
	}
	if err := reconstruct.Calibrate(ctx, c.src.Defs(), p.Locations, c.opts.Seed, c.opts.Store, c.opts.Jobs); err != nil {
		return nil, err
	}
	a := aboutOf(c.src, c.src.Findings())
	a.Defs.Locations = slices.Clone(a.Defs.Locations)
	for l := range a.Defs.Locations { // what the file announces is what it holds
		a.Defs.Locations[l].Events = p.Locations[l].Tree.Events()
	}
	s, err := c.begin(w, &head{Mode: uint64(Statistics), Unit: 1, Leader: trace.None, Seed: c.opts.Seed,
		Terms: uint64(c.opts.Form.Memory()), Paper: c.opts.Form.Paper, Laws: c.opts.Durations == formulae.Laws}, a)
	if err != nil {
		return nil, err
	}
	limit, classes, err := c.writeTrees(ctx, s, p.Locations)
	if err != nil {
		return nil, err
	}
	if err := s.write(sectionEnd, 0, nil); err != nil {
		return nil, err
	}
	r := c.report(s)
	limit += r.Sizes.Definitions
	r.Sizes.Bound = &limit
	r.Sizes.Structure += s.bytes[sectionStatistics]
	r.Ranks.RankClasses = classes
	r.Learned, r.Unlearned, r.Statistics = p.Learned, p.Unlearned, p.Report
	return r, nil
}

// writeTrees writes the counts of all trees, and each different tree once, before the times
// of the first location that has it. It returns the bound and how many different trees
// there are.
func (c *compressor) writeTrees(ctx context.Context, s *sectionWriter, locations []formulae.Location) (limit int64, classes int,
	err error) {
	var lengths counts
	var trees [][]byte // in plain
	known := make(map[*formulae.Tree]int)
	class, first := make([]int, len(locations)), make([]bool, len(locations))
	for l := range locations {
		tree := locations[l].Tree
		id, ok := known[tree]
		if !ok {
			id, first[l] = len(trees), true
			known[tree] = id
			lengths.take(tree)
			trees = append(trees, pack.PackPlain(tree, formulae.TreeLayout()))
		}
		class[l] = id
	}
	type packed struct{ tree, times []byte }
	all, err := engine.Map(ctx, c.opts.Jobs, len(locations), func(_ context.Context, l int) (p packed, err error) {
		if first[l] {
			p.tree = pack.PackShort(c.tables, locations[l].Tree, formulae.TreeLayout())
		}
		p.times = binary.AppendUvarint(nil, uint64(class[l])+1)
		p.times = append(p.times, pack.PackShort(c.tables, &locations[l].Times, timesLayout())...)
		return p, nil
	})
	if err == nil {
		err = s.write(sectionStatistics, 0, pack.PackShort(c.tables, &lengths.list, countsLayout()))
	}
	for l := 0; l < len(all) && err == nil; l++ {
		if first[l] {
			err = s.write(sectionStatistics, uint64(class[l])+1, all[l].tree)
		}
		if err == nil {
			err = s.write(sectionEvents, uint64(l), all[l].times)
		}
	}
	return bound(trees, &lengths, locations), len(trees), err
}

// Bytes of a file in stat mode that do not depend on the trace, and of one number, at most.
const (
	numberBytes  = 10
	sectionBytes = 1 + 2*numberBytes + 4
	headBytes    = 1 << 10
)

// bound returns the size that a file with these trees cannot exceed beside its definitions,
// however long the run: as long as the formulae have the terms that they have, only counts
// and times change, and these are numbers of at most numberBytes. No block is longer than
// if it were plain.
func bound(trees [][]byte, lengths *counts, locations []formulae.Location) int64 {
	total := int64(headBytes + sectionBytes + numberBytes*(len(lengths.list)+2))
	for _, t := range trees {
		total += sectionBytes + int64(len(t))
	}
	for l := range locations {
		t := &locations[l].Times
		numbers := 10 + len(t.Spent) + len(t.Means) + len(t.Bases) + len(t.Counters)
		for _, l := range t.Laws {
			numbers += 3 + len(l.Quantiles)
		}
		total += int64(sectionBytes + numberBytes*numbers)
	}
	return total
}

// readStatistics reads what statistics wrote.
func (f *file) readStatistics(rest []section) ([]formulae.Location, error) {
	out := make([]formulae.Location, len(f.about.Defs.Locations))
	for l := range out {
		out[l].Tree = &formulae.Tree{}
	}
	var lengths []uint64
	trees := make(map[uint64]*formulae.Tree)
	for _, at := range rest {
		block, err := f.load(at)
		if err != nil {
			return nil, err
		}
		switch {
		case at.kind == sectionStatistics && at.owner == 0:
			err = pack.UnpackShort(f.tables, block, &lengths, countsLayout())
		case at.kind == sectionStatistics:
			trees[at.owner], err = readTree(f.tables, block, lengths)
		case at.kind == sectionEvents && at.owner < uint64(len(out)):
			err = readTimes(f.tables, block, trees, &out[at.owner])
		case at.kind != sectionEnd:
			err = pack.ErrDamaged
		}
		if err != nil {
			return nil, f.damaged(at, err)
		}
	}
	return out, f.checkCounts(out)
}

// unannounced is how many events more than it announces a location is believed to have:
// earlier programs wrote what the trace had announced, which may be nothing.
const unannounced = 1 << 20

// checkCounts checks that the formulae of each location stand for the events that the file
// announces, and that so many can have been recorded: a few bytes may stand for any number.
// A small difference is a finding.
func (f *file) checkCounts(locations []formulae.Location) error {
	var found trace.Ledger
	total := uint64(0)
	for l := range locations {
		events, announced := locations[l].Tree.Events(), f.about.Defs.Locations[l].Events
		total += events
		switch {
		case total >= formulae.MostEvents:
			return syntaxError(f.name, 0, sectionStatistics.String(),
				fmt.Errorf("formulae of 2^%d events or more are not plausible", bits.Len64(formulae.MostEvents)-1))
		case events > unannounced && events-unannounced > announced:
			return syntaxError(f.name, 0, sectionStatistics.String(),
				fmt.Errorf("formulae of %d events for location %d, of which %d are announced", events, l, announced))
		case events != announced && announced > 0:
			found.Add(trace.CodeCountMismatch, trace.Place{Location: trace.LocationID(l), File: f.name, Offset: -1},
				fmt.Sprintf("formulae of %d events, of which %d are announced", events, announced))
		}
	}
	f.about.Findings = append(f.about.Findings, found.Findings()...)
	return nil
}

func readTree(t *coder.Tables, block []byte, lengths []uint64) (*formulae.Tree, error) {
	tree := &formulae.Tree{}
	if err := pack.UnpackShort(t, block, tree, formulae.TreeLayout()); err != nil {
		return nil, err
	}
	if !restore(tree, lengths) {
		return nil, pack.ErrDamaged
	}
	return tree, contradiction(tree.Check())
}

func readTimes(t *coder.Tables, block []byte, trees map[uint64]*formulae.Tree, l *formulae.Location) error {
	id, n := binary.Uvarint(block)
	tree, ok := trees[id]
	if n <= 0 || !ok {
		return pack.ErrDamaged
	}
	if err := pack.UnpackShort(t, block[n:], &l.Times, timesLayout()); err != nil {
		return err
	}
	l.Tree = tree
	return contradiction(l.Times.Check(tree))
}

// contradiction makes what a check found damage of the file.
func contradiction(err error) error {
	if err != nil {
		return errors.Join(pack.ErrDamaged, err)
	}
	return nil
}

func countsLayout() pack.Column[[]uint64] { return pack.Lists(pack.Numbers[uint64]()) }

func timesLayout() pack.Column[formulae.Times] {
	return pack.Record(6,
		pack.Number(func(t *formulae.Times) *int64 { return &t.First }),
		pack.In(func(t *formulae.Times) *[]uint64 { return &t.Spent }, pack.Lists(pack.Numbers[uint64]())),
		pack.In(func(t *formulae.Times) *[]uint64 { return &t.Means }, pack.Lists(pack.Numbers[uint64]())),
		pack.In(func(t *formulae.Times) *[]formulae.Law { return &t.Laws }, pack.Lists(pack.Record(3,
			pack.Number(func(l *formulae.Law) *uint64 { return &l.Interval }),
			pack.Number(func(l *formulae.Law) *uint8 { return &l.Family }),
			pack.In(func(l *formulae.Law) *[]uint64 { return &l.Quantiles }, pack.Lists(pack.Numbers[uint64]())),
		))),
		pack.In(func(t *formulae.Times) *[]uint64 { return &t.Bases }, pack.Lists(pack.Numbers[uint64]())),
		pack.In(func(t *formulae.Times) *[]uint64 { return &t.Counters }, pack.Lists(pack.Numbers[uint64]())),
	)
}
