package jsontrace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
)

// Two messages in the convention that any program can write.
const pingPong = `[
{"ph":"X","pid":0,"tid":0,"ts":0,"dur":10,"name":"MPI_Send","cat":"mpi"},
{"ph":"s","pid":0,"tid":0,"ts":1,"id":1,"name":"msg","cat":"mpi.msg","args":{"dst":1,"tag":7,"bytes":64}},
{"ph":"X","pid":1,"tid":0,"ts":2,"dur":11.5,"name":"MPI_Recv","cat":"mpi"},
{"ph":"f","pid":1,"tid":0,"ts":13,"id":1,"bp":"e","name":"msg","cat":"mpi.msg","args":{"src":0,"tag":7,"bytes":64}},
`

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ping.json")
	if err := os.WriteFile(path, []byte(pingPong), 0o666); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s, err := jsontrace.Open(ctx, []string{path}, jsontrace.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for l := range s.Defs().Locations {
		for b, err := range s.Events(ctx, trace.LocationID(l)) {
			if err != nil {
				fmt.Println(err)
				return
			}
			for i, k := range b.P2P.Kind {
				fmt.Println(k, "at", b.P2P.Time[i], "peer", b.P2P.Peer[i], "bytes", b.P2P.Bytes[i])
			}
		}
	}
	// Output:
	// MpiSend at 1000 peer 1 bytes 64
	// MpiRecv at 13000 peer 0 bytes 64
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	defs := &trace.Defs{
		Clock:     trace.ClockProperties{Resolution: 1e9},
		Strings:   []string{"", "solve", "main thread"},
		Locations: []trace.Location{{Name: 2, Group: trace.None}},
		Regions:   []trace.Region{{Name: 1, Paradigm: trace.ParadigmUser}},
	}
	path := filepath.Join(dir, "run.json")
	w, err := jsontrace.Create(path, trace.Info{}, defs, jsontrace.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var b trace.Batch
	b.AddFlow(1500, trace.KindEnter, 0)
	b.AddFlow(4000, trace.KindLeave, 0)
	if err := w.Write(&b); err != nil {
		fmt.Println(err)
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	text, _ := os.ReadFile(path)
	lines := strings.Split(string(text), "\n")
	fmt.Println(strings.Join(lines[6:], "\n"))
	// Output:
	// {"ph":"B","pid":0,"tid":0,"ts":1.500,"name":"solve","cat":"user"},
	// {"ph":"E","pid":0,"tid":0,"ts":4.000}
	// ]}
}
