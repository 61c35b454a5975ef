package reduce

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"tracekit/stats/scope"
	"tracekit/trace"
)

// utilityNames are the paper's utility functions.
var utilityNames = []string{
	"get_mpi_counts", "get_mpi_bytes", "get_mpi_time", "get_io_counts", "get_io_bytes", "get_io_time", "get_avg_hops", "get_time",
	"get_elapsed_time", "get_mpi_name",
	"get_tracebufferinfo", "get_memoryinfo", "get_counter", "get_callerinfo", "get_environment", "get_allresults",
}

// An operation is what a location has done in calls of one MPI function.
type operation struct {
	name         starlark.String
	count, bytes uint64
	ticks        int64
}

// operations are what a location has done by function.
type operations struct {
	current  *operation
	byRegion map[trace.RegionID]*operation
	byName   map[string]*operation
	total    operation // of all functions
}

// observed is what a rule can ask for at a location.
type observed struct {
	grid       Topology
	first      int64 // tick of the run's first event
	init       int64 // when MPI_Init was entered, or else the first call
	seen       bool  // some call
	now        int64
	call       *Call
	operations            // in calls of MPI functions
	files      operations // in calls that work on files
	cut        uint64     // records so far
	records    uint64     // of the trace so far

	sends     int     // those that hops are known of
	hops      float64 // times bytes
	hopBytes  float64
	counters  map[counterKey]*counter // nil: not asked for
	byCounter map[string]*counter
	all       starlark.Value // results of all ranks; nil: not yet
}

// A counter is one of the trace, with its latest value at the location.
type counter struct {
	name   string
	kind   trace.ValueType
	memory bool // its name speaks of memory, and it counts in integers
	bits   uint64
	seen   bool // it has a value
}

func (c *counter) value() starlark.Value {
	if c.kind.IsReal() {
		return starlark.Float(c.kind.Number(c.bits))
	}
	if c.kind.Number(c.bits) < 0 {
		return starlark.MakeInt64(int64(c.bits))
	}
	return starlark.MakeUint64(c.bits)
}

type counterKey struct {
	metric trace.MetricID
	member uint8
}

func (x *located) observe() {
	x.first, _ = scope.Run(x.t)
	for _, to := range []*operations{&x.operations, &x.files} {
		to.byRegion, to.byName = make(map[trace.RegionID]*operation), make(map[string]*operation)
	}
	if x.grid = x.topology; x.grid == nil {
		x.grid = row{len(x.t.World)}
	}
	if x.uses["get_memoryinfo"] || x.uses["get_counter"] {
		x.countersOf(x.t.Defs)
	}
}

// note counts a call.
func (x *located) note(c *Call) {
	x.call, x.now, x.records = c, c.Leave, c.Last+1
	if c.MPI && (!x.seen || c.Class == trace.ClassInit) {
		x.init, x.seen = c.Enter, true
	}
	if c.File {
		x.files.add(x.t.Defs, c, c.FileBytes)
	} else {
		x.add(x.t.Defs, c, c.Bytes)
	}
}

// add counts a call of a function.
func (x *operations) add(d *trace.Defs, c *Call, bytes uint64) {
	o := x.byRegion[c.Region]
	if o == nil {
		name := d.RegionName(c.Region)
		if o = x.byName[name]; o == nil {
			o = &operation{name: starlark.String(name)}
			x.byName[name] = o
		}
		x.byRegion[c.Region] = o
	}
	for _, to := range []*operation{o, &x.total} {
		to.count++
		to.bytes += bytes
		to.ticks += c.Leave - c.Enter
	}
	x.current = o
}

// counter implements counterReader.
func (x *located) counter(metric trace.MetricID, member uint8, value uint64) {
	if c := x.counters[counterKey{metric, member}]; c != nil {
		c.bits, c.seen = value, true
	}
}

func (x *located) seconds(ticks int64) starlark.Value {
	return starlark.Float(float64(ticks) / float64(max(x.t.Defs.Clock.Resolution, 1)))
}

// variable returns what a name stands for in an expression.
func (x *located) variable(name string) starlark.Value {
	switch name {
	case "rank":
		if x.call.Rank == trace.None {
			return starlark.MakeInt(-1)
		}
		return starlark.MakeUint64(uint64(x.call.Rank))
	case "ranks":
		return starlark.MakeInt(len(x.t.World))
	case "mpi":
		return x.current.name
	case "bytes":
		return starlark.MakeUint64(x.call.Bytes)
	case "seconds":
		return x.seconds(x.call.Leave - x.call.Enter)
	case "time":
		return x.seconds(x.call.Enter - x.first)
	case "count":
		return starlark.MakeUint64(x.current.count)
	}
	region, file, line := x.call.Caller()
	switch name {
	case "caller":
		return starlark.String(x.t.Defs.RegionName(region))
	case "file":
		return starlark.String(x.t.Defs.String(file))
	}
	return starlark.MakeUint64(uint64(line))
}

