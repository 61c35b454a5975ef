package flags

import (
	"slices"
	"testing"

	"tracekit/stats/scope"
)

func TestParseSelection(t *testing.T) {
	ranks, err := ParseRanks("0-2, 8")
	if err != nil || !slices.Equal(ranks, []uint32{0, 1, 2, 8}) {
		t.Errorf("parseRanks = %v, %v", ranks, err)
	}
	for _, bad := range []string{"a", "3-1", "-1", "1-", "0-99999999"} {
		if _, err := ParseRanks(bad); err == nil {
			t.Errorf("ParseRanks(%q) accepted", bad)
		}
	}
	for text, want := range map[string]scope.Instant{
		"":      {},
		"1.5s":  {Kind: scope.AfterNs, Ns: 1500e6},
		"200ms": {Kind: scope.AfterNs, Ns: 200e6},
		"25%":   {Kind: scope.Fraction, Share: 0.25},
	} {
		if got, err := ParseInstant(text); err != nil || got != want {
			t.Errorf("ParseInstant(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"101%", "-1s", "soon", "NaN%"} {
		if _, err := ParseInstant(bad); err == nil {
			t.Errorf("ParseInstant(%q) accepted", bad)
		}
	}
	for text, want := range map[string]int64{"512MiB": 512 << 20, "2g": 2 << 30, "1000000": 1e6, "1.5kB": 1500} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
}
