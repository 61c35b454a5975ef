package paraver

import (
	"io"
	"iter"
	"sync"
	"sync/atomic"

	"tracekit/trace"
)

// A piece of the text: records of the spool, and the lines that they become.
type piece struct {
	records trace.Other
	text    text
	ready   chan struct{}
}

// keptBytes is the memory that a piece keeps for its next lines.
const keptBytes = 4 << 20

// print writes the lines of records. Several workers make them at a time, of pieces that
// are written in their order; so the text does not depend on their number. A single worker
// is the caller itself.
func (t *text) print(out io.Writer, batches iter.Seq2[*trace.Batch, error], workers int) error {
	if workers == 1 {
		for b, err := range batches {
			if err != nil {
				return err
			}
			t.records(&b.Other)
			if err := t.flush(out); err != nil {
				return err
			}
		}
		return nil
	}
	n := 2*workers + 2 // two for each worker, one being filled, one being written
	free, work, queue := make(chan *piece, n), make(chan *piece, n), make(chan *piece, n)
	for range n {
		free <- &piece{text: text{clock: t.clock, start: t.start, place: t.place}, ready: make(chan struct{}, 1)}
	}
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for p := range work {
				p.text.records(&p.records)
				p.ready <- struct{}{}
			}
		})
	}
	var failed atomic.Bool
	var failure error
	done.Go(func() {
		for p := range queue {
			<-p.ready
			if failure == nil {
				failure = p.text.flush(out)
				failed.Store(failure != nil)
			}
			free <- p
		}
	})
	err := fill(batches, &failed, func(o *trace.Other) {
		p := <-free
		p.records.Time, p.records.Kind = append(p.records.Time[:0], o.Time...), append(p.records.Kind[:0], o.Kind...)
		p.records.Offset, p.records.Args = append(p.records.Offset[:0], o.Offset...), append(p.records.Args[:0], o.Args...)
		queue <- p
		work <- p
	})
	close(work)
	close(queue)
	done.Wait()
	if err == nil {
		err = failure
	}
	return err
}

// fill gives the records of batches on until there is an error, or somebody else has failed.
func fill(batches iter.Seq2[*trace.Batch, error], failed *atomic.Bool, put func(*trace.Other)) error {
	for b, err := range batches {
		if err != nil || failed.Load() {
			return err
		}
		put(&b.Other)
	}
	return nil
}