// predeclared returns the functions of ours.
func (x *located) predeclared() starlark.StringDict {
	out := starlark.StringDict{"ranks": starlark.MakeInt(len(x.t.World))} // of expressions
	add := func(name string, params int, f func(args starlark.Tuple) (starlark.Value, error)) {
		out[name] = starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
			kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(args) != params || len(kwargs) > 0 {
				return nil, fmt.Errorf("%s wants %d arguments", name, params)
			}
			return f(args)
		})
	}
	ofOperation := func(name string, of *operations, f func(o *operation) starlark.Value) {
		zero := f(&operation{})
		add(name, 1, func(args starlark.Tuple) (starlark.Value, error) {
			id, ok := args[0].(starlark.String)
			if !ok {
				return nil, fmt.Errorf("%s wants the name of a function, not a %s", name, args[0].Type())
			}
			switch {
			case id == "":
				return f(&of.total), nil
			case of.current != nil && id == of.current.name:
				return f(of.current), nil
			}
			if o := of.byName[string(id)]; o != nil {
				return f(o), nil
			}
			return zero, nil
		})
	}
	for kind, of := range map[string]*operations{"mpi": &x.operations, "io": &x.files} {
		ofOperation("get_"+kind+"_counts", of, func(o *operation) starlark.Value { return starlark.MakeUint64(o.count) })
		ofOperation("get_"+kind+"_bytes", of, func(o *operation) starlark.Value { return starlark.MakeUint64(o.bytes) })
		ofOperation("get_"+kind+"_time", of, func(o *operation) starlark.Value { return x.seconds(o.ticks) })
	}
	value := func(name string, f func() starlark.Value) {
		add(name, 0, func(starlark.Tuple) (starlark.Value, error) { return f(), nil })
	}
	value("get_avg_hops", x.averageHops)
	value("get_time", func() starlark.Value { return x.seconds(x.now - x.first) })
	value("get_elapsed_time", func() starlark.Value { return x.seconds(x.now - x.init) })
	value("get_tracebufferinfo", x.bufferInfo)
	value("get_memoryinfo", x.memoryInfo)
	add("get_counter", 1, func(args starlark.Tuple) (starlark.Value, error) { return x.counterNamed(args[0]) })
	value("get_callerinfo", x.callerInfo)
	value("get_environment", x.environment)
	add("get_mpi_name", 1, func(args starlark.Tuple) (starlark.Value, error) { return args[0], nil })
	add("get_allresults", 0, func(starlark.Tuple) (starlark.Value, error) {
		if x.all == nil {
			return nil, fmt.Errorf("get_allresults is available only in output_trace and output_text")
		}
		return x.all, nil
	})
	return out
}

// averageHops returns Σ hops·bytes / Σ bytes of the messages sent so far, None without any.
func (x *located) averageHops() starlark.Value {
	sends, me := x.t.Sends[x.location], x.t.Rank[x.location]
	for ; x.sends < sends.Len(); x.sends++ {
		s := sends.Ptr(x.sends)
		if s.Seq() >= x.records && x.all == nil {
			break
		}
		if s.To(x.t.Rank) != trace.None && me != trace.None {
			x.hops += float64(x.grid.Hops(me, s.To(x.t.Rank))) * float64(s.Bytes)
			x.hopBytes += float64(s.Bytes)
		}
	}
	if x.hopBytes == 0 {
		return starlark.None
	}
	return starlark.Float(x.hops / x.hopBytes)
}

// structure makes a value with fields, which cannot be changed.
func structure(name string, fields starlark.StringDict) starlark.Value {
	return starlarkstruct.FromStringDict(starlark.String(name), fields)
}

func (x *located) bufferInfo() starlark.Value {
	kept := x.records - min(x.cut, x.records)
	used, flushes := x.costs.Used(kept)
	return structure("buffer", starlark.StringDict{
		"size": starlark.MakeInt64(x.costs.Buffer), "used": starlark.MakeInt64(used), "flushes": starlark.MakeUint64(flushes),
		"records": starlark.MakeUint64(kept),
	})
}

// memoryInfo returns the latest values of counters of memory by their names.
func (x *located) memoryInfo() starlark.Value {
	d := starlark.NewDict(0)
	for _, name := range slices.Sorted(maps.Keys(x.byCounter)) {
		if c := x.byCounter[name]; c.memory && c.seen {
			d.SetKey(starlark.String(name), c.value()) // of a new dictionary: no error
		}
	}
	return d
}

