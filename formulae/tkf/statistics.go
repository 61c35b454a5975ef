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
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/partners"
	"tracekit/reconstruct"
	"tracekit/trace"
)

// statistics writes what was learned of all locations, with means that a replay was
// calibrated by. The events of those locations are kept exactly of which that is worth it.
func (c *compressor) statistics(ctx context.Context, w io.Writer) (*Report, error) {
	defs := c.src.Defs()
	parts := make([]*exact, len(defs.Locations))
	p, err := formulae.Learn(ctx, c.src, formulae.Options{Form: c.opts.Form, Durations: c.opts.Durations,
		Jobs: c.opts.Jobs, Progress: c.opts.Progress, Store: c.opts.Store, LateEvents: reconstruct.Calibrated(len(defs.Locations)),
		Beside: func(l trace.LocationID) (batch func(*trace.Batch), end func()) {
			e := newSequenceEncoder(c.tables, c.opts.Store)
			return e.add, func() { parts[l] = e.end() }
		}})
	if err != nil {
		return nil, err
	}
	chosen := c.choose(p, parts)
	if err := reconstruct.Calibrate(ctx, defs, chosen.locations, c.opts.Seed, c.opts.Store, c.opts.Jobs); err != nil {
		return nil, err
	}
	a := aboutOf(c.src, c.src.Findings())
	a.Defs.Locations = slices.Clone(a.Defs.Locations)
	for l := range a.Defs.Locations { // what the file announces is what it holds
		a.Defs.Locations[l].Events = chosen.events(l)
	}
	s, err := c.begin(w, &head{Mode: uint64(Statistics), Unit: 1, Leader: trace.None, Seed: c.opts.Seed,
		Terms: uint64(c.opts.Form.Memory()), Paper: c.opts.Form.Paper, Laws: c.opts.Durations == formulae.Laws}, a)
	if err != nil {
		return nil, err
	}
	classes, kept := 0, chosen.kept()
	unlearned, messages := formulae.UnlearnedOf(defs, kept), formulae.LearnedOf(kept).Messages // writing takes the counts out of trees
	if err = chosen.write(s); err == nil {
		classes, err = c.writeTrees(ctx, s, chosen.locations)
	}
	if err == nil {
		err = s.write(sectionEnd, 0, nil)
	}
	if err != nil {
		return nil, err
	}
	r := c.statReport(s, p, chosen, classes)
	r.Unlearned = unlearned
	r.Exact.Kept = r.Exact.Messages - (messages.Sent - messages.Learned)
	return r, nil
}

// statReport tells what a file in stat mode has.
func (c *compressor) statReport(s *sectionWriter, p *formulae.Program, chosen *choice, classes int) *Report {
	r := c.report(s)
	limit := chosen.bound + r.Sizes.Definitions
	for l := range chosen.locations {
		limit += int64(outlierBytes * len(chosen.locations[l].Times.Outliers))
	}
	r.Sizes.Bound = &limit
	r.Sizes.Structure += s.bytes[sectionStatistics] + s.bytes[sectionValues]
	r.Exact = &Exact{Messages: p.Learned.Messages.Sent}
	for l, x := range chosen.parts {
		if x != nil {
			p.Exact(trace.LocationID(l))
			r.Exact.Locations++
		}
	}
	r.Ranks.RankClasses = classes + len(sequencesOf(chosen.parts))
	r.Learned, r.Statistics = p.Learned, p.Report
	return r
}

