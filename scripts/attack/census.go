package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"

	"tracekit/readers"
	"tracekit/trace"
)

// A census says what records a trace has, and nothing of their values: for each location the
// kinds of its events in their order.
func census(ctx context.Context, w io.Writer, src trace.Source) error {
	for l := range src.Defs().Locations {
		sum, events, attributes := fnv.New64a(), 0, 0
		for b, err := range src.Events(ctx, trace.LocationID(l)) {
			if err != nil {
				return err
			}
			for _, row := range b.Events {
				sum.Write([]byte{byte(kindOf(b, row)), byte(row.Table)})
			}
			events += b.Len()
			attributes += len(b.Attrs.Seq)
		}
		fmt.Fprintf(w, "%d events, %d attributes, %x\n", events, attributes, sum.Sum(nil))
	}
	return nil
}

func kindOf(b *trace.Batch, row trace.Row) trace.Kind {
	switch row.Table {
	case trace.TableFlow:
		return b.Flow.Kind[row.First]
	case trace.TableP2P:
		return b.P2P.Kind[row.First]
	case trace.TableColl:
		return b.Coll.Kind[row.First]
	case trace.TableOther:
		return b.Other.Kind[row.First]
	}
	return trace.KindMetric
}

// printCensus prints the census of a trace that lies in files, and returns an exit code.
func printCensus(paths []string, stdout, stderr io.Writer) int {
	ctx := context.Background()
	src, err := readers.OpenAll(ctx, paths, readers.OpenOptions{Jobs: 1})
	if err == nil {
		err = errors.Join(census(ctx, stdout, src), src.Close())
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}
