// Command notice writes NOTICE: the licence of each module, font and script that the tracekit command contains, on any
// platform that it is released for.
//
//	go run ./scripts/notice          writes NOTICE
//	go run ./scripts/notice -check   fails if NOTICE is not what it would write
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// platforms are those of .goreleaser.yaml: modules may be linked on some only.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// A component is what others wrote and the command contains.
type component struct {
	name, version string
	licences      []string // SPDX identifiers
	texts         []string
}

// shapes are sentences by which a licence is known. All of these are compatible with Apache-2.0; a text of another one is an error.
var shapes = []struct {
	id      string
	pattern *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License,? Version 2\.0`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge, to any person obtaining a copy of this software`)},
	{"BSD-3-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms.*(Neither the name|The names? of)`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistribution and use in source and binary forms`)},
	{"OFL-1.1", regexp.MustCompile(`SIL OPEN FONT LICENSE Version 1\.1`)},
	{"FTL", regexp.MustCompile(`The FreeType Project LICENSE`)},
	{"CC-BY-4.0", regexp.MustCompile(`Creative Commons Attribution 4\.0 International Public License`)},
	{"CC0-1.0", regexp.MustCompile(`CC0 1\.0 Universal`)},
	{"blessing", regexp.MustCompile(`SQLite has been dedicated to the public domain|The author disclaims copyright`)},
}

// licenceFile are names of files that say how a module may be used.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|third_party_licenses)`)

// elsewhere are the files of modules that say it under other names.
var elsewhere = map[string][]string{
	"github.com/JohnCGriffin/overflow": {"README.md"},
	"github.com/golang/freetype":       {"LICENSE", "licenses/ftl.txt"},
}

var errFetch = errors.New("a module cannot be fetched")

func main() {
	check := flag.Bool("check", false, "fail if NOTICE is not what this would write")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	all, err := components()
	if err != nil {
		return err
	}
	made := written(all)
	if !check {
		return os.WriteFile("NOTICE", made, 0o666)
	}
	kept, err := os.ReadFile("NOTICE")
	if err == nil && !bytes.Equal(kept, made) {
		err = fmt.Errorf("NOTICE is out of date: run 'go run ./scripts/notice'")
	}
	return err
}

// components returns all that the command contains, by name.
func components() ([]component, error) {
	all := []component{}
	add := func(name, version string, paths ...string) error {
		c := component{name: name, version: version}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := tidy(string(b))
			c.texts = append(c.texts, text)
			c.licences = append(c.licences, licences(text)...)
		}
		slices.Sort(c.licences)
		if c.licences = slices.Compact(c.licences); len(c.licences) == 0 {
			return fmt.Errorf("the licence of %s is none of those that are known", name)
		}
		all = append(all, c)
		return nil
	}
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	for _, m := range modules {
		if m.Dir == "" {
			return nil, fmt.Errorf("%s: %w", m.Path, errFetch)
		}
		paths, err := m.licences()
		if err == nil {
			err = add(m.Path, m.Version, paths...)
		}
		if err != nil {
			return nil, err
		}
		switch m.Path {
		case "codeberg.org/go-fonts/liberation":
			err = add("Liberation fonts", "", filepath.Join(m.Dir, "LICENSE-SIL"))
		case "golang.org/x/image":
			err = add("Go fonts", "", filepath.Join(m.Dir, "font/gofont/ttfs/README"))
		}
		if err != nil {
			return nil, err
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err == nil {
		err = add("The Go runtime and standard library", "", filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	}
	if err != nil {
		return nil, err
	}
	preact, err := vendored("preact")
	if err == nil {
		err = add("Preact", preact, "web/vendor/preact/LICENSE")
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.name, b.name) })
	return all, err
}

// A module is one that the command links.
type module struct{ Path, Version, Dir string }

// linked returns the modules that the command links on any platform, by path.
func linked() ([]module, error) {
	var all []module
	for _, p := range platforms {
		goos, goarch, _ := strings.Cut(p, "/")
		c := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/tracekit")
		c.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("%w: go list for %s: %w", errFetch, p, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
			var pkg struct{ Module *module }
			if err := d.Decode(&pkg); err != nil {
				return nil, err
			}
			if pkg.Module != nil && pkg.Module.Path != "tracekit" {
				all = append(all, *pkg.Module)
			}
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(all), nil
}

// licences returns the paths of the files that say how the module may be used.
func (m module) licences() ([]string, error) {
	var out []string
	for _, name := range elsewhere[m.Path] {
		out = append(out, filepath.Join(m.Dir, name))
	}
	if out != nil {
		return out, nil
	}
	entries, err := os.ReadDir(m.Dir)
	for _, e := range entries {
		if !licenceFile.MatchString(e.Name()) {
			continue
		}
		err := filepath.WalkDir(filepath.Join(m.Dir, e.Name()), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".go") {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, err
}

// vendored returns the version of a script that the page's program contains.
func vendored(name string) (string, error) {
	b, err := os.ReadFile("web/package.json")
	if err != nil {
		return "", err
	}
	var p struct{ Dependencies map[string]string }
	err = json.Unmarshal(b, &p)
	return p.Dependencies[name], err
}

var blanks = regexp.MustCompile(`[ \t\r]+\n`)

// tidy returns a text as UTF-8, of which old ones in Latin-1 are not, without blanks at the ends of lines.
func tidy(text string) string {
	if !utf8.ValidString(text) {
		runes := make([]rune, len(text))
		for i := range runes {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	return strings.Trim(blanks.ReplaceAllString(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n") + "\n"
}

// licences returns the identifiers of the licences that a text is, or contains.
func licences(text string) []string {
	line := strings.Join(strings.Fields(text), " ")
	var out []string
	for _, s := range shapes {
		if s.pattern.MatchString(line) && (s.id != "BSD-2-Clause" || !slices.Contains(out, "BSD-3-Clause")) {
			out = append(out, s.id)
		}
	}
	return out
}

// written returns the file. A text that several components share stands there once.
func written(all []component) []byte {
	var b bytes.Buffer
	b.WriteString("tracekit\n\nThis product is licensed under the Apache License, Version 2.0 (see LICENSE).\n" +
		"Its command contains the following components. Their licences stand below the list.\n\n")
	var texts []string
	of := map[string][]string{}
	for _, c := range all {
		title := strings.TrimSpace(c.name + " " + c.version)
		fmt.Fprintf(&b, "* %s: %s\n", title, strings.Join(c.licences, ", "))
		for _, t := range c.texts {
			if of[t] == nil {
				texts = append(texts, t)
			}
			of[t] = append(of[t], c.name)
		}
	}
	for _, t := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s", strings.Repeat("-", 80), strings.Join(of[t], "\n"), t)
	}
	return b.Bytes()
}
