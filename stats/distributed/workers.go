package distributed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/shards"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// Workers have the second pass made in other processes, by way of files in a directory.
type Workers struct {
	dir    string
	header shards.Header // of all shards
	do     func(context.Context) error
	left   map[trace.LocationID]stretch
	ledger trace.Ledger
}

var _ profile.Workers = (*Workers)(nil)

// A stretch is where a stream lies.
type stretch struct {
	path     string
	from, to int64
}

// NewWorkers returns workers for a trace whose shards have a header. Once tasks lie in the
// directory, do is to see that all are done.
func NewWorkers(dir string, h shards.Header, do func(context.Context) error) *Workers {
	return &Workers{dir: dir, header: h, do: do, left: make(map[trace.LocationID]stretch)}
}

// Work implements profile.Workers.
func (w *Workers) Work(ctx context.Context, pass *profile.Pass) error {
	sums, err := engine.Map(ctx, pass.Jobs, w.header.Of, func(ctx context.Context, i int) (string, error) {
		return w.leave(ctx, pass, i+1)
	})
	if err != nil {
		return err
	}
	if err := w.do(ctx); err != nil {
		return err
	}
	for i, sum := range sums {
		if err := w.find(pass, i+1, sum); err != nil {
			return err
		}
	}
	return nil
}

// leave writes the task of a shard and returns its sum.
func (w *Workers) leave(ctx context.Context, pass *profile.Pass, number int) (sum string, err error) {
	path, _ := paths(w.dir, number, w.header.Of)
	h, hash := w.header, sha256.New()
	h.Number = number
	err = shards.WriteFile(ctx, path, func(f io.Writer) error {
		c := codec.NewWriter(io.MultiWriter(f, hash), taskLine)
		h.Code(c)
		pass.Code(c, shards.Locations(pass.Trace.Defs, number, h.Of))
		return c.Close()
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// find notes where in the profile of a shard each location lies.
func (w *Workers) find(pass *profile.Pass, number int, sum string) error {
	_, path := paths(w.dir, number, w.header.Of)
	f, err := shards.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var of string
	err = shards.ReadStream(f, path, profileLine, false, func(c *codec.Coder) {
		var h shards.Header
		h.Code(c)
		if codec.Text(c, &of); of != sum {
			c.Refuse("it is not of this analysis, or of another shard")
		}
		model.Ledger(c, &w.ledger)
	})
	if err != nil {
		return err
	}
	index, end, err := readIndex(f, path)
	if err != nil {
		return err
	}
	want := wanted(pass, shards.Locations(pass.Trace.Defs, number, w.header.Of))
	if len(index) != len(want) {
		return shards.Refused(path, fmt.Errorf("it covers %d of %d locations", len(index), len(want)))
	}
	for i := len(index) - 1; i >= 0; i-- {
		p := index[i]
		if p.location != want[i] || p.at < 0 || p.at > end {
			return shards.Refused(path, fmt.Errorf("location %d is not where it should be", want[i]))
		}
		w.left[p.location] = stretch{path, p.at, end}
		end = p.at
	}
	return nil
}

// readIndex reads the index of a profile, which begins where the last location ends.
func readIndex(f *os.File, path string) (index []place, at int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	const trailer = 8
	last := info.Size() - trailer
	var number [trailer]byte
	if last >= 0 {
		_, err = f.ReadAt(number[:], last)
	}
	at = int64(binary.LittleEndian.Uint64(number[:]))
	if err != nil {
		return nil, 0, err
	}
	if at < 0 || at > last {
		return nil, 0, shards.Refused(path, errors.New("it is cut off"))
	}
	err = shards.ReadStream(io.NewSectionReader(f, at, last-at), path, indexLine, true, func(c *codec.Coder) {
		codeIndex(c, &index)
	})
	return index, at, err
}

// Findings returns what the workers have noticed in the trace while they read it.
func (w *Workers) Findings() []trace.Finding { return w.ledger.Findings() }

// Left implements profile.Workers.
func (w *Workers) Left(l trace.LocationID, read func(*codec.Coder)) error {
	at, ok := w.left[l]
	if !ok {
		return fmt.Errorf("it has no data of location %d", l)
	}
	f, err := shards.OpenFile(at.path)
	if err != nil {
		return err
	}
	defer f.Close()
	return shards.ReadStream(io.NewSectionReader(f, at.from, at.to-at.from), at.path, locationLine, true, read)
}

// Close removes the files that an analysis does not need any more.
func (w *Workers) Close() error {
	var failed error
	for i := range w.header.Of {
		task, profile := paths(w.dir, i+1, w.header.Of)
		for _, path := range []string{task, profile} {
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				failed = errors.Join(failed, err)
			}
		}
	}
	return failed
}
