package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/words"
	"tracekit/readers"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// ModelFlags are the flags of commands that fit laws to the durations of calls.
type ModelFlags struct {
	Quantile float64
	Alpha    float64
	windowNs int64
	laws     []fit.Family // nil: not chosen
}

// DefaultQuantile is the quantile that defines t_max if no flag says otherwise.
const DefaultQuantile = 0.99

// Add adds the flags.
func (f *ModelFlags) Add(set *pflag.FlagSet) {
	quantiles := flags.NumberIn("0.8 to 1", func(v float64) bool { return v >= 0.8 && v <= 1 })
	rates := flags.NumberIn("a number between 0 and 1", func(v float64) bool { return v > 0 && v < 1 })
	flags.Var(set, &f.Quantile, quantiles, "quantile", fmt.Sprint(DefaultQuantile),
		"`share` of calls without overhead, 0.8 to 1: the quantile that defines t_max")
	flags.Var(set, &f.Alpha, rates, "alpha", fmt.Sprint(fit.DefaultAlpha), "`rate` at which the χ² test rejects a true law")
	flags.Var(set, &f.laws, flags.List(flags.Parsed(parseFamily)), "families", "", "`list` of laws to try: "+familyNames()+" (default: "+
		"all but poisson)")
	flags.Var(set, &f.windowNs, flags.Window(), "window", "", "`width` of histogram bins, such as 100ns (default: chosen for each key)")
}

// parseFamily reads the name of a family of laws.
func parseFamily(name string) (fit.Family, error) {
	if !slices.Contains(fit.Families(), fit.Family(name)) {
		return "", errors.New("want one or more of " + familyNames())
	}
	return fit.Family(name), nil
}

// familyNames lists the families of laws for people.
func familyNames() string {
	var names []string
	for _, f := range fit.Families() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// Options returns what is asked of a fit.
func (f *ModelFlags) Options() fit.Options {
	return fit.Options{Quantile: f.Quantile, Alpha: f.Alpha, Window: f.windowNs, Families: f.laws}
}

// Brief returns the same without what decides nothing (fit.Options).
func (f *ModelFlags) Brief() fit.Options {
	o := f.Options()
	o.Brief = true
	return o
}

// ReadProfile reads a stored profile; nil if the name is empty.
func ReadProfile(name string) (*fit.Profile, error) {
	if name == "" {
		return nil, nil
	}
	f, err := readers.OpenRegular(name)
	if err != nil {
		return nil, Usagef("--profile: %w", err)
	}
	defer f.Close()
	p, err := fit.ReadProfile(f)
	if err != nil {
		return nil, Usagef("--profile %s: %w", name, err)
	}
	return &p, nil
}

// MachineOf names the machine that a trace was made on: what its writer says, or else the
// first node of its system tree that holds processes; "" if neither is recorded.
func MachineOf(src trace.Source) string {
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

// WarnOfProfile says on standard error in what a profile and the trace to be analyzed were not made alike. It also says if the profile does
// not hold the quantile that is asked for. It is not an error: two machines may be equal under different names.
func WarnOfProfile(io *Streams, p *fit.Profile, src trace.Source, quantile float64) {
	if p == nil {
		return
	}
	d := src.Defs()
	for _, x := range []struct{ what, learned, here string }{
		{"on the machine", p.Machine, MachineOf(src)},
		{"with", p.Creator, src.Info().Creator},
	} {
		if x.learned != "" && x.here != "" && x.learned != x.here {
			fmt.Fprintf(io.Err, "tracekit: warning: the profile was learned %s %q, the trace was made %s %q\n", x.what, x.learned, x.what,
				x.here)
		}
	}
	if quantile != p.Quantile && quantile != DefaultQuantile {
		fmt.Fprintf(io.Err, "tracekit: warning: the profile holds the %s quantile; --quantile is for operations that it does not know\n",
			words.Share(p.Quantile))
	}
	if n := len(d.World()); n > p.Processes {
		fmt.Fprintf(io.Err, "tracekit: warning: the profile was learned with %d processes, the trace has %d: collectives of more processes are "+
			"extrapolated\n", p.Processes, n)
	}
}
