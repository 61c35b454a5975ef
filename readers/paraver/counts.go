package paraver

import (
	"fmt"
	"strings"
)

// counts is the number of lines by kind.
type counts struct {
	States, Events, Communications, Globals, Communicators, Comments, Others, Bad uint64
}

// String tells the numbers that are not 0.
func (c counts) String() string {
	var b strings.Builder
	for _, n := range []struct {
		name  string
		count uint64
	}{{"state", c.States}, {"event", c.Events}, {"communication", c.Communications}, {"global communication", c.Globals},
		{"communicator", c.Communicators}, {"comment", c.Comments}, {"unknown", c.Others}, {"bad", c.Bad}} {
		if n.count > 0 {
			fmt.Fprintf(&b, ", %s %d", n.name, n.count)
		}
	}
	return strings.TrimPrefix(b.String(), ", ")
}

// add adds the numbers of another part of the file.
func (c *counts) add(o counts) {
	c.States += o.States
	c.Events += o.Events
	c.Communications += o.Communications
	c.Globals += o.Globals
	c.Communicators += o.Communicators
	c.Comments += o.Comments
	c.Others += o.Others
	c.Bad += o.Bad
}
