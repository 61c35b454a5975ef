package paraver

import (
	"sync"

	"tracekit/trace"
)

// tables is what the lines of a trace have in common: the definitions, as far as lines have
// asked for them, and how what lines name is found in them. The definitions are numbered in
// the order in which the lines of the file need them.
//
// Decoders look things up while they hold the lock for reading. Only the reading adds to the
// tables, and what is in them keeps its meaning, but for the changes that version counts.
type tables struct {
	sync.RWMutex
	defs     *trace.Defs
	pcf      *pcf
	names    *names
	meters   *meters
	types    *eventTypes
	sites    *sites
	comms    *comms
	appls    []appl
	instants map[regionKey]trace.StringID
	dialect  bool                // written by this package: see own.go
	known    map[trace.Code]bool // findings that are described
	version  int                 // of the dialect and of the communicators
}

// An appl is an application.
type appl struct{ tasks []taskPlace }

// A taskPlace is the place of a task: its world rank, its first lane and the number of its
// threads.
type taskPlace struct {
	rank, lane uint32
	threads    int64
}

// place returns the place of a task by numbers from 1, nil if there is none.
func (t *tables) place(appl, task int64) *taskPlace {
	if appl < 1 || appl > int64(len(t.appls)) {
		return nil
	}
	a := &t.appls[appl-1]
	if task < 1 || task > int64(len(a.tasks)) {
		return nil
	}
	return &a.tasks[task-1]
}
