package samples_test

import (
	"context"
	"fmt"

	"tracekit/samples"
	"tracekit/trace"
)

// A ring of four ranks, in which every iteration also has a receiver that waits 5 µs for
// its sender.
func ExampleGenerate() {
	var m *samples.Memory
	open := func(info trace.Info, defs *trace.Defs) (trace.Sink, error) {
		m = samples.NewMemory(info, defs)
		return m, nil
	}
	truth, err := samples.Generate(context.Background(), samples.Options{Program: "ring", Ranks: 4, Iterations: 10,
		Plant: samples.Plant{LateSender: 5000}}, open)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.About.Description)
	fmt.Println(truth.Messages, "messages,", truth.Bytes, "bytes")
	fmt.Println(truth.Waits.LateSender.Time >= 10*5000)
	// Output:
	// ring, 4 ranks, 10 iterations, seed 0
	// 50 messages, 41040 bytes
	// true
}

func ExamplePrograms() {
	for _, p := range samples.Programs()[:3] {
		fmt.Printf("%-6s %s\n", p.Name, p.Help)
	}
	// Output:
	// ring   each rank sends to its right neighbor and receives from its left one (Isend, Recv, Wait)
	// halo   2-D halo exchange (Irecv, Isend, Waitall), then Allreduce
	// sweep  2-D wavefronts in turn from two corners (blocking Send and Recv)
}

func ExampleRandom() {
	m, truth := samples.Random(7)
	fmt.Println(m.About.Description, len(m.Definitions.Locations) == truth.Locations)
	// Output: random program 7 true
}
