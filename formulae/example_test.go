package formulae_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tracekit/formulae"
	"tracekit/readers"
)

func ExampleLearner() {
	l := formulae.NewLearner(formulae.DefaultTerms)
	for range 1000 {
		for _, v := range []uint64{7, 7, 3} {
			l.Add(v)
		}
	}
	f := l.Formula()
	fmt.Println(f.Kind, f.Body, f.Count)
	// Output: cycle [{7 2} {3 1}] 3000
}

func ExampleCompress() {
	ctx := context.Background()
	src, err := readers.Open(ctx, "../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	var file bytes.Buffer
	report, err := formulae.Compress(ctx, src, &file, formulae.Options{Learn: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	receivers := report.Learned.SendReceivers
	fmt.Println(report.Ranks.Ranks, "ranks of", report.Ranks.RankClasses, "class,",
		receivers.Learned, "of", receivers.Constructs, "senders learned, to a fifth:", 5*report.Sizes.File < report.Sizes.Trace)
	// Output: 4 ranks of 1 class, 4 of 4 senders learned, to a fifth: true
}

func ExampleOpen() {
	ctx := context.Background()
	src, err := readers.Open(ctx, "../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	var file bytes.Buffer
	if _, err := formulae.Compress(ctx, src, &file, formulae.Options{Mode: formulae.Statistics}); err != nil {
		fmt.Println(err)
		return
	}
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "ring.tkf")
	os.WriteFile(name, file.Bytes(), 0o666)
	rebuilt, err := formulae.Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rebuilt.Close()
	n := 0
	for b := range rebuilt.Events(ctx, 0) {
		n += b.Len()
	}
	fmt.Println(n, "events rebuilt")
	// Output: 112 events rebuilt
}
