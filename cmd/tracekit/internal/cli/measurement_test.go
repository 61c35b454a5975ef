package cli

import (
	"strings"
	"testing"

	"tracekit/stats/measurement"
)

// TestParseCosts states the grammar: a name, then costs; a buffer of another size is flushed as fast, unless flush says otherwise.
func TestParseCosts(t *testing.T) {
	base := measurement.Assumed()
	for text, want := range map[string]measurement.Costs{
		"":                      base,
		"photon":                measurement.Photon(),
		"scorep,event=1us":      {Model: "scorep", Event: 1000, Record: 32},
		"impulse,header=1us":    {Model: "impulse", Header: 1000, Record: 32},
		"buffer=8MiB":           {Model: "buffer", Event: 200, Record: 32, Buffer: 8 << 20, Flush: base.Flush / 2, Disk: 1e9},
		"buffer=8MiB,flush=1ms": {Model: "buffer", Event: 200, Record: 32, Buffer: 8 << 20, Flush: 1e6, Disk: 1e9},
		"disk=2GB/s":            {Model: "buffer", Event: 200, Record: 32, Buffer: base.Buffer, Flush: base.Flush, Disk: 2e9},
	} {
		if got, err := ParseCosts(text, base); err != nil || got != want {
			t.Errorf("%q: %+v, want %+v: %v", text, got, want, err)
		}
	}
	for text, want := range map[string]string{"scorep": "not documented", "tape": "want a name", "event=-1s": "want a time",
		"event": "want a name", "event=1us,photon": "want a name", "record=0": "at least 1 byte", "event=2h": "want a time"} {
		if _, err := ParseCosts(text, base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
