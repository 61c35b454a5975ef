package paraver_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tracekit/readers/paraver"
	"tracekit/trace/tracetest"
)

// A trace is read from its .prv file; those with labels and names are optional.
func ExampleOpen() {
	const text = `#Paraver (01/02/2026 at 03:04):400_ns:0:1:2(1:0,1:0)
2:0:1:1:1:100:50000001:1
3:0:1:1:1:100:180:0:1:2:1:120:300:64:7
2:0:1:1:1:180:50000001:0
2:0:1:2:1:120:50000001:2
2:0:1:2:1:300:50000001:0
`
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ring.prv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	s, err := paraver.Open(context.Background(), path, paraver.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for b, err := range s.Events(context.Background(), 1) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Defs().RegionName(b.Flow.Region[0]), b.P2P.Kind[0], "from", b.P2P.Peer[0], "at", b.P2P.Time[0])
	}
	// Output:
	// MPI_Recv MpiRecv from 0 at 300
}

// A trace is written batch by batch; what the format cannot express is counted.
func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	src, err := tracetest.Parse("location 0 master rank=0\n 10 Enter main ; 20 MpiSend to=0 tag=1 bytes=8 ; 30 Leave main\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(dir, "run.prv")
	w, err := paraver.Create(path, src.Info(), src.Defs(), paraver.CreateOptions{Plain: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range src.Batches[0] {
		if err := w.Write(b); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(path)
	fmt.Print(string(text))
	fmt.Println(w.Lost())
	// Output:
	// #Paraver (01/01/1970 at 00:00):30_ns:1(1):1:1(1:1),1
	// c:1:1:1:1
	// 1:1:1:1:1:0:10:2
	// 1:1:1:1:1:10:30:1
	// 2:1:1:1:1:10:60000019:1
	// 2:1:1:1:1:30:60000019:0
	// map[sends without a receive:1]
}
