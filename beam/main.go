package main

import (
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
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

const usage = `usage: tracekit-beam [flags] analyze TRACE... [-- flags of 'tracekit analyze']
       tracekit-beam [flags] compress TRACE... -- -o FILE.tkf [flags of 'tracekit compress']
       tracekit-beam [flags] convert TRACE... OUT.parquet|OUT.arrow|OUT.otf2 [-- flags of 'tracekit combine']

Workers of a Beam runner decode, compress or write the trace, a share each, and 'tracekit combine'
makes of what they leave what the plain command makes. The trace and the directory of the shards,
or OUT, must have the same paths on all machines, or addresses in an object store: s3://BUCKET/KEY,
gs://BUCKET/KEY, azblob://CONTAINER/KEY, with options of the bucket behind a question mark. Flags:
`

// options are the flags beside those of the runner, which Beam adds.
type options struct {
	shards   int
	parts    string
	tracekit string
	memory   int64
	compress *compression // nil: the trace is not compressed
	format   string       // in which it is written, in parts that are the shards; "": it is not
	out      string       // the trace that is written, as it was named

	objects *objects // of this process
	trace   []string // its names
	events  []string // the objects of its events
	away    bool     // what is made of it has an address

	stdout io.Writer
	self   []string // the command line that started this process, up to its arguments
}

func main() {
	o := options{stdout: os.Stdout}
	flag.IntVar(&o.shards, "shards", 16, "shards that the trace is dealt out in: a few for each worker")
	flag.StringVar(&o.parts, "parts", "",
		"new directory for the shards, or the address of one, which stays (default: one beside the first TRACE, which does not)")
	flag.StringVar(&o.tracekit, "tracekit", "tracekit", "the plain command")
	flag.Int64Var(&o.memory, "shard_memory", 192<<20,
		"bytes of tables that a shard keeps in memory; more goes to a temporary file of its worker")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	register()
	beam.Init() // a worker does not come back from here
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	o.self = append([]string{os.Args[0]}, os.Args[1:len(os.Args)-flag.NArg()]...)
	remove, err := ownTemp()
	code := 0
	if err == nil {
		code, err = o.run(ctx, flag.Args())
		remove()
	}
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "tracekit-beam: %v\n", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// ownTemp makes a directory for all temporary files of this process and of those that it starts, and says how it is
// removed: Beam's own runner lets workers, which are in this process, stand as they are when it is interrupted.
func ownTemp() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "tracekit-beam-*")
	if err != nil {
		return nil, err
	}
	return func() {
		for range 100 {
			if os.RemoveAll(dir) == nil {
				break
			}
			time.Sleep(10 * time.Millisecond) // such a worker makes files meanwhile
		}
	}, os.Setenv("TMPDIR", dir)
}

// run runs a command line and returns the exit code of what it ended with.
func (o *options) run(ctx context.Context, args []string) (code int, err error) {
	var rest []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, rest = args[:i], args[i+1:]
	}
	if len(args) >= 5 && args[0] == secondPass && o.shards > 0 {
		return 0, o.makeProfiles(ctx, args[1], args[2], args[3], args[4:])
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
	if o.tracekit, err = exec.LookPath(o.tracekit); err == nil {
		o.tracekit, err = filepath.Abs(o.tracekit)
	}
	if err != nil {
		return 2, fmt.Errorf("the plain command is needed (-tracekit): %w", err)
	}
	if o.objects, err = newObjects(""); err != nil {
		return 1, err
	}
	defer func() {
		if failed := o.objects.Close(); failed != nil {
			code, err = max(code, 1), errors.Join(err, failed)
		}
	}()
	switch args[0] {
	case "analyze":
		return o.analysis(ctx, args[1:], rest)
	case "compress":
		return o.file(ctx, args[1:], rest)
	}
	return o.convert(ctx, args[1:], rest)
}
