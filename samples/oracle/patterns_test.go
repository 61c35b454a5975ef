package oracle_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/samples/oracle"
)

func TestPatterns(t *testing.T) {
	patterns, err := oracle.ReadPatterns("../testdata/patterns")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range patterns {
		t.Run(p.Name, func(t *testing.T) {
			for _, batches := range p.Trace.Batches {
				if err := batches[0].Check(); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Trace.Definitions.Check(); err != nil {
				t.Fatal(err)
			}
			r := oracle.Analyze(p.Trace, oracle.Options{})
			if d := cmp.Diff(p.Want, oracle.FormatWaits(r.Waits)); d != "" {
				t.Errorf("waits (-want +oracle):\n%s", d)
			}
		})
	}
}
