// Package test makes the program of the page out of TypeScript, with esbuild and no other tool,
// and tries pages in a browser. It is a module of its own: the program is part of package page,
// so that building and testing tracekit need none of this.
package test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle returns page.js and page.css, made of the sources in a checkout's folder web.
func bundle(dir string) (map[string][]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	vendor := filepath.Join(dir, "vendor")
	options := api.BuildOptions{
		AbsWorkingDir: dir,
		Outdir:        filepath.Join(dir, "out"), // nothing is written
		Bundle:        true,
		Format:        api.FormatIIFE,
		Target:        api.ES2022,
		Charset:       api.CharsetASCII,
		JSX:           api.JSXTransform,
		JSXFactory:    "h",
		JSXFragment:   "Fragment",
		Alias: map[string]string{
			"preact":       filepath.Join(vendor, "preact", "preact.mjs"),
			"preact/hooks": filepath.Join(vendor, "preact", "hooks", "hooks.mjs"),
		},
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsNone,
		LogLevel:      api.LogLevelSilent,
	}
	worker, err := build(options, "worker.ts")
	if err != nil {
		return nil, err
	}
	program, err := json.Marshal(strings.TrimSpace(string(worker["worker.js"])))
	if err != nil {
		return nil, err
	}
	options.Define = map[string]string{"WORKER": string(program)}
	options.Banner = map[string]string{"js": "/* contains Preact 11, copyright Jason Miller, MIT license */"}
	return build(options, "app.tsx", "page.css")
}

// build makes bundles of sources; that of the program is called page.js.
func build(options api.BuildOptions, sources ...string) (map[string][]byte, error) {
	for _, name := range sources {
		out := strings.TrimSuffix(strings.Replace(name, "app", "page", 1), filepath.Ext(name))
		options.EntryPointsAdvanced = append(options.EntryPointsAdvanced,
			api.EntryPoint{InputPath: filepath.Join(options.AbsWorkingDir, "src", name), OutputPath: out})
	}
	result := api.Build(options)
	if len(result.Errors) > 0 {
		e := result.Errors[0]
		if e.Location != nil {
			return nil, fmt.Errorf("%s:%d: %s", e.Location.File, e.Location.Line, e.Text)
		}
		return nil, fmt.Errorf("%s", e.Text)
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		// The closing tag of the element that the program stands in must not be part of it.
		if name := filepath.Base(f.Path); !strings.Contains(strings.ToLower(string(f.Contents)), "</s") {
			files[name] = f.Contents
		} else {
			return nil, fmt.Errorf("%s: contains a closing tag", name)
		}
	}
	return files, nil
}

var update = flag.Bool("update", false, "write the program into package page, and how pages look into testdata")

// TestBundleIsFresh: the program in package page is what the sources here make.
func TestBundleIsFresh(t *testing.T) {
	files, err := bundle("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"page.js", "page.css"} {
		path := filepath.Join("..", "..", "page", name)
		if *update {
			if err := os.WriteFile(path, files[name], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		committed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[name], committed) {
			t.Errorf("page/%s is not what web/src makes: run `go generate ./page`", name)
		}
	}
}
