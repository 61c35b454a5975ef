package main

import (
	"strings"
	"testing"
)

func TestFailing(t *testing.T) {
	doc := map[string]any{
		"efficiency": map[string]any{
			"parallel_efficiency":   0.75,
			"transfer_efficiency":   nil,
			"without_init_finalize": map[string]any{"parallel_efficiency": 0.9},
		},
		"messages": map[string]any{"count": 12, "latency_ns": map[string]any{"max": 7}},
		"sizes":    map[string]any{"count": 3},
		"profile":  []any{map[string]any{"exclusive_ns": 5}},
	}
	for _, c := range []struct {
		condition string
		fails     bool
		err       string
	}{
		{"efficiency.parallel_efficiency<0.8", true, ""},
		{"efficiency.parallel_efficiency < 0.7", false, ""},
		{"parallel_efficiency<0.8", true, ""}, // the block at the least depth
		{"without_init_finalize.parallel_efficiency<0.8", false, ""},
		{"messages.count==12", true, ""},
		{"messages.count!=12", false, ""},
		{"messages.latency_ns.max>=7", true, ""},
		{"latency_ns.max<=6", false, ""},
		{"profile.0.exclusive_ns>4", true, ""},
		{"count>1", false, "several blocks"},
		{"transfer_efficiency<1", false, "not defined"},
		{"messages<1", false, "block"},
		{"nothing<1", false, "no nothing"},
		{"profile.1.exclusive_ns>4", false, "no profile.1"},
		{"a=1", false, "want PATH"},
		{"a<b", false, "not a number"},
	} {
		f := gateFlags{failIf: []string{c.condition}}
		err := f.validate()
		var reasons []string
		if err == nil {
			reasons, err = f.gate(doc)()
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want one with %q", c.condition, err, c.err)
			}
			continue
		}
		if err != nil || (len(reasons) == 1) != c.fails {
			t.Errorf("%s: reasons %q, error %v, want failing %v", c.condition, reasons, err, c.fails)
		}
	}
}
