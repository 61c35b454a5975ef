package topology

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tracekit/trace"
)

// A Block is a part of a grid, as a rule: ranks in it are kept (docs/DEFINITIONS.md 1.3,
// topological block). Ranks whose place is not known are not in it.
type Block struct {
	Text     string
	Topology *Topology
	from, to []int // by dimension, both in the block
}

// ParseBlock reads a block: a range such as 0-3, a number, or * for each dimension, with
// commas between them. Without a topology only the form is checked.
func ParseBlock(text string, t *Topology) (*Block, error) {
	b := &Block{Text: text, Topology: t}
	for k, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, to := 0, int(^uint(0)>>1)
		if first != "*" || isRange {
			var err, err2 error
			from, err = strconv.Atoi(first)
			if to = from; isRange {
				to, err2 = strconv.Atoi(last)
			}
			if err != nil || err2 != nil || from < 0 || to < from {
				return nil, fmt.Errorf("block %q: %q is not a number, a range such as 0-3, or *", text, part)
			}
		}
		if t != nil && k < len(t.sizes) && from >= t.sizes[k] {
			return nil, fmt.Errorf("block %q: dimension %d of %s has places 0 to %d", text, k, t, t.sizes[k]-1)
		}
		b.from, b.to = append(b.from, from), append(b.to, to)
	}
	if t != nil && len(b.from) != len(t.sizes) {
		return nil, fmt.Errorf("block %q: %s has %d dimensions", text, t, len(t.sizes))
	}
	return b, nil
}

// Name implements reduce.Rule.
func (b *Block) Name() string { return fmt.Sprintf("block %s of %s", b.Text, b.Topology) }

// Ranks implements reduce.RankRule.
func (b *Block) Ranks(_ context.Context, t *trace.Trace, _ int) ([]bool, error) {
	keep, any := make([]bool, len(t.World)), false
	for r := range keep {
		at := b.Topology.Coordinates(uint32(r))
		keep[r] = at != nil
		for k, x := range at {
			keep[r] = keep[r] && b.from[k] <= x && x <= b.to[k]
		}
		any = any || keep[r]
	}
	if !any {
		return nil, fmt.Errorf("block %s of %s: no rank is in it", b.Text, b.Topology)
	}
	return keep, nil
}