// writeTrees writes the counts of all trees, and each different tree once, before the times
// of the first location that has it. It returns how many different trees and sequences there are.
func (c *compressor) writeTrees(ctx context.Context, s *sectionWriter, locations []formulae.Location) (classes int, err error) {
	var lengths counts
	trees := 0
	known := make(map[*formulae.Tree]int)
	class, first := make([]int, len(locations)), make([]bool, len(locations))
	for l := range locations {
		tree := locations[l].Tree
		if locations[l].Sequence != nil {
			continue
		}
		id, ok := known[tree]
		if !ok {
			trees++
			id, first[l] = trees, true
			known[tree] = id
			lengths.take(tree)
		}
		class[l] = id
	}
	type packed struct{ tree, times []byte }
	all, err := engine.Map(ctx, c.opts.Jobs, len(locations), func(_ context.Context, l int) (p packed, err error) {
		if first[l] {
			p.tree = pack.PackShort(c.form(), locations[l].Tree, formulae.TreeLayout())
		}
		p.times = binary.AppendUvarint(nil, uint64(class[l]))
		p.times = append(p.times, pack.PackShort(c.form(), &locations[l].Times, timesLayout(versionLast))...)
		return p, nil
	})
	if err == nil {
		err = s.write(sectionStatistics, 0, pack.PackShort(c.form(), &lengths.list, countsLayout()))
	}
	for l := 0; l < len(all) && err == nil; l++ {
		if first[l] {
			err = s.write(sectionStatistics, uint64(class[l]), all[l].tree)
		}
		if err == nil {
			err = s.write(sectionEvents, uint64(l), all[l].times)
		}
	}
	return trees, err
}

// Bytes of a file in stat mode that do not depend on the trace, and of one number, at most.
const (
	numberBytes  = 10
	sectionBytes = 1 + 2*numberBytes + 4
	headBytes    = 1 << 10
)

// boundOf returns the size that a file with these formulae cannot exceed beside its definitions,
// however long the run: as long as the formulae have the terms that they have, only counts
// and times change, and these are numbers of at most numberBytes. No block is longer than
// if it were plain. Sequences that are kept exactly take no more than their formulae would (see choose).
func boundOf(locations []formulae.Location) int64 {
	total := int64(headBytes + sectionBytes + numberBytes*2)
	var lengths counts
	known := make(map[*formulae.Tree]bool)
	for l := range locations {
		if tree := locations[l].Tree; !known[tree] {
			known[tree] = true
			total += plainSize(tree, &lengths)
		}
		t := &locations[l].Times
		numbers := 11 + len(t.Spent) + len(t.Means) + len(t.Bases) + len(t.Counters)
		for _, l := range t.Laws {
			numbers += 3 + len(l.Quantiles)
		}
		total += int64(sectionBytes + numberBytes*numbers)
	}
	return total + int64(numberBytes*len(lengths.list))
}

// outlierBytes is what an outlier takes at most: a number of an event below formulae.MostEvents, a code.
const outlierBytes = 6 + 3

// plainSize returns the bytes of the section of a tree at most, and adds its lengths to those of the file.
func plainSize(t *formulae.Tree, lengths *counts) int64 {
	lengths.take(t)
	defer restore(t, lengths.list)
	return sectionBytes + int64(len(pack.PackPlain(t, formulae.TreeLayout())))
}

// A statFile is what is read of a file in stat mode.
type statFile struct {
	*file
	locations         []formulae.Location
	times             []section // by location, of those that are exact
	structure, values [][]section
	sequences         sequences
}

// readStatistics reads what statistics wrote.
func (f *file) readStatistics(rest []section) (*statFile, error) {
	n := len(f.about.Defs.Locations)
	s := &statFile{file: f, locations: make([]formulae.Location, n), times: make([]section, n), values: make([][]section, n)}
	for l := range s.locations {
		s.locations[l].Tree = &formulae.Tree{}
	}
	var lengths []uint64
	trees := make(map[uint64]*formulae.Tree)
	for _, at := range rest {
		if at.kind == sectionStructure || at.kind == sectionValues {
			if !s.keep(at) {
				return nil, f.damaged(at, pack.ErrDamaged)
			}
			continue
		}
		block, err := f.load(at)
		if err != nil {
			return nil, err
		}
		switch {
		case at.kind == sectionClasses && s.structure == nil:
			s.sequences = sequences{tables: f.tables, version: f.version, ranks: partners.RanksOf(&f.about.Defs)}
			if s.sequences.directory, err = f.readDirectory(at); err == nil {
				s.structure = make([][]section, len(s.sequences.classes))
			}
		case at.kind == sectionStatistics && at.owner == 0:
			err = pack.UnpackShort(f.form(), block, &lengths, countsLayout())
		case at.kind == sectionStatistics:
			trees[at.owner], err = readTree(f.form(), block, lengths)
		case at.kind == sectionEvents && at.owner < uint64(n):
			err = s.readTimes(block, trees, at)
		case at.kind != sectionEnd:
			err = pack.ErrDamaged
		}
		if err != nil {
			return nil, f.damaged(at, err)
		}
	}
	return s, f.checkCounts(s.locations)
}

