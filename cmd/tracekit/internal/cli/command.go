package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Options are what a subcommand is told. ReadFlags, and what embeds them, are the start of most.
type Options interface {
	Add(set *pflag.FlagSet) // adds the flags
	Keep(args []string)     // keeps the arguments
	Validate() error        // checks what relates flags and arguments, before any file is opened
}

// sharing are options of a subcommand that may go through a share of a trace alone.
type sharing interface {
	Shared() bool                           // a share is asked for
	ShardOf(*cobra.Command, *Streams) error // checks the options of a share and goes through it
}

// New completes a subcommand: it adds the flags, and runs what keeps the arguments, checks the options and does the work.
func New[O Options](io *Streams, c *cobra.Command, opts O, run func(context.Context, *Streams, O) error) *cobra.Command {
	opts.Add(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		opts.Keep(args)
		if s, ok := any(opts).(sharing); ok && s.Shared() {
			return s.ShardOf(c, io)
		}
		if err := opts.Validate(); err != nil {
			return err
		}
		return run(c.Context(), io, opts)
	}
	return c
}

// What flags mean that several commands have.
const (
	ForceUsage = "replace an output that exists; other files in a directory stay"
	JSONUsage  = "print one JSON document instead of text"
	RanksUsage = "only these `ranks`, such as 0-3,8"
	SeedUsage  = "`number` that fixes random choices"
)

// Add adds groups of flags.
func Add(set *pflag.FlagSet, groups ...interface{ Add(*pflag.FlagSet) }) {
	for _, g := range groups {
		g.Add(set)
	}
}

// Validate checks groups of flags, in this order.
func Validate(groups ...interface{ Validate() error }) error {
	for _, g := range groups {
		if err := g.Validate(); err != nil {
			return err
		}
	}
	return nil
}
