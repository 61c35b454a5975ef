package engine

import (
	"context"

	"tracekit/trace"
)

// Copy gives the events of a source to a sink and returns their numbers by location: several
// locations at a time where the sink can take that, else location by location.
func Copy(ctx context.Context, src trace.Source, w trace.Sink, o Options) ([]*uint64, error) {
	if c, ok := w.(trace.ConcurrentSink); !ok || !c.Concurrent() {
		o.Jobs, o.InOrder = 1, true
	}
	return Each(ctx, src, o, func(_ context.Context, _ trace.LocationID, batches Batches) (*uint64, error) {
		n := new(uint64)
		for b, err := range batches {
			if err != nil {
				return n, err
			}
			if err := w.Write(b); err != nil {
				return n, err
			}
			*n += uint64(b.Len())
		}
		return n, nil
	})
}
