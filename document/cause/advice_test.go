package cause

import (
	"strings"
	"testing"

	"tracekit/document/field"
)

// TestAdviceOnCopies: nobody is told to pin memory that is pinned, or that lies on the device.
func TestAdviceOnCopies(t *testing.T) {
	for name, want := range map[string]string{"Memcpy HtoD (Pageable -> Device)": "use pinned memory", "Memcpy HtoD": "use pinned memory",
		"Memcpy HtoD (Pinned -> Device)": "while kernels compute", "Memcpy DtoH (Device -> Pinned)": "while kernels compute",
		"Memcpy DtoD (Device -> Device)": "avoid copies on the device"} {
		c := Cause{Kind: Transfer, Operation: field.Name(name), Evidence: map[string]float64{"exposed_ns": 1}}
		if c.Advise(false); !strings.Contains(c.Try, want) {
			t.Errorf("%s: %q, want %q", name, c.Try, want)
		}
	}
}

// TestAdviceOnSlowCalls: one looks at nodes where few ranks are slow or one stands out, else at what strikes all, and at nothing else
// before ranks have cores of their own.
func TestAdviceOnSlowCalls(t *testing.T) {
	many := []uint32{0, 1, 2, 3, 4}
	for _, test := range []struct {
		ranks    []uint32
		evidence map[string]float64
		share    bool
		want     string
	}{
		{many, nil, false, "bind ranks"},
		{nil, nil, false, "bind ranks"},
		{many[:2], nil, false, "check nodes"},
		{many, map[string]float64{"most_share": 0.5}, false, "check nodes"},
		{many[:2], nil, true, ""},
	} {
		c := Cause{Kind: SlowCalls, Ranks: test.ranks, Evidence: test.evidence}
		if c.Advise(test.share); !strings.HasPrefix(c.Try, test.want) || test.want == "" && c.Try != "" {
			t.Errorf("%+v: %q", test, c.Try)
		}
	}
}

// TestAdviceOnLevers: an inefficient run is told how to spend less time in calls where these are what it lacks, and not if ranks share
// cores; of computing nothing is known.
func TestAdviceOnLevers(t *testing.T) {
	for _, test := range []struct {
		operation string
		evidence  string
		share     bool
		want      string
	}{
		{"MPI_Alltoall", "transfer_efficiency", false, "use fewer collectives"},
		{"MPI_Send", "transfer_efficiency", false, "send fewer and larger messages"},
		{"MPI_Alltoall", "transfer_efficiency", true, ""},
		{"MPI_Alltoall", "load_balance", false, ""},
		{"", "transfer_efficiency", false, ""},
	} {
		c := Cause{Kind: Inefficient, Operation: field.Name(test.operation), Evidence: map[string]float64{test.evidence: 0.2}}
		if c.Advise(test.share); !strings.HasPrefix(c.Try, test.want) || test.want == "" && c.Try != "" {
			t.Errorf("%+v: %q", test, c.Try)
		}
	}
}

// TestAdviceOnGaps: what a launch takes itself is many short gaps; one long gap is something that its stream waits for.
func TestAdviceOnGaps(t *testing.T) {
	for want, evidence := range map[string]map[string]float64{
		"launch less often":        {"kernel_gaps_ns": 2e6, "mean_gap_ns": 4e3},
		"look for what its stream": {"kernel_gaps_ns": 2e6, "mean_gap_ns": 4e3, "longest_gap_ns": 16e5},
	} {
		c := Cause{Kind: DeviceIdle, Evidence: evidence}
		if c.Advise(false); !strings.HasPrefix(c.Try, want) {
			t.Errorf("%v: %q, want %q", evidence, c.Try, want)
		}
	}
}