// keep notes a section of a sequence.
func (s *statFile) keep(at section) bool {
	owners := s.structure
	if at.kind == sectionValues {
		owners = s.values
	}
	if s.structure == nil || at.owner >= uint64(len(owners)) {
		return false
	}
	owners[at.owner] = append(owners[at.owner], at)
	return true
}

// readTimes reads the times of a location. Whether they are those of a sequence is found when that is read.
func (s *statFile) readTimes(block []byte, trees map[uint64]*formulae.Tree, at section) error {
	l := &s.locations[at.owner]
	id, n := binary.Uvarint(block)
	if n <= 0 {
		return pack.ErrDamaged
	}
	if err := pack.UnpackShort(s.form(), block[n:], &l.Times, timesLayout(s.version)); err != nil {
		return err
	}
	if s.version < versionPrecise {
		if err := l.Times.Recode(); err != nil {
			return contradiction(err)
		}
	}
	if id == 0 && s.structure != nil {
		location := trace.LocationID(at.owner)
		l.Sequence = s.sequences.of(location, s.about.Defs.Locations[location].Events,
			s.blocks(&s.structure[s.sequences.class[location]]), s.blocks(&s.values[location]))
		s.times[location] = at
		return contradiction(l.Times.CheckOrder())
	}
	tree, ok := trees[id]
	if !ok {
		return pack.ErrDamaged
	}
	l.Tree, l.Sequence = tree, nil
	return contradiction(l.Times.Check(tree))
}

// blocks returns what delivers the payloads of sections, one after the other.
func (s *statFile) blocks(sections *[]section) func() func() ([]byte, error) {
	return func() func() ([]byte, error) {
		rest := *sections
		return func() ([]byte, error) {
			if len(rest) == 0 {
				return nil, pack.ErrDamaged
			}
			at := rest[0]
			rest = rest[1:]
			return s.load(at)
		}
	}
}

// prepare finds the trees of the locations whose events are kept exactly. It reads all of their events.
func (s *statFile) prepare(ctx context.Context, jobs int) error {
	forest := formulae.NewSkeletons()
	_, err := engine.Map(ctx, jobs, len(s.locations), func(ctx context.Context, k int) (none struct{}, err error) {
		l := &s.locations[k]
		if l.Sequence == nil {
			return none, nil
		}
		if l.Tree, err = forest.Tree(ctx, l.Sequence); err == nil {
			err = contradiction(l.Times.Check(l.Tree))
		}
		return none, s.damaged(s.times[k], err)
	})
	return err
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
		if locations[l].Sequence != nil {
			events = min(announced, formulae.MostEvents)
		}
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

func readTree(form pack.Form, block []byte, lengths []uint64) (*formulae.Tree, error) {
	tree := &formulae.Tree{}
	if err := pack.UnpackShort(form, block, tree, formulae.TreeLayout()); err != nil {
		return nil, err
	}
	if !restore(tree, lengths) {
		return nil, pack.ErrDamaged
	}
	return tree, contradiction(tree.Check())
}

// contradiction makes what a check found damage of the file.
func contradiction(err error) error {
	if err != nil {
		return errors.Join(pack.ErrDamaged, err)
	}
	return nil
}

func countsLayout() pack.Column[[]uint64] { return pack.Lists(pack.Numbers[uint64]()) }

// timesLayout is that of a version of the format: files of the first ones have no outliers.
func timesLayout(version byte) pack.Column[formulae.Times] {
	base := 7
	if version < versionSequences {
		base = 6
	}
	return pack.Record(base,
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
		pack.In(func(t *formulae.Times) *[]formulae.Outlier { return &t.Outliers }, pack.Lists(pack.Record(2,
			pack.Number(func(o *formulae.Outlier) *uint64 { return &o.Seq }),
			pack.Number(func(o *formulae.Outlier) *uint64 { return &o.Code }),
		))),
	)
}
