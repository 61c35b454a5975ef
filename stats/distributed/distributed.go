// Package distributed lets several processes make the second pass over the events of a trace, from which an analysis makes the profile: who
// analyses leaves a task for each shard in a directory. A process on whatever machine does it and leaves a profile there. The analysis goes
// on with these.
//
//	task     a stream of package codec: the header of the shard, and what the pass has to know
//	         beside the events (profile.Pass.Code)
//	profile  a stream with the header and the sum of the task, and what was noticed in the trace; one for each location, what the
//	         pass leaves (profile.Pass.CodeLeft); the index, one that says where these begin; and
//	         where that begins, 8 bytes, little-endian
//
// A profile is of one task, whose sum it repeats: one of another selection, or another clock
// correction, is refused. Files are trusted no more than traces are.
package distributed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"tracekit/codec"
	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/shards"
	"tracekit/spill"
	"tracekit/stats/devices"
	"tracekit/stats/fileio"
	"tracekit/stats/profile"
	"tracekit/trace"
)

// The lines with which streams begin. Their number is that of the version.
const (
	taskLine     = "tracekit task 1"
	profileLine  = "tracekit profile 3"
	locationLine = "tracekit location 1"
	indexLine    = "tracekit index 1"
)

// Names returns the names of the files of a shard.
func Names(number, of int) (task, profile string) {
	name := strings.TrimSuffix(shards.Name(number, of), filepath.Ext(shards.Name(number, of)))
	return name + ".task", name + ".profile"
}

// paths returns the files of a shard in a directory.
func paths(dir string, number, of int) (task, profile string) {
	task, profile = Names(number, of)
	return filepath.Join(dir, task), filepath.Join(dir, profile)
}

// Finders are the stages that hear what the pass decodes.
type Finders struct {
	Devices *devices.Finder
	Files   *fileio.Finder
}

// NewFinders returns the stages of an analysis of the part of a trace that options select, which lies
// between two instants.
func NewFinders(t *trace.Trace, ranks []uint32, from, to int64, jobs int) Finders {
	return Finders{
		devices.NewFinder(t, devices.Options{Jobs: jobs, Ranks: ranks, From: from, To: to}),
		fileio.NewFinder(t, fileio.Options{Ranks: ranks, From: from, To: to}),
	}
}

// Observers returns the stages in the order in which all processes must have them.
func (f Finders) Observers() []profile.Observer { return []profile.Observer{f.Devices, f.Files} }

// A Task is the second pass over the locations of a shard.
type Task struct {
	shards.Header
	dir string
}

// Open finds the task of a shard in a directory.
func Open(dir string, number, of int) (*Task, error) {
	t := &Task{dir: dir}
	path, _ := paths(dir, number, of)
	err := shards.ReadFile(path, taskLine, false, t.Code)
	if missing := new(fs.PathError); errors.As(err, &missing) {
		return nil, shards.Refused(path, fmt.Errorf("%w; 'tracekit combine --second-pass' creates it for the command that it runs",
			missing.Err))
	}
	if err != nil {
		return nil, err
	}
	if t.Number != number || t.Of != of {
		return nil, shards.Refused(path, errors.New("it belongs to another shard"))
	}
	return t, nil
}

// Do makes the pass, of a source that was opened as the header says, and leaves the profile:
// complete or not at all. Tables lie in the store.
func (t *Task) Do(ctx context.Context, src trace.Source, store *spill.Store, jobs int, progress *engine.Progress) error {
	path, out := paths(t.dir, t.Number, t.Of)
	pass := profile.NewPass(src, store)
	locations := shards.Locations(src.Defs(), t.Number, t.Of)
	sum, err := readTask(path, src, func(c *codec.Coder) { pass.Code(c, locations) })
	if err != nil {
		return err
	}
	locations = wanted(pass, locations)
	pass.Jobs, pass.Progress = jobs, progress
	from, to := pass.Window()
	pass.Observers = NewFinders(pass.Trace, pass.Ranks, from, to, pass.Jobs).Observers()
	before := src.Findings()
	if err := pass.Run(ctx, locations); err != nil {
		return err
	}
	noticed := trace.Since(before, src.Findings())
	if err := store.Err(); err != nil {
		return err
	}
	return shards.WriteFile(ctx, out, func(w io.Writer) error { return t.write(w, sum, noticed, pass, locations) })
}

// readTask reads a task of a trace and returns the sum of the file.
func readTask(path string, src trace.Source, read func(*codec.Coder)) (sum string, err error) {
	identity, err := shards.Identity(src)
	if err != nil {
		return "", err
	}
	f, err := shards.OpenFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	err = shards.ReadStream(io.TeeReader(f, hash), path, taskLine, true, func(c *codec.Coder) {
		var h shards.Header
		if h.Code(c); c.Err() == nil && h.Trace != identity {
			c.Refuse("%s is another trace, or has changed since the shards were made", src.Info().Path)
		}
		read(c)
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

// wanted returns the locations that a pass goes over.
func wanted(pass *profile.Pass, locations []trace.LocationID) []trace.LocationID {
	out := []trace.LocationID{} // engine.Options.Only: none, not all
	for _, l := range locations {
		if pass.Wants(l) {
			out = append(out, l)
		}
	}
	return out
}

// A counted writer knows how much was written.
type counted struct {
	io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.n += int64(n)
	return n, err
}

// A place is where in the file of a profile the stream of a location begins.
type place struct {
	location trace.LocationID
	at       int64
}

func codeIndex(c *codec.Coder, index *[]place) {
	codec.List(c, index, func(p *place) {
		codec.Number(c, &p.location)
		codec.Number(c, &p.at)
	})
}

// write writes a profile.
func (t *Task) write(to io.Writer, sum string, noticed []trace.Finding, pass *profile.Pass, locations []trace.LocationID) error {
	w := &counted{Writer: to}
	stream := func(line string, code func(*codec.Coder)) error {
		c := codec.NewWriter(w, line)
		code(c)
		return c.Close()
	}
	err := stream(profileLine, func(c *codec.Coder) {
		t.Code(c)
		codec.Text(c, &sum)
		model.Findings(c, &noticed)
	})
	var index []place
	for _, l := range locations {
		index = append(index, place{l, w.n})
		if err == nil {
			err = stream(locationLine, func(c *codec.Coder) { pass.CodeLeft(c, l) })
		}
	}
	at := w.n
	if err == nil {
		err = stream(indexLine, func(c *codec.Coder) { codeIndex(c, &index) })
	}
	if err == nil {
		err = binary.Write(w, binary.LittleEndian, at)
	}
	return err
}
