package figure

import (
	"slices"
	"testing"

	"tracekit/stats/studies/headers"
)

// TestCallsOfAcceleratorsAreAGroup: they are no computation; runs without them have no such group.
func TestCallsOfAcceleratorsAreAGroup(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	row := func(metric string, x float64) headers.MetricRow {
		return headers.MetricRow{Metric: metric, Share: share(x)}
	}
	p := &headers.Profile{Host: []headers.MetricRow{row(headers.Compute+"solve", 0.5), row("wait", 0.25)}}
	if got := Grouped(ViewGroups(p), p.Host); !slices.Equal(got, []float64{0.5, 0, 0, 0, 0, 0, 0, 0.25}) {
		t.Errorf("without accelerator %v", got)
	}
	p.Host = append(p.Host, row(headers.Accelerator+"hipMemset", 0.25))
	if got := Grouped(ViewGroups(p), p.Host); !slices.Equal(got, []float64{0.5, 0.25, 0, 0, 0, 0, 0, 0, 0.25}) {
		t.Errorf("with accelerator %v", got)
	}
}
