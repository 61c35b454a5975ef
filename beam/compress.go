package main

import (
	"flag"
	"fmt"
	"strings"

	"tracekit/formulae"
	"tracekit/formulae/tkf"
)

// A compression says how a trace is compressed. Its fields are the flags of 'tracekit compress' that
// workers must know.
type compression struct {
	TimeError string
	Terms     int
	Formulae  string
}

// parseCompression takes the flags that workers must know out of those of 'tracekit compress', and
// returns the others, which are told to 'tracekit combine'.
func parseCompression(args []string) (x *compression, others []string, err error) {
	x = &compression{}
	var own flag.FlagSet
	own.Init("compress", flag.ContinueOnError)
	own.StringVar(&x.TimeError, "time-error", "0", "")
	own.IntVar(&x.Terms, "terms", formulae.DefaultTerms, "")
	own.StringVar(&x.Formulae, "formulae", "all", "")
	for i := 0; i < len(args); i++ {
		name, _, whole := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		if own.Lookup(name) == nil || !strings.HasPrefix(args[i], "--") {
			others = append(others, args[i])
			continue
		}
		mine := args[i : i+1]
		if i+1 < len(args) && !whole {
			mine = args[i : i+2]
			i++
		}
		if err := own.Parse(mine); err != nil {
			return nil, nil, err
		}
	}
	_, err = x.options()
	return x, others, err
}

// options returns the options, as 'tracekit compress' has them.
func (x *compression) options() (o tkf.Options, err error) {
	if x.Formulae != "all" && x.Formulae != "paper" {
		return o, fmt.Errorf("--formulae %q: want all or paper", x.Formulae)
	}
	if x.Terms < 1 || x.Terms > formulae.MostTerms {
		return o, fmt.Errorf("--terms %d: want 1 to %d", x.Terms, formulae.MostTerms)
	}
	o.Form, o.Learn = formulae.Form{Terms: x.Terms, Paper: x.Formulae == "paper"}, true
	o.TimeError, err = tkf.ParseTimeError(x.TimeError)
	return o, err
}
