package formulae

import (
	"context"
	"encoding/binary"
	"io"

	"tracekit/engine"
	"tracekit/merge"
	"tracekit/trace"
)

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
func bound(trees [][]byte, lengths *counts, times []fileTimes) int64 {
	total := int64(headBytes + sectionBytes + numberBytes*(len(lengths.list)+2))
	for _, t := range trees {
		total += sectionBytes + int64(len(t))
	}
	for _, t := range times {
		numbers := 10 + len(t.Means) + len(t.Bases) + len(t.Counters)
		for _, l := range t.Laws {
			numbers += 3 + len(l.Quantiles)
		}
		total += int64(sectionBytes + numberBytes*numbers)
	}
	return total
}

// statistics makes the call trees of all locations and writes them. First the trace is
// reconciled, which tells the waiting from the time that calls need.
func (c *compressor) statistics(ctx context.Context, w io.Writer) (*Report, error) {
	t, err := merge.Merge(ctx, c.src, merge.Options{Jobs: c.opts.Jobs, TempDir: c.opts.TempDir, Progress: c.opts.Progress})
	if err != nil {
		return nil, err
	}
	defer t.Store.Close()
	trees, err := c.trees(ctx, t)
	if err != nil {
		return nil, err
	}
	f := newFrame(t.Defs)
	files, times := make([]*fileTree, len(trees)), make([]fileTimes, len(trees))
	for l, t := range trees {
		files[l], times[l] = t.file(f, trace.LocationID(l))
	}
	if err := calibrate(ctx, f, trees, files, times, c.opts.Seed); err != nil {
		return nil, err
	}
	s, err := c.begin(w, &head{Mode: uint64(Statistics), Unit: 1, Leader: trace.None, Seed: c.opts.Seed})
	if err != nil {
		return nil, err
	}
	limit, classes, err := c.writeTrees(s, files, times)
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
	r.Learned = learnedOf(trees)
	r.addTrees(trees, c.src.Defs().Clock, c.opts.Durations)
	return r, nil
}

// trees makes the call trees of all locations.
func (c *compressor) trees(ctx context.Context, t *trace.Trace) ([]*callTree, error) {
	waits, err := findReleases(ctx, t, newFrame(t.Defs))
	if err != nil {
		return nil, err
	}
	stage := statistics{terms: c.terms(), clock: t.Clock.Maps, waits: waits, laws: c.opts.Durations == Laws}
	trees, err := engine.Each(ctx, c.src, engine.Options{Jobs: c.opts.Jobs, Progress: c.opts.Progress},
		func(ctx context.Context, l trace.LocationID, b engine.Batches) (*callTree, error) {
			return stage.Map(ctx, c.src.Defs(), l, b)
		})
	if err == nil {
		err = t.Store.Err()
	}
	return trees, err
}

func (c *compressor) terms() int {
	if c.opts.Terms == 0 {
		return DefaultTerms
	}
	return c.opts.Terms
}

// writeTrees writes the counts of all trees, and each different tree once, before the times
// of the first location that has it. It returns the bound and how many different trees
// there are.
func (c *compressor) writeTrees(s *sectionWriter, files []*fileTree, times []fileTimes) (limit int64, classes int, err error) {
	var lengths counts
	var trees [][]byte
	known := make(map[string]int)
	class := make([]int, len(files))
	for l, tree := range files {
		tree.unmeasure(&lengths)
		plain := packPlain(tree)
		id, ok := known[string(plain)]
		if !ok {
			id = len(trees)
			known[string(plain)] = id
			trees = append(trees, plain)
		}
		class[l] = id
	}
	limit = bound(trees, &lengths, times)
	if err := s.write(sectionStatistics, 0, packShort(c.tables, &lengths.list)); err != nil {
		return 0, 0, err
	}
	written := 0
	for l, tree := range files {
		if class[l] == written {
			written++
			if err := s.write(sectionStatistics, uint64(written), packShort(c.tables, tree)); err != nil {
				return 0, 0, err
			}
		}
		payload := append(binary.AppendUvarint(nil, uint64(class[l])+1), packShort(c.tables, &times[l])...)
		if err := s.write(sectionEvents, uint64(l), payload); err != nil {
			return 0, 0, err
		}
	}
	return limit, written, nil
}
