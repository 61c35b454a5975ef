package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/stats/compare"
	"tracekit/stats/fit"
	"tracekit/stats/studies/headers"
	"tracekit/stats/studies/sampling"
)

// blockForm is a block of code in a page of documentation: its language and its text.
var blockForm = regexp.MustCompile("(?ms)^```([^\\n]*)\n(.*?)^```$")

// TestDocumentation runs the commands of the tutorial, of the pages for single questions and of the reference, in a folder with the
// samples. The block behind a command is what it prints, as far as it is shown: "…" stands for lines that are left out.
func TestDocumentation(t *testing.T) {
	root := absolute(t, "../..")
	for _, page := range pages(t, "README.md", "docs/tutorial.md", "docs/PAPERS.md", "docs/howto/*.md", "docs/reference/*.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(root, "samples"), filepath.Join(dir, "samples")); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			printed := ""
			for _, block := range blockForm.FindAllStringSubmatch(string(text), -1) {
				switch block[1] {
				case "sh":
					for line := range strings.Lines(block[2]) {
						_, line, run := strings.Cut("go run ./cmd/"+strings.TrimPrefix(line, "go run ./cmd/"), "go run ./cmd/tracekit ")
						if !run {
							continue
						}
						args := arguments(strings.TrimSpace(line))
						if args[0] == "view" { // serves until it is interrupted
							t.Chdir(dir)
							viewed(t, args[1:]...)
							continue
						}
						out, errs, code := tracekitIn(t, dir, 100, args...)
						if code != exitDone {
							t.Errorf("%s: exit code %d: %s", line, code, errs)
						}
						printed = out
					}
				case "":
					rest := printed
					for _, shown := range regexp.MustCompile(`(?m)^…\n`).Split(block[2], -1) {
						shown = strings.TrimRight(shown, "\n")
						at := strings.Index(rest, shown)
						if at < 0 {
							t.Errorf("is not printed:\n%s\nbut\n%s", shown, printed)
							break
						}
						rest = rest[at+len(shown):]
					}
				}
			}
		})
	}
}

// wordForm is a word: what stands between spaces, and bars of tables, and has a letter or a digit.
var wordForm = regexp.MustCompile(`[^\s|]*[\pL\pN][^\s|]*`)

// TestWords: what users are asked to read stays short, README.md and all pages but those for developers.
func TestWords(t *testing.T) {
	all := 0
	of := slices.DeleteFunc(pages(t, "README.md", "docs/*.md", "docs/howto/*.md", "docs/reference/*.md"), func(page string) bool {
		return filepath.Base(page) == "PAPERS.md" // for readers of the papers
	})
	for _, page := range of {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		words := len(wordForm.FindAll(text, -1))
		if filepath.Base(page) == "README.md" && words > 900 {
			t.Errorf("README.md has %d words, more than 900", words)
		}
		all += words
	}
	t.Logf("pages for users have %d words", all)
	if all > 30_000 {
		t.Errorf("pages for users have %d words, more than 30,000", all)
	}
}

// pages returns the pages of the repository that match some patterns.
func pages(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	for _, pattern := range patterns {
		some, err := filepath.Glob(filepath.Join(absolute(t, "../.."), filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, some...)
	}
	return paths
}

// arguments splits a command line at spaces, but not between single quotes.
func arguments(line string) (out []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if quote := line[:1]; quote == "'" || quote == `"` {
			var word string
			word, line, _ = strings.Cut(line[1:], quote)
			out = append(out, word)
			continue
		}
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		out, line = append(out, line[:end]), line[end:]
	}
	return out
}

// TestEveryCommandHasAnExample: the page of commands, whose examples TestDocumentation runs, has one of each.
func TestEveryCommandHasAnExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := "\n"
	for _, block := range blockForm.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "sh" {
			examples += block[2]
		}
	}
	for _, command := range newRoot(&cli.Streams{}).Commands() {
		if command.Runnable() && !command.Hidden && !strings.Contains(examples, "\ntracekit "+command.Name()+" ") {
			t.Errorf("docs/reference/commands.md has no example of %s", command.Name())
		}
	}
}

// TestDocumentKeys: docs/DOCUMENTS.md names the keys at the top of each document, in the row of its Go type.
func TestDocumentKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/DOCUMENTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []any{document.Analysis{}, outcome.Whatif{}, outcome.Info{}, outcome.Fit{}, fit.Profile{}, outcome.Compress{},
		outcome.CallTrees{}, outcome.Compare{}, compare.Baseline{}, outcome.Scaling{}, outcome.Explain{}, outcome.Report{}, outcome.View{},
		outcome.Spacetime{},
		headers.Profile{}, sampling.Document{}, outcome.Reduce{}, outcome.Regenerate{}, outcome.Convert{}, outcome.Hang{}} {
		form := reflect.TypeOf(printed)
		name := form.String()
		_, row, found := strings.Cut(string(text), "| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		if !found {
			t.Errorf("there is no row of %s", name)
		}
		for _, key := range keysOf(form) {
			if key != "schema" && !strings.Contains(row, "`"+key+"`") {
				t.Errorf("the row of %s has no %s", name, key)
			}
		}
	}
}

// keysOf returns the JSON keys of a struct, with those of structs that are embedded in it.
func keysOf(form reflect.Type) (keys []string) {
	for field := range form.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case field.Anonymous && key == "" && inner.Kind() == reflect.Struct:
			keys = append(keys, keysOf(inner)...)
		case key != "" && key != "-":
			keys = append(keys, key)
		}
	}
	return keys
}

// TestLinks: what the documentation links to is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#: ]+)(?:#[^)]*)?\)`)
	for _, page := range pages(t, "*.md", "docs/*.md", "docs/*/*.md", "samples/*.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s", page, m[1])
			}
		}
	}
}
