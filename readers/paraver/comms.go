package paraver

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tracekit/trace"
)

// comms collects the communicators of a trace. Those that the file names come first, in
// its order; the worlds of applications that it does not name follow, and a communicator
// of all tasks if applications exchange messages.
type comms struct {
	pcf      *pcf
	appls    []appl
	list     []communicator
	ids      map[int64]trace.CommID
	worlds   []trace.CommID // by application; None: not looked for yet
	universe trace.CommID   // None: not needed
}

// A communicator is a c: or i: line:
//
//	c:appl:id:n:task1:…:taskn           tasks of the application in order of rank
//	i:appl:id:id1:leader1:id2:leader2   between the groups of two communicators
//
// An intercommunicator has the identifiers of its groups and their leaders in members. Extrae
// gives duplicates of a communicator the identifier of the original.
type communicator struct {
	appl    int
	id      int64
	members []int64 // task numbers in the application, -1 for none
	inter   bool
	all     bool // of all tasks of all applications
}

var (
	errComm     = errors.New("the communicator is malformed")
	errCommTwin = errors.New("the communicator is defined twice")
)

func newComms(appls []appl, p *pcf) *comms {
	c := &comms{pcf: p, appls: appls, ids: make(map[int64]trace.CommID), universe: trace.None}
	for range appls {
		c.worlds = append(c.worlds, trace.None)
	}
	return c
}

// line takes the line of a communicator. The error is errNumber, errComm or errCommTwin; then
// the line is not used.
func (c *comms) line(text string) error {
	var v []int64
	for _, s := range strings.Split(text[2:], ":") {
		if s == "" && len(v) >= 3 {
			continue // a colon at the end
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return errNumber
		}
		v = append(v, n)
	}
	inter := text[0] == 'i' || text[0] == 'I'
	switch {
	case len(v) < 3 || inter && len(v) != 6 || !inter && int64(len(v)-3) != v[2] || v[0] < 1 || v[0] > int64(len(c.appls)):
		return errComm
	case c.find(v[1]) != trace.None:
		return errCommTwin
	}
	n := communicator{appl: int(v[0]) - 1, id: v[1], members: v[3:], inter: inter}
	if inter {
		n.members = v[2:]
	}
	c.ids[n.id] = trace.CommID(len(c.list))
	c.list = append(c.list, n)
	return nil
}

// find returns the communicator of an identifier of the file, None if there is none.
func (c *comms) find(id int64) trace.CommID {
	if n, ok := c.ids[id]; ok {
		return n
	}
	return trace.None
}

// known returns the communicator of messages between two applications, numbered from 1; None
// if it was not looked for yet.
func (c *comms) known(from, to int64) trace.CommID {
	if from != to {
		return c.universe
	}
	return c.worlds[from-1]
}

// between is known, and looks for the communicator.
func (c *comms) between(from, to int64) trace.CommID {
	if from != to {
		if c.universe == trace.None {
			c.universe = c.add(communicator{all: true})
		}
		return c.universe
	}
	w := &c.worlds[from-1]
	if *w == trace.None {
		*w = c.world(int(from - 1))
	}
	return *w
}

// world returns the communicator of all tasks of an application, in their order.
func (c *comms) world(appl int) trace.CommID {
	n := len(c.appls[appl].tasks)
	for i, l := range c.list {
		if !l.inter && !l.all && l.appl == appl && len(l.members) == n && ascending(l.members) {
			return trace.CommID(i)
		}
	}
	w := communicator{appl: appl}
	for i := range n {
		w.members = append(w.members, int64(i+1))
	}
	return c.add(w)
}

// ascending reports whether members are 1, 2, 3, …
func ascending(members []int64) bool {
	for i, m := range members {
		if m != int64(i+1) {
			return false
		}
	}
	return true
}

// add adds a communicator that the file does not name.
func (c *comms) add(n communicator) trace.CommID {
	id := trace.CommID(len(c.list))
	c.list = append(c.list, n)
	return id
}

// define makes the definitions. Members that do not exist are None, and noted.
func (c *comms) define(n *names, note func(code trace.Code, text string)) {
	for i := range c.appls {
		c.between(int64(i)+1, int64(i)+1)
	}
	groups := make([]trace.GroupID, len(c.list))
	for i, l := range c.list {
		groups[i] = trace.None
		if !l.inter {
			groups[i] = n.group(n.text(c.name(i)), c.ranks(l, note))
		}
	}
	for i, l := range c.list {
		def := trace.Comm{Ref: uint64(i), Name: n.text(c.name(i)), Group: groups[i], Remote: trace.None, Parent: trace.None, Inter: l.inter}
		if l.inter {
			a, b := c.find(l.members[0]), c.find(l.members[2])
			if a == trace.None || b == trace.None || c.list[a].inter || c.list[b].inter {
				note(trace.CodeDanglingReference, fmt.Sprintf("intercommunicator %d is made of %d and %d", l.id, l.members[0], l.members[2]))
				a, b = trace.None, trace.None
			} else {
				def.Group, def.Remote = groups[a], groups[b]
			}
		}
		n.defs.Comms = append(n.defs.Comms, def)
	}
}

// group defines a group of world ranks.
func (n *names) group(name trace.StringID, members []uint32) trace.GroupID {
	id := trace.GroupID(len(n.defs.Groups))
	n.defs.Groups = append(n.defs.Groups, trace.Group{Ref: uint64(id), Name: name, Kind: trace.GroupComm,
		Paradigm: trace.ParadigmMPI, Members: members})
	return id
}

// ranks returns the world ranks of a communicator's members.
func (c *comms) ranks(l communicator, note func(code trace.Code, text string)) []uint32 {
	var out []uint32
	if l.all {
		for _, a := range c.appls {
			for _, t := range a.tasks {
				out = append(out, t.rank)
			}
		}
		return out
	}
	tasks := c.appls[l.appl].tasks
	for _, m := range l.members {
		switch {
		case m >= 1 && m <= int64(len(tasks)):
			out = append(out, tasks[m-1].rank)
		case m == -1:
			out = append(out, trace.None)
		default:
			note(trace.CodeBadDefinition, fmt.Sprintf("communicator %d has the member %d of %d tasks", l.id, m, len(tasks)))
			out = append(out, trace.None)
		}
	}
	return out
}

// name returns the name of a communicator. The format has none, but the values of the event
// that tells the communicator may have labels.
func (c *comms) name(i int) string {
	l := c.list[i]
	if label, ok := c.pcf.label(typeComm, l.id); ok && l.id != 0 && label != "" {
		return label
	}
	switch {
	case l.all:
		return "all applications"
	case trace.CommID(i) == c.worlds[l.appl] && len(c.appls) == 1:
		return "MPI_COMM_WORLD"
	case trace.CommID(i) == c.worlds[l.appl]:
		return fmt.Sprintf("MPI_COMM_WORLD of application %d", l.appl+1)
	case l.inter:
		return fmt.Sprintf("intercommunicator %d", l.id)
	}
	return fmt.Sprintf("communicator %d", l.id)
}
