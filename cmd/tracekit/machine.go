package main

import (
	"fmt"

	"tracekit/stats/fit"
	"tracekit/trace"
)

// machineOf names the machine that a trace was made on: what its writer says, or else the
// first node of its system tree that holds processes; "" if neither is recorded.
func machineOf(src trace.Source) string {
	if m := src.Info().Machine; m != "" {
		return m
	}
	d := src.Defs()
	for _, g := range d.LocationGroups {
		if int(g.Node) < len(d.SystemTree) {
			return d.String(d.SystemTree[g.Node].Name)
		}
	}
	return ""
}

// warnOfProfile says on standard error in what a profile and the trace to be analysed were
// not made alike, and if a quantile is asked for that it does not hold. It is not an error: two machines may be equal under different names.
func warnOfProfile(io *streams, p *fit.Profile, src trace.Source, quantile float64) {
	if p == nil {
		return
	}
	d := src.Defs()
	for _, x := range []struct{ what, learned, here string }{
		{"on the machine", p.Machine, machineOf(src)},
		{"with", p.Creator, src.Info().Creator},
	} {
		if x.learned != "" && x.here != "" && x.learned != x.here {
			fmt.Fprintf(io.Err, "tracekit: warning: the profile was learned %s %q, the trace was made %s %q\n", x.what, x.learned, x.what, x.here)
		}
	}
	if quantile != p.Quantile && quantile != defaultQuantile {
		fmt.Fprintf(io.Err, "tracekit: warning: the profile holds the %s quantile; --quantile is for operations that it does not know\n", formatShare(p.Quantile))
	}
	if n := len(d.World()); n > p.Processes {
		fmt.Fprintf(io.Err, "tracekit: warning: the profile was learned with %d processes, the trace has %d: collectives of more processes are extrapolated\n", p.Processes, n)
	}
}
