package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"
)

const usage = `usage: tracekit-beam [flags] analyze TRACE... [-- flags of 'tracekit analyze']
       tracekit-beam [flags] compress TRACE... -- -o FILE.tkf [flags of 'tracekit compress']

Workers of a Beam runner decode or compress the trace, a share each, and 'tracekit combine' makes
of what they leave what the plain command makes. The trace and the directory of the shards must
have the same paths on all machines. Flags:
`

// options are the flags beside those of the runner, which Beam adds.
type options struct {
	shards   int
	parts    string
	tracekit string
	memory   int64
	compress *compression // nil: the trace is analysed
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
	if len(args) < 2 || args[0] != "analyze" && args[0] != "compress" || o.shards < 1 {
		flag.Usage()
		return 2, errors.New("want analyze or compress, and a trace")
	}
	if args[0] == "compress" {
		if o.compress, rest, err = parseCompression(rest); err != nil {
			return 2, err
		}
	}
	if o.tracekit, err = exec.LookPath(o.tracekit); err != nil {
		return 2, fmt.Errorf("the plain command is needed (-tracekit): %w", err)
	}
	remove, err := o.makeParts(args[1])
	if err != nil {
		return 1, err
	}
	defer remove()
	if err := o.make(ctx, args[1:]); err != nil {
		return 1, err
	}
	combine := exec.CommandContext(ctx, o.tracekit, append([]string{"combine", o.parts}, rest...)...)
	combine.Stdout, combine.Stderr = os.Stdout, os.Stderr
	combine.Cancel = func() error { return combine.Process.Signal(syscall.SIGTERM) }
	var failed *exec.ExitError
	if err = combine.Run(); errors.As(err, &failed) {
		return failed.ExitCode(), nil // it has said why
	}
	return 0, err
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
	p, s := beam.NewPipelineWithRoot()
	makeShards(s, &shardFn{Compress: o.compress, Paths: paths, Dir: dir, Parts: o.parts, Of: o.shards, Memory: o.memory})
	if err := beamx.Run(ctx, p); err != nil {
		return fmt.Errorf("the pipeline failed, and nothing is made of the trace: %w", err)
	}
	return nil
}
