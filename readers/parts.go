package readers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/readers/arrowdir"
	"tracekit/spill"
	"tracekit/trace"
)

// Written is what a process knows of the locations that it has written as a part of a trace: how many
// events each has, and what was noticed while they were read.
type Written struct{ model.Results[uint64] }

// Add adds other locations of the same trace.
func (w *Written) Add(other *Written) error { return w.Results.Add(&other.Results) }

// Code codes it, in either direction.
func (w *Written) Code(c *codec.Coder, d *trace.Defs, _ *spill.Store) {
	w.Results.Code(c, d, func(_ trace.LocationID, n *uint64) { codec.Number(c, n) })
}

// WritePart writes some locations of a source, ascending, as part number of a trace in a directory,
// complete or not at all; one of the same number is replaced. JoinParts makes a trace of all parts.
func WritePart(ctx context.Context, src trace.Source, locations []trace.LocationID, dir string, number, of int, o CreateOptions,
	p *engine.Progress) (*Written, error) {
	if rowOf(o.Format).unjoined == nil {
		return nil, fmt.Errorf("format %s cannot be written in parts", o.Format)
	}
	before := src.Findings()
	_, err := os.Stat(dir)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	w := &Written{}
	o.Force = true
	err = func() error {
		out, err := Create(filepath.Join(dir, arrowdir.PartName(number, of)), src.Info(), src.Defs(), o)
		if err != nil {
			return err
		}
		if w.Of, err = engine.Copy(ctx, src, out, engine.Options{Jobs: o.Jobs, Progress: p, Only: locations}); err != nil {
			return errors.Join(err, out.Discard())
		}
		return out.Close()
	}()
	if err != nil && fresh {
		os.Remove(dir) // fails if another part stands in it by now
	}
	w.Findings = trace.Since(before, src.Findings())
	return w, err
}

// JoinParts makes a trace of the parts in a directory, all of which are there, and returns its format.
func JoinParts(dir string, of int) (format string, err error) {
	f, err := arrowdir.Join(dir, of)
	return string(f), err
}

// JoinReads returns the path, below the directory, of all that JoinParts reads of a part.
func JoinReads(number, of int) string { return arrowdir.ManifestOf(arrowdir.PartName(number, of)) }

// IsJoined reports whether a directory is a whole trace, in parts or not.
func IsJoined(dir string) bool { return arrowdir.IsDir(dir) }
