package report

import (
	"fmt"
	"slices"
)

// sections are the parts of a report, in its order, by the names with which --section chooses them.
var sections = []struct {
	Name  string
	print []func(*Sections)
}{
	{"causes", []func(*Sections){(*Sections).diagnosis, (*Sections).unclassified}},
	{"training", []func(*Sections){(*Sections).Training}},
	{"devices", []func(*Sections){(*Sections).devices, (*Sections).deviceDetails}},
	{"files", []func(*Sections){(*Sections).filesFirst, (*Sections).fileIO}},
	{"threads", []func(*Sections){(*Sections).threads}},
	{"efficiency", []func(*Sections){(*Sections).efficiency}},
	{"phases", []func(*Sections){(*Sections).phases}},
	{"waits", []func(*Sections){(*Sections).waitStates, (*Sections).delays}},
	{"path", []func(*Sections){(*Sections).criticalPath, (*Sections).devicePath}},
	{"lines", []func(*Sections){(*Sections).lines}},
	{"fits", []func(*Sections){(*Sections).overhead}},
	{"calls", []func(*Sections){(*Sections).callSites}},
	{"profile", []func(*Sections){(*Sections).profile}},
	{"counters", []func(*Sections){(*Sections).counterSeries}},
	{"collectives", []func(*Sections){(*Sections).collectives}},
	{"messages", []func(*Sections){(*Sections).messages}},
	{"notes", []func(*Sections){(*Sections).Findings}},
}

// SectionNames are the names of the sections that a report may have, in its order.
func SectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.Name)
	}
	return names
}

// Print prints the sections of an analysis that are named, all if none is.
func (r *Sections) Print(names ...string) {
	r.Sites = r.Located()
	r.Header()
	r.doubts()
	for _, s := range sections {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		for _, print := range s.print {
			print(r)
		}
	}
	fmt.Fprintln(r.W, "\n'tracekit help terms' explains the words of this report.")
}

// present returns the names of the sections of which the analysis has something.
func (r *Sections) present() (names []string) {
	for _, s := range sections {
		if slices.ContainsFunc(s.print, r.prints) {
			names = append(names, s.Name)
		}
	}
	return names
}

// prints reports whether a part of a section prints anything.
func (r *Sections) prints(part func(*Sections)) (any bool) {
	defer func() {
		stopped := recover()
		if any = stopped != nil; any && stopped != (probe{}) {
			panic(stopped)
		}
	}()
	try := *r
	try.W = probe{}
	part(&try)
	return false
}

// A probe stops who writes to it by a panic: that there is something says enough.
type probe struct{}

func (p probe) Write([]byte) (int, error) { panic(p) }
