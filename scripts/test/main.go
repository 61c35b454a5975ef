// Command test runs go test with the arguments given, prints what it prints, and lists at the end which
// tests were skipped and why: go test alone says so only with -v.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

func main() {
	c := exec.Command("go", slices.Concat([]string{"test"}, os.Args[1:], []string{"-json"})...)
	c.Stdin, c.Stderr, c.Env = os.Stdin, os.Stderr, environment("/dev/shm")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		summarize(os.Stdout, out)
		err = c.Wait()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "go test:", err)
		os.Exit(1)
	}
}

// environment is that of tests: unless it says otherwise, temporary files lie in a file system in memory (what go builds stays on the
// disk), and garbage is collected later, as small heaps are collected often.
func environment(memory string) []string {
	list := append([]string{"GOGC=400"}, os.Environ()...)
	if os.Getenv("TMPDIR") != "" {
		return list
	}
	f, err := os.CreateTemp(memory, "test-")
	if err != nil { // there is no such file system
		return list
	}
	f.Close()
	os.Remove(f.Name())
	return append([]string{"GOTMPDIR=" + os.TempDir(), "TMPDIR=" + memory}, list...)
}

// An event is a line of go test -json: see go doc test2json.
type event struct{ Action, Package, Test, Output string }

// A test is a package and a name in it, "" for what the package prints itself.
type test struct{ pkg, name string }

var (
	frame = regexp.MustCompile(`^\s*(=== |--- )|^PASS\n`) // what go test says only with -v
	place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)
)

// summarize prints of a stream of events what go test prints without -json, then what was skipped.
func summarize(w io.Writer, events io.Reader) {
	printed := make(map[test]string) // by tests that have not ended
	skipped := make(map[string][]test)
	in := bufio.NewReader(events)
	for {
		line, err := in.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Fprint(w, line)
		}
		at := test{e.Package, e.Test}
		switch e.Action {
		case "build-output":
			fmt.Fprint(w, e.Output)
		case "output":
			if e.Test != "" && !strings.HasPrefix(e.Output, "=== ") {
				printed[at] += e.Output
			} else if !frame.MatchString(e.Output) {
				fmt.Fprint(w, e.Output)
			}
		case "skip":
			if e.Test != "" {
				why := reason(printed[at])
				at.name, _, _ = strings.Cut(at.name, "/")
				if !slices.Contains(skipped[why], at) {
					skipped[why] = append(skipped[why], at)
				}
			}
			delete(printed, test{e.Package, e.Test})
		case "pass":
			delete(printed, at)
		case "fail": // a package with all that has not ended, as after a panic
			for t := range printed {
				if t == at || e.Test == "" && t.pkg == e.Package {
					fmt.Fprint(w, printed[t])
					delete(printed, t)
				}
			}
		}
		if err != nil {
			break
		}
	}
	if len(skipped) == 0 {
		fmt.Fprintln(w, "\nNo test was skipped.")
		return
	}
	fmt.Fprintln(w, "\nSkipped, in whole or in part, and why:")
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		fmt.Fprintf(w, "  %s\n", why)
		names := make(map[string][]string)
		for _, t := range skipped[why] {
			names[t.pkg] = append(names[t.pkg], t.name)
		}
		for _, pkg := range slices.Sorted(maps.Keys(names)) {
			fmt.Fprintf(w, "    %s: %s\n", pkg, strings.Join(names[pkg], ", "))
		}
	}
}

// reason returns what a test has printed, in one line and without places in files.
func reason(printed string) string {
	var parts []string
	for text := range strings.Lines(printed) {
		if !frame.MatchString(text) {
			parts = append(parts, strings.TrimSpace(place.ReplaceAllString(text, "")))
		}
	}
	return strings.Join(parts, " ")
}
