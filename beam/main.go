package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"tracekit/readers"
	"tracekit/readers/otf2"
)

const usage = `usage: tracekit-beam [flags] analyze TRACE... [-- flags of 'tracekit analyze']
       tracekit-beam [flags] compress TRACE... -- -o FILE.tkf [flags of 'tracekit compress']
       tracekit-beam [flags] convert TRACE... OUT.parquet|OUT.arrow|OUT.otf2 [-- flags of 'tracekit combine']

Workers of a Beam runner decode, compress or write the trace, a share each, and 'tracekit combine'
makes of what they leave what the plain command makes. The trace and the directory of the shards,
or OUT, must have the same paths on all machines. Flags:
`

// options are the flags beside those of the runner, which Beam adds.
type options struct {
	shards   int
	parts    string
	tracekit string
	memory   int64
	compress *compression // nil: the trace is not compressed
	format   string       // in which it is written, in parts that are the shards; "": it is not
	out      string       // the tables that are written, as they were named

	self []string // the command line that started this process, up to its arguments
}

func main() {
	var o options
	flag.IntVar(&o.shards, "shards", 16, "shards that the trace is dealt out in: a few for each worker")
	flag.StringVar(&o.parts, "parts", "", "new directory for the shards, which stays (default: one beside the first TRACE, which does not)")
	flag.StringVar(&o.tracekit, "tracekit", "tracekit", "the plain command")
	flag.Int64Var(&o.memory, "shard_memory", 192<<20, "bytes of tables that a shard keeps in memory; more goes to a temporary file of its worker")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	register()
	beam.Init() // a worker does not come back from here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o.self = append([]string{os.Args[0]}, os.Args[1:len(os.Args)-flag.NArg()]...)
	code, err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tracekit-beam: %v\n", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// run runs a command line and returns the exit code of what it ended with.
func (o *options) run(ctx context.Context, args []string) (code int, err error) {
	var rest []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	if len(args) == 3 && args[0] == secondPass && o.shards > 0 {
		return 0, o.makeProfiles(ctx, args[1], args[2])
	}
	if len(args) < 2 || !slices.Contains([]string{"analyze", "compress", "convert"}, args[0]) || o.shards < 1 {
		flag.Usage()
		return 2, errors.New("want analyze, compress or convert, and a trace")
	}
	if args[0] == "compress" {
		if o.compress, rest, err = parseCompression(rest); err != nil {
			return 2, err
		}
	}
	if o.tracekit, err = exec.LookPath(o.tracekit); err != nil {
		return 2, fmt.Errorf("the plain command is needed (-tracekit): %w", err)
	}
	paths := args[1:]
	if args[0] == "convert" {
		return o.convert(ctx, paths, rest)
	}
	remove, err := o.makeParts(paths[0])
	if err != nil {
		return 1, err
	}
	defer remove()
	if err := o.make(ctx, paths); err != nil {
		return 1, err
	}
	return o.combine(ctx, os.Stdout, rest)
}

// convert has the parts of a trace written, of which combine makes the trace: complete or not at all.
func (o *options) convert(ctx context.Context, paths, flags []string) (code int, err error) {
	if len(paths) < 2 {
		return 2, errors.New("want convert TRACE OUT")
	}
	paths, out := paths[:len(paths)-1], paths[len(paths)-1]
	if o.format = readers.FormatOf(out); o.format == otf2.Format {
		return o.archive(ctx, paths, out, flags)
	}
	if o.out = out; o.parts != "" {
		return 2, errors.New("convert does not take -parts for tables: the parts are OUT's own")
	}
	if !slices.Contains(readers.PartFormats(), o.format) {
		return 2, fmt.Errorf("%s: a trace is written in parts as %s or otf2 only; 'tracekit convert' writes other formats", o.out, strings.Join(readers.PartFormats(), ", "))
	}
	if o.parts, err = filepath.Abs(o.out); err == nil {
		err = os.Mkdir(o.parts, 0o755)
	}
	if err != nil {
		return 1, err
	}
	if err = o.make(ctx, paths); err == nil {
		code, err = o.combine(ctx, os.Stdout, flags)
	}
	if err != nil || !readers.IsJoined(o.parts) {
		err = errors.Join(err, os.RemoveAll(o.parts))
		code = max(code, 1)
	}
	return code, err
}

// archive has the event files of an archive written, which combine joins.
func (o *options) archive(ctx context.Context, paths []string, out string, flags []string) (code int, err error) {
	if _, err := os.Lstat(out); err == nil && !slices.Contains(flags, "--force") {
		return 2, fmt.Errorf("%s exists; --force, behind --, replaces an archive", out)
	}
	remove, err := o.makeParts(paths[0])
	if err != nil {
		return 1, err
	}
	defer remove()
	if err := o.make(ctx, paths); err != nil {
		return 1, err
	}
	return o.combine(ctx, os.Stdout, append(slices.Clone(flags), "-o", out))
}

// combine runs 'tracekit combine', for which a pipeline of its own makes the second pass, and
// returns its exit code.
func (o *options) combine(ctx context.Context, out io.Writer, flags []string) (code int, err error) {
	args := []string{"combine", cmp.Or(o.out, o.parts)}
	if o.compress == nil && o.format == "" {
		dir, err := os.Getwd()
		if err != nil {
			return 1, err
		}
		args = append(args, "--second-pass", shellWords(append(slices.Clone(o.self), secondPass, dir, o.parts)))
	}
	combine := exec.CommandContext(ctx, o.tracekit, append(args, flags...)...)
	combine.Stdout, combine.Stderr = out, os.Stderr
	combine.Cancel = func() error { return combine.Process.Signal(syscall.SIGTERM) }
	var failed *exec.ExitError
	if err = combine.Run(); errors.As(err, &failed) {
		return failed.ExitCode(), nil // it has said why
	}
	return 0, err
}

// secondPass is the first argument of the process that makes the second pass, before the folder in
// which the trace was named and that of the tasks.
const secondPass = "second-pass"

// shellWords returns a command line that a shell takes for these words.
func shellWords(words []string) string {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(quoted, " ")
}

// makeParts makes the directory for the shards, and says how it is removed.
func (o *options) makeParts(trace string) (remove func(), err error) {
	if o.parts != "" {
		o.parts, err = filepath.Abs(o.parts)
		if err == nil {
			err = os.Mkdir(o.parts, 0o755)
		}
		return func() {}, err
	}
	beside, err := filepath.Abs(filepath.Dir(trace))
	if err == nil {
		o.parts, err = os.MkdirTemp(beside, ".tracekit-parts-*")
	}
	return func() { os.RemoveAll(o.parts) }, err
}

// make runs the pipeline that makes the shards.
func (o *options) make(ctx context.Context, paths []string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return o.pipeline(ctx, &shardFn{Compress: o.compress, Format: o.format, Paths: paths, Dir: dir, Parts: o.parts, Of: o.shards, Memory: o.memory})
}

// makeProfiles runs the pipeline that makes the second pass over a trace that was named in a folder.
func (o *options) makeProfiles(ctx context.Context, dir, parts string) error {
	return o.pipeline(ctx, &profileFn{Dir: dir, Parts: parts, Of: o.shards, Memory: o.memory})
}

// pipeline has what fn makes of the number of a shard made for all of them.
func (o *options) pipeline(ctx context.Context, fn any) error {
	p, s := beam.NewPipelineWithRoot()
	forShards(s, fn, o.shards)
	if err := beamx.Run(ctx, p); err != nil {
		return fmt.Errorf("the pipeline failed, and nothing is made of the trace%s: %w", lookAt(), err)
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
