package otf2_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tracekit/readers/otf2"
	"tracekit/trace"
)

// An archive is written batch by batch and read location by location.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	archive := filepath.Join(dir, "archive")

	defs := &trace.Defs{
		Clock:     trace.ClockProperties{Resolution: 1_000_000_000},
		Strings:   []string{"main"},
		Regions:   []trace.Region{{Name: 0, File: trace.None, Description: trace.None}},
		Locations: []trace.Location{{Name: 0, Group: trace.None}},
	}
	w, err := otf2.Create(archive, trace.Info{Creator: "example"}, defs, otf2.Options{})
	if err != nil {
		log.Fatal(err)
	}
	b := new(trace.Batch)
	b.AddFlow(10, trace.KindEnter, 0)
	b.AddFlow(25, trace.KindLeave, 0)
	if err := w.Write(b); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	s, err := otf2.Open(context.Background(), archive, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for b, err := range s.Events(context.Background(), 0) {
		if err != nil {
			log.Fatal(err)
		}
		for i, time := range b.Flow.Time {
			fmt.Println(time, b.Flow.Kind[i], s.Defs().RegionName(b.Flow.Region[i]))
		}
	}
	fmt.Println(len(s.Findings()), "findings")
	// Output:
	// 10 Enter main
	// 25 Leave main
	// 0 findings
}
