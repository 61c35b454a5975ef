// Package flags has the kinds of values that flags take. A Kind parses a value, says what it wants instead of a bad one, and completes it
// in a shell; Var gives a flag of that kind to a command.
package flags

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Kind is what a flag takes: how a value is read, and what a shell offers for it. The zero Kind is none; see its makers.
type Kind[T any] struct {
	name     string // of the type, for help and manual
	read     func(old T, text string) (T, error)
	complete cobra.CompletionFunc
}

// Var adds a flag without a short name; see VarP.
func Var[T any](set *pflag.FlagSet, to *T, kind Kind[T], name, value, usage string) {
	VarP(set, to, kind, name, "", value, usage)
}

// VarP adds a flag to a set: values are parsed into to. The flag begins with the given value, as it would be written on the command
// line; if that is empty, to keeps what it holds, and an empty text on the command line, such as --ranks "$RANKS", means the same.
func VarP[T any](set *pflag.FlagSet, to *T, kind Kind[T], name, short, value, usage string) {
	v := &flagValue[T]{kind: kind, to: to, text: value, begin: *to, optional: value == "" && kind.name == "string"}
	if value != "" {
		if err := v.Set(value); err != nil {
			panic("tracekit: default of --" + name + ": " + err.Error())
		}
		v.given = false
	}
	set.VarP(v, name, short, usage)
}

// A flagValue is a pflag.Value of some kind.
type flagValue[T any] struct {
	kind  Kind[T]
	to    *T
	text  string // as it was written
	given bool

	begin    T    // what to held
	optional bool // an empty text stands for begin
}

func (v *flagValue[T]) String() string { return v.text }
func (v *flagValue[T]) Type() string   { return v.kind.name }

func (v *flagValue[T]) Set(text string) error {
	x, err := v.begin, error(nil)
	if text != "" || !v.optional {
		x, err = v.kind.read(*v.to, text)
	}
	if err != nil {
		return err
	}
	*v.to = x
	if v.given && strings.HasSuffix(v.kind.name, "Array") {
		text = v.text + "\x00" + text // all of them, apart
	}
	v.text, v.given = text, true
	return nil
}

func (v *flagValue[T]) completion() cobra.CompletionFunc { return v.kind.complete }

// Complete makes a shell complete the flags of all commands by their kinds. It is for completing only: what is registered is never freed.
func Complete(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.Flags().VisitAll(func(f *pflag.Flag) { complete(c, f) })
	}
}

func complete(c *cobra.Command, f *pflag.Flag) {
	by := cobra.CompletionFunc(cobra.NoFileCompletions)
	switch v := f.Value.(type) {
	case interface{ completion() cobra.CompletionFunc }:
		by = v.completion()
	default:
		if f.Value.Type() == "string" {
			return // a file
		}
	}
	if f.Value.Type() == "bool" || by == nil {
		return
	}
	if err := c.RegisterFlagCompletionFunc(f.Name, by); err != nil {
		panic("tracekit: " + err.Error()) // it was registered before
	}
}

// A boundsError is about a value that was read and lies outside of what is allowed.
type boundsError string

func (e boundsError) Error() string { return "want " + string(e) }

// Error says of an error of pflag's, in the words of the other messages, which flag has a bad value and what it wants.
func Error(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	cause, form := invalid.Unwrap(), "--%s %q: %w"
	if b := boundsError(""); errors.As(cause, &b) {
		form = "--%s %s: %w"
	} else if want := builtin[invalid.GetFlag().Value.Type()]; want != "" {
		if _, own := invalid.GetFlag().Value.(interface{ completion() cobra.CompletionFunc }); !own {
			cause = errors.New("want " + want)
		}
	}
	return fmt.Errorf(form, invalid.GetFlag().Name, invalid.GetValue(), cause)
}

// builtin says what values of pflag's own types want.
var builtin = map[string]string{
	"int": wantWhole, "int64": wantWhole, "uint64": wantWhole + ", not below 0",
	"float64": wantNumber, "duration": wantTime, "bool": "true or false",
}
