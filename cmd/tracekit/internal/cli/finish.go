package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/words"
	"tracekit/trace"
)

// Finish prints what a command has found, and then fails if --strict refuses the findings
// or a gate has reasons to.
func (f *ReadFlags) Finish(io *Streams, document any, print func(), findings []document.Finding, gates ...func() ([]string, error)) error {
	if io.Found != nil {
		io.Found(document, findings)
	}
	if f.JSON {
		if err := PrintJSON(io.Out, f.Jobs, document); err != nil {
			return err
		}
	} else {
		print()
	}
	var reasons []string
	for _, x := range findings {
		if f.Strict && x.Severity != trace.SeverityInfo.String() {
			reasons = append(reasons, "--strict: "+x.Code+" ("+words.Count(x.Count)+"): "+x.Text)
		}
	}
	for _, gate := range gates {
		more, err := gate()
		if err != nil {
			return err
		}
		reasons = append(reasons, more...)
	}
	if len(reasons) > 0 {
		return gateError{reasons}
	}
	return nil
}

// GateFlags are the flags of commands whose document can make a gate.
type GateFlags struct{ Conditions []gate.Condition }

// Add adds the flag.
func (f *GateFlags) Add(set *pflag.FlagSet) {
	flags.Var(set, &f.Conditions, flags.Repeated(flags.Parsed(gate.Parse)), "fail-if", "", "exit with 4 if this `condition` on the JSON "+
		"document holds, "+
		"such as 'efficiency.parallel_efficiency<0.8'; repeatable")
}

// Gate returns a gate for readFlags.finish, with a reason for each condition that holds in a document.
func (f *GateFlags) Gate(document any) func() ([]string, error) {
	return func() (reasons []string, err error) {
		if len(f.Conditions) == 0 {
			return nil, nil
		}
		tree, err := gate.Tree(document)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Conditions {
			holds, value, err := c.Holds(tree)
			switch {
			case errors.Is(err, gate.ErrUndefined):
				return nil, fmt.Errorf("--fail-if %s: %w", c, err)
			case err != nil:
				return nil, Usagef("--fail-if %s: %w", c, err)
			case holds:
				reasons = append(reasons, fmt.Sprintf("--fail-if %s: it is %s", c, strconv.FormatFloat(value, 'g', 6, 64)))
			}
		}
		return reasons, nil
	}
}
