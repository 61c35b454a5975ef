package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"tracekit/readers"
	"tracekit/readers/otf2"
	"tracekit/shards"
	"tracekit/stats/distributed"
)

// combine runs 'tracekit combine', for which a pipeline of its own makes the second pass, and
// returns its exit code.
func (o *options) combine(ctx context.Context, flags []string) (code int, err error) {
	parts := o.objects.local(o.parts)
	if o.format != "" && o.format != otf2.Format {
		parts = o.out
	}
	args := []string{"combine", parts, "--mirror", o.objects.dir}
	if o.compress == nil && o.format == "" {
		dir, err := o.dir()
		if err != nil {
			return 1, err
		}
		words := append(slices.Clone(o.self), secondPass, dir, o.objects.dir, o.objects.given(o.parts))
		args = append(args, "--second-pass", shellWords(append(words, o.givenTrace()...)))
	}
	combine := exec.CommandContext(ctx, o.tracekit, append(args, flags...)...)
	combine.Stdout, combine.Stderr = o.stdout, os.Stderr
	combine.Cancel = func() error { return combine.Process.Signal(syscall.SIGTERM) }
	if o.away {
		combine.Dir = o.objects.dir
	}
	var failed *exec.ExitError
	if err = combine.Run(); errors.As(err, &failed) {
		return failed.ExitCode(), nil // it has said why
	}
	return 0, err
}

// secondPass is the first argument of the process that makes the second pass, before the folder in
// which the trace was named, the mirror, the directory of the tasks and the trace.
const secondPass = "second-pass"

// shellWords returns a command line that a shell takes for these words.
func shellWords(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// dir returns the folder in which the trace was named, "" if it has addresses only.
func (o *options) dir() (string, error) {
	if !slices.ContainsFunc(o.trace, func(name string) bool { return !readers.IsAddress(name) }) {
		return "", nil
	}
	return os.Getwd()
}

// givenTrace returns the trace as it is given to workers.
func (o *options) givenTrace() (given []string) {
	for _, name := range o.trace {
		given = append(given, o.objects.given(name))
	}
	return given
}

// make runs the pipeline that makes the shards, and fetches what combine needs of them and of the trace.
func (o *options) make(ctx context.Context) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	files, err := o.objects.lay(ctx, o.trace) // what is wrong with it shows before a cluster has begun anything
	if err != nil {
		return err
	}
	if o.events = files.Events; len(o.events) > 0 {
		if err := o.objects.pack(ctx, o.parts, files); err != nil {
			return err
		}
	}
	at := place{o.givenTrace(), dir, o.objects.given(o.parts), len(o.events) > 0}
	err = o.pipeline(ctx, &shardFn{Compress: o.compress, Format: o.format, Place: at, Of: o.shards, Memory: o.memory})
	if err != nil {
		return err
	}
	var made []string
	for i := range o.shards {
		made = append(made, o.parts+"/"+shards.Name(i+1, o.shards))
		if slices.Contains(readers.PartFormats(), o.format) {
			made = append(made, o.parts+"/"+filepath.ToSlash(readers.JoinReads(i+1, o.shards)))
		}
	}
	return each(ctx, made, o.objects.get)
}

// makeProfiles runs the pipeline that makes the second pass over a trace that was named in a folder. Tasks lie
// in the mirror, and profiles are to lie there, if the directory of these has an address.
func (o *options) makeProfiles(ctx context.Context, dir, mirror, givenParts string, given []string) (err error) {
	if o.objects, err = newObjects(mirror); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.objects.Close()) }()
	parts, err := o.objects.name(givenParts)
	if err != nil {
		return err
	}
	var tasks, profiles []string
	for i := range o.shards {
		task, profile := distributed.Names(i+1, o.shards)
		tasks, profiles = append(tasks, parts+"/"+task), append(profiles, parts+"/"+profile)
	}
	if readers.IsAddress(parts) {
		defer func() {
			ctx, stop := atLast(ctx)
			defer stop()
			err = errors.Join(err, o.objects.remove(ctx, slices.Concat(tasks, profiles)))
		}()
	}
	if err := each(ctx, tasks, o.objects.put); err != nil {
		return err
	}
	_, missing := os.Lstat(o.objects.local(parts + "/" + layoutName))
	at := place{given, dir, givenParts, missing == nil}
	if err := o.pipeline(ctx, &profileFn{Place: at, Of: o.shards, Memory: o.memory}); err != nil {
		return err
	}
	return each(ctx, profiles, o.objects.get)
}

// pipeline has what fn makes of the number of a shard made for all of them.
func (o *options) pipeline(ctx context.Context, fn any) error {
	p, s := beam.NewPipelineWithRoot()
	forShards(s, fn, o.shards)
	if err := beamx.Run(ctx, p); err != nil {
		return fmt.Errorf("the pipeline failed, and no result was written%s: %w", lookAt(), err)
	}
	return nil
}

// lookAt says where to look when a pipeline has failed: what Beam itself reports of a cluster that is
// gone is no more than that a connection was refused.
func lookAt() string {
	if f := flag.Lookup("endpoint"); f != nil && f.Value.String() != "" {
		return " (is the runner at " + f.Value.String() + ", and the cluster behind it, still there? their logs say more)"
	}
	return ""
}