// counterNamed returns the latest value of a counter, None before its first.
func (x *located) counterNamed(name starlark.Value) (starlark.Value, error) {
	text, ok := starlark.AsString(name)
	c := x.byCounter[text]
	switch {
	case !ok:
		return nil, fmt.Errorf("get_counter wants the name of a counter, not a %s", name.Type())
	case c == nil && len(x.byCounter) == 0:
		return nil, fmt.Errorf("the trace has no counters")
	case c == nil:
		names := slices.Sorted(maps.Keys(x.byCounter))
		return nil, fmt.Errorf("the trace has no counter %q; did you mean %q?", text, nearest(text, names))
	case !c.seen:
		return starlark.None, nil
	}
	return c.value(), nil
}

func (x *located) callerInfo() starlark.Value {
	if x.call == nil {
		return starlark.None
	}
	region, file, line := x.call.Caller()
	return structure("caller", starlark.StringDict{
		"function": starlark.String(x.t.Defs.RegionName(region)), "file": starlark.String(x.t.Defs.String(file)),
		"line": starlark.MakeUint64(uint64(line)),
	})
}

func (x *located) environment() starlark.Value {
	rank := x.t.Rank[x.location]
	e := starlark.StringDict{
		"rank": starlark.None, "ranks": starlark.MakeInt(len(x.t.World)), "coordinates": starlark.None,
		"dimensions": integers(x.grid.Dimensions()), "frequency": starlark.MakeUint64(x.t.Defs.Clock.Resolution),
	}
	if rank != trace.None {
		e["rank"] = starlark.MakeUint64(uint64(rank))
		if c := x.grid.Coordinates(rank); c != nil {
			e["coordinates"] = integers(c)
		}
	}
	return structure("environment", e)
}

func integers(list []int) starlark.Value {
	t := make(starlark.Tuple, len(list))
	for i, v := range list {
		t[i] = starlark.MakeInt(v)
	}
	return t
}

// allResults returns, by the name of each function, the least, the largest, the median and
// the mean over ranks of counts, bytes and seconds; of all functions together by "".
func (s *Script) allResults(t *trace.Trace) starlark.Value {
	if !s.uses["get_allresults"] {
		return nil
	}
	type sums struct{ count, bytes, seconds []float64 } // by rank
	all := make(map[string]*sums)
	at := func(name string) *sums {
		if all[name] == nil {
			n := len(t.World)
			all[name] = &sums{make([]float64, n), make([]float64, n), make([]float64, n)}
		}
		return all[name]
	}
	for l, x := range s.locations {
		rank := t.Rank[l]
		if x == nil || int(rank) >= len(t.World) {
			continue
		}
		names := make([]string, 0, len(x.byName))
		for name := range x.byName {
			names = append(names, name)
		}
		slices.Sort(names) // sums of floating point in one order
		for _, name := range names {
			o := x.byName[name]
			for _, to := range []*sums{at(name), at("")} {
				to.count[rank] += float64(o.count)
				to.bytes[rank] += float64(o.bytes)
				to.seconds[rank] += float64(o.ticks) / float64(max(t.Defs.Clock.Resolution, 1))
			}
		}
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	out := starlark.NewDict(len(names))
	for _, name := range names {
		v := all[name]
		out.SetKey(starlark.String(name), structure("results", starlark.StringDict{ // of a new dictionary: no error
			"counts": summary(v.count), "bytes": summary(v.bytes), "time": summary(v.seconds)}))
	}
	out.Freeze()
	return out
}

// summary describes values of all ranks, of which there is one at least.
func summary(values []float64) starlark.Value {
	slices.Sort(values)
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	n := len(values)
	return structure("statistics", starlark.StringDict{
		"min": starlark.Float(values[0]), "max": starlark.Float(values[n-1]),
		"median": starlark.Float((values[(n-1)/2] + values[n/2]) / 2), "mean": starlark.Float(sum / math.Max(float64(n), 1)),
	})
}

// countersOf gathers the counters that are defined. Those of one name are one.
func (x *located) countersOf(d *trace.Defs) {
	x.counters, x.byCounter = make(map[counterKey]*counter), make(map[string]*counter)
	for id := range d.Metrics {
		for i, member := range d.CountersOf(trace.MetricID(id)) {
			if int(member) >= len(d.MetricMembers) || i > math.MaxUint8 {
				continue
			}
			v := d.MetricMembers[member]
			name := d.String(v.Name)
			c := x.byCounter[name]
			if c == nil {
				speaks := func(word string) bool { return strings.Contains(strings.ToLower(name), word) }
				c = &counter{name: name, kind: v.Value,
					memory: !v.Value.IsReal() && slices.ContainsFunc([]string{"memory", "rss", "heap", "vmsize"}, speaks)}
				x.byCounter[name] = c
			}
			x.counters[counterKey{trace.MetricID(id), uint8(i)}] = c
		}
	}
}
