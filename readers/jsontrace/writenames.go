package jsontrace

import (
	"fmt"
	"math"
	"sync/atomic"
	"unicode/utf8"

	"tracekit/trace"
)

// A trackPrefix is what the events of a location have in common.
//
//	text is ,"pid":…,"tid":…,"ts":
//	open are the regions that were entered and not left, the innermost last
type trackPrefix struct {
	pid, tid        int
	process, thread string // names, quoted
	text            []byte
	rank            uint32
	last            int64 // time of the last event
	open            []openCall
}

// tracksOf gives each location a pid, its rank or a number behind all ranks, and a tid, its
// number in the process.
func tracksOf(d *trace.Defs) []trackPrefix {
	ranks := d.Ranks()
	next := 0
	for _, r := range ranks {
		if r != trace.None {
			next = max(next, int(r)+1)
		}
	}
	pids := make(map[trace.LocationGroupID]int)
	taken := make(map[int]bool)
	tids := make(map[int]int)
	tracks := make([]trackPrefix, len(d.Locations))
	for i, l := range d.Locations {
		pid, ok := pids[l.Group]
		if !ok {
			if pid = next; ranks[i] != trace.None && !taken[int(ranks[i])] {
				pid = int(ranks[i])
			} else {
				next++
			}
			pids[l.Group], taken[pid] = pid, true
		}
		tracks[i] = trackPrefix{last: math.MinInt64, pid: pid, tid: tids[pid], rank: ranks[i], process: quoted(processName(d, l.Group)),
			thread: quoted(d.String(l.Name)), text: fmt.Appendf(nil, `,"pid":%d,"tid":%d,"ts":`, pid, tids[pid])}
		tids[pid]++
	}
	return tracks
}

func processName(d *trace.Defs, g trace.LocationGroupID) string {
	if int(g) < len(d.LocationGroups) {
		return d.String(d.LocationGroups[g].Name)
	}
	return "no process"
}

// quoted returns a string in JSON's syntax.
func quoted(s string) string {
	b, err := trace.MarshalJSON(s)
	if err != nil { // strings have none
		return `""`
	}
	return string(b)
}

// A nameCache holds what events say of regions, metrics and strings.
type nameCache struct {
	regions []regionName
	strings []atomic.Pointer[string] // quoted, once they are used
	members []string                 // names of metric members, quoted, with a colon
}

// A regionName is the text of a region in a B.
//
//	text is ,"name":"…","cat":"…"
//	argument: another region has that text too, so that the number must be given
type regionName struct {
	text     []byte
	argument bool
}

func newNameCache(d *trace.Defs) nameCache {
	c := nameCache{strings: make([]atomic.Pointer[string], len(d.Strings))}
	seen := make(map[string]bool)
	for i, r := range d.Regions {
		key := regionText(d, trace.RegionID(i))
		c.regions = append(c.regions, regionName{
			text:     fmt.Appendf(nil, `,"name":%s,"cat":%s`, quoted(d.String(r.Name)), quoted(r.Paradigm.String())),
			argument: seen[key] || !utf8.ValidString(d.String(r.Name)),
		})
		seen[key] = true
	}
	for _, m := range d.MetricMembers {
		c.members = append(c.members, quoted(d.String(m.Name))+":")
	}
	return c
}

// appendString appends a string that is defined in JSON's syntax.
func (c *nameCache) appendString(line []byte, d *trace.Defs, id trace.StringID) []byte {
	s := c.strings[id].Load()
	if s == nil {
		text := quoted(d.String(id))
		s = &text
		c.strings[id].Store(s)
	}
	return append(line, *s...)
}
