package tkf_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tracekit/formulae/tkf"
	"tracekit/readers"
)

func ExampleCompress() {
	ctx := context.Background()
	src, err := readers.Open(ctx, "../../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	var file bytes.Buffer
	report, err := tkf.Compress(ctx, src, &file, tkf.Options{Learn: true})
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
	src, err := readers.Open(ctx, "../../samples/archives/ring-4-plain", readers.OpenOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	var file bytes.Buffer
	if _, err := tkf.Compress(ctx, src, &file, tkf.Options{Mode: tkf.Statistics}); err != nil {
		fmt.Println(err)
		return
	}
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "ring.tkf")
	os.WriteFile(name, file.Bytes(), 0o666)
	rebuilt, err := tkf.Open(name, 0, nil)
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
