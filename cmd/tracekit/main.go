// Command tracekit analyses traces of MPI and multi-GPU programs after their run: is the
// trace sound, where does the time go, which source line wastes it, why, and what would
// fixing it gain. See "tracekit help" or the README.
package main

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/words"
	"tracekit/readers"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 90

// newRoot builds the command with the subcommands that a line may need: the one that it begins with, or else all. To build all
// takes as long as to read a small trace.
func newRoot(io *cli.Streams, line ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "tracekit",
		Short: "Analyze traces of MPI and multi-GPU programs",
		Long: `tracekit analyzes traces of MPI and multi-GPU programs. It shows whether a trace is sound and where
the time goes. It names the source line that wastes it, the reason, and what fixing it would save.
It reads

  ` + strings.Join(readers.Recorded(), "\n  ") + `

Start with

    tracekit analyze traces.otf2

'tracekit help terms' explains the words of the reports.

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 not a readable trace; 4 --strict with lost data,
or a --fail-if condition holds; 128 plus the number of a signal.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.Usagef("%w", flags.Error(err)) })
	cobra.EnableCommandSorting = false // the most used ones come first
	needed := func(c named) bool { return len(line) > 0 && c.name == line[0] }
	one := slices.ContainsFunc(groups(), func(g group) bool { return slices.ContainsFunc(g.commands, needed) })
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, n := range g.commands {
			if one && !needed(n) {
				continue
			}
			c := n.build(io)
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newMan(), newTerms())
	root.InitDefaultHelpCmd()
	cli.GroupFlags(root)
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Run, help.RunE = nil, helpOf
	}
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// helpOf prints the help of a command or of a topic.
func helpOf(c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return cli.Usagef("help: unknown command %s", strings.Join(args, " "))
	}
	of.InitDefaultHelpFlag()
	of.InitDefaultVersionFlag()
	return of.Help()
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			return cli.Usagef("%s: %s given: want 'tracekit %s'", c.Name(), words.Plural(len(args), "argument", "arguments"), c.Use)
		}
		return nil
	}
}

// release is the version of a released build, set by the linker (-X main.release=1.2.0).
var release string

// version returns the version and, where the build knows it, the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case release != "":
		return release
	case !ok || info.Main.Version == "":
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return strings.TrimPrefix(info.Main.Version, "v") + " (" + s.Value[:12] + ")"
		}
	}
	return info.Main.Version
}

// A group is subcommands for one purpose.
type group struct {
	title    string
	commands []named
}

// A named is a subcommand that is not built yet.
type named struct {
	name  string
	build func(*cli.Streams) *cobra.Command
}

// groups are the subcommands in the order of the help text.
func groups() []group {
	return []group{
		{"Look at a trace:", []named{{"analyze", newAnalyze}, {"view", newView}, {"report", newReport}, {"info", newInfo},
			{"spacetime", newSpacetime}}},
		{"Find out why:", []named{{"explain", newExplain}, {"hang", newHang}, {"whatif", newWhatif}, {"stragglers", newStragglers},
			{"sql", newSQL}, {"headers", newHeaders}, {"fit", newFit}, {"mcp", newMCP}}},
		{"Compare runs:", []named{{"compare", newCompare}, {"baseline", newBaseline}, {"scaling", newScaling}}},
		{"Make traces smaller or move them:", []named{{"convert", newConvert}, {"compress", newCompress}, {"reconstruct", newReconstruct},
			{"formulae", newFormulae}, {"reduce", newReduce}, {"combine", newCombine}}},
		{"Study the measurement:", []named{{"sample", newSample}, {"generate", newGenerate}}},
	}
}

// newMan makes the command that writes the manual pages of all commands. Their date is
// left out, so that the same program writes the same pages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long:  "Man writes a manual page of each command into a directory, such as ~/.local/share/man/man1.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			epoch := time.Unix(0, 0).UTC()
			header := &doc.GenManHeader{Section: "1", Source: "tracekit", Date: &epoch}
			c.Root().DisableAutoGenTag = true
			return doc.GenManTree(c.Root(), header, args[0])
		},
	}
}
