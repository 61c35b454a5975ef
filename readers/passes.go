package readers

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"tracekit/trace"
)

// A passes is a source that notices when a location has another number of events than when it
// was read first: its files grow, shrink or are written again meanwhile. What was computed of
// both passes does not fit together then.
type passes struct {
	trace.Source
	first   []atomic.Uint64 // by location: events of the first whole pass, plus 1; 0: there was none
	changed []atomic.Uint64 // by location: events of the last pass that had others, plus 1
}

func watchPasses(src trace.Source) trace.Source {
	n := len(src.Defs().Locations)
	return &passes{src, make([]atomic.Uint64, n), make([]atomic.Uint64, n)}
}

// Events implements trace.Source.
func (p *passes) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		events := uint64(0)
		for b, err := range p.Source.Events(ctx, l) {
			if !yield(b, err) || err != nil {
				return
			}
			events += uint64(b.Len())
		}
		if int(l) >= len(p.first) || ctx.Err() != nil {
			return
		}
		if !p.first[l].CompareAndSwap(0, events+1) && p.first[l].Load() != events+1 {
			p.changed[l].Store(events + 1)
		}
	}
}

// EventFile is that of the format; see there.
func (p *passes) EventFile(l trace.LocationID) string { return EventFile(p.Source, l) }

// ExtraCounts are those of the format; see there.
func (p *passes) ExtraCounts() map[string]uint64 { return ExtraCounts(p.Source) }

// Findings implements trace.Source.
func (p *passes) Findings() []trace.Finding {
	var ledger trace.Ledger
	ledger.Merge(p.Source.Findings())
	for l := range p.changed {
		if now := p.changed[l].Load(); now > 0 {
			was := p.first[l].Load()
			ledger.Add(trace.CodeChangedMeanwhile, trace.Place{Location: trace.LocationID(l), Seq: min(now, was) - 1, Offset: -1},
				fmt.Sprintf("it had %d events and has %d now", was-1, now-1))
		}
	}
	return ledger.Findings()
}
