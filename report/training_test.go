package report

import (
	"strings"
	"testing"
	"tracekit/document/training"
)

// TestWorkerOrStage states that a slow worker of the last stage is not taken for a long last stage where other workers run that stage.
func TestWorkerOrStage(t *testing.T) {
	whole, none := 1.0, 0.0
	for _, c := range []struct {
		dp            int
		worker, stage *float64
		says          bool
	}{{4, &whole, &whole, false}, {4, &none, &whole, true}, {1, &whole, &whole, true}, {4, nil, nil, false}} {
		doc := &training.Job{DPRanks: c.dp, Stages: 2, Slowdown: 1.3, MW: c.worker, MS: c.stage}
		if said := strings.Contains(strings.Join(trainingFacts(doc), " "), "last stage"); said != c.says {
			t.Errorf("%d data-parallel ranks: the last stage is said to be long: %v, want %v", c.dp, said, c.says)
		}
	}
}
