package paraver

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"tracekit/trace"
)

// extraeStates are the names and colors of Extrae's states, by number.
var extraeStates = []struct{ name, color string }{
	{"Idle", "117,195,255"}, {"Running", "0,0,255"}, {"Not created", "255,255,255"}, {"Waiting a message", "255,0,0"},
	{"Blocking Send", "255,0,174"}, {"Synchronization", "179,0,0"}, {"Test/Probe", "0,255,0"},
	{"Scheduling and Fork/Join", "255,255,0"}, {"Wait/WaitAll", "235,0,0"}, {"Blocked", "0,162,0"},
	{"Immediate Send", "255,0,255"}, {"Immediate Receive", "100,100,177"}, {"I/O", "172,174,41"},
	{"Group Communication", "255,144,26"}, {"Tracing Disabled", "2,255,177"}, {"Others", "192,224,0"},
	{"Send Receive", "66,66,66"}, {"Memory transfer", "255,0,96"},
}

// mpiLabels are the names of MPI's event types.
var mpiLabels = [mpiGroups]string{"MPI Point-to-point", "MPI Collective Comm", "MPI Other", "MPI One-sided", "MPI I/O"}

func typeName(typ uint32) string { return strconv.FormatUint(uint64(typ), 10) }

// A labelWriter writes a .pcf file; see pcf.
type labelWriter struct{ *bufio.Writer }

// writePCF writes the labels of what is used, after the options and the states that Extrae
// writes, which Paraver's configurations rely on.
func (w *Writer) writePCF(f io.Writer) error {
	l := labelWriter{bufio.NewWriter(f)}
	l.WriteString("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\n" +
		"SPEED               1\nFLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\n" +
		"DEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n")
	for i, s := range extraeStates {
		fmt.Fprintf(l, "%d    %s\n", i, s.name)
	}
	l.WriteString("\n\nSTATES_COLOR\n")
	for i, s := range extraeStates {
		fmt.Fprintf(l, "%d    {%s}\n", i, s.color)
	}
	w.writeRegions(l)
	w.writeCallers(l)
	w.writeCounters(l)
	l.types(1, typeLabel{typeSent, "Send Size in MPI Global OP"}, typeLabel{typeReceived, "Recv Size in MPI Global OP"},
		typeLabel{typeRoot, "Root in MPI Global OP"})
	w.writeComms(l)
	w.writeOthers(l)
	return l.Flush()
}

// A typeLabel is an event type and its name.
type typeLabel struct {
	typ   uint32
	label string
}

// types begins a group of event types. A gradient is how Paraver colors the type's values.
func (l labelWriter) types(gradient int, types ...typeLabel) {
	l.WriteString("\n\nEVENT_TYPE\n")
	for _, t := range types {
		fmt.Fprintf(l, "%d    %d    %s\n", gradient, t.typ, t.label)
	}
}

// value writes the label of a value of the group.
func (l labelWriter) value(v int64, label string) { fmt.Fprintf(l, "%d      %s\n", v, label) }

// writeRegions writes the regions by event type.
func (w *Writer) writeRegions(l labelWriter) {
	byType := make(map[uint32][]trace.RegionID)
	for i := range w.values.used.all {
		typ := w.values.regions[i].typ
		byType[typ] = append(byType[typ], trace.RegionID(i))
	}
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		ids := byType[typ]
		slices.SortFunc(ids, func(a, b trace.RegionID) int {
			return cmp.Compare(w.values.regions[a].value, w.values.regions[b].value)
		})
		label, zero := map[uint32]string{typeOutlined: "Executed OpenMP parallel function", typeUser: "User functions",
			typePthread: "pthread function"}[typ], "End"
		if typ >= firstOwnRegion {
			label = ownLabel(typ)
		}
		if typ-firstMPI < mpiGroups {
			label, zero = mpiLabels[typ-firstMPI], "Outside MPI"
		}
		l.types(9, typeLabel{typ, label})
		l.WriteString("VALUES\n")
		l.value(0, zero)
		for _, id := range ids {
			r := w.defs.Regions[id]
			name := oneLine(w.defs.String(r.Name))
			switch {
			case typ-firstMPI >= mpiGroups:
				name = functionLabelOf(w.defs, r)
			case trace.MPIFunctionOf(name).Class == trace.ClassNone:
				name += " [" + oneLine(w.defs.String(r.Canonical)) + "]"
			}
			l.value(w.values.regions[id].value, name)
		}
	}
}

// writeCallers writes the functions and lines that call MPI.
func (w *Writer) writeCallers(l labelWriter) {
	lines := slices.Collect(w.values.lines.all)
	if len(lines) == 0 {
		return
	}
	l.types(0, typeLabel{typeCaller, "Caller at level 1"})
	l.WriteString("VALUES\n0      End\n")
	for id := range w.values.callers.all {
		l.value(int64(id)+1, functionLabelOf(w.defs, w.defs.Regions[id]))
	}
	l.types(0, typeLabel{typeCallerLine, "Caller line at level 1"})
	l.WriteString("VALUES\n0      End\n")
	for _, id := range lines {
		l.value(int64(id)+1, lineLabelOf(w.defs, w.defs.SourceLocations[id]))
	}
}

// writeCounters writes the metrics. A power of ten is a precision; others are in the name.
func (w *Writer) writeCounters(l labelWriter) {
	for i := range w.values.metric.all {
		m := w.defs.MetricMembers[i]
		l.types(7, typeLabel{w.values.members[i], oneLine(w.defs.String(m.Name))})
		if m.Base == 1 && m.Exponent < 0 && m.Exponent >= -18 {
			fmt.Fprintf(l, "PRECISION %d\n", -m.Exponent)
		} else if m.Exponent != 0 {
			w.lose("scales of counters", 1)
		}
	}
}

// writeComms writes the names of the communicators.
func (w *Writer) writeComms(l labelWriter) {
	l.types(1, typeLabel{typeComm, "Communicator in MPI Global OP"})
	l.WriteString("VALUES\n")
	for i, c := range w.defs.Comms {
		if name := oneLine(w.defs.String(c.Name)); name != "" {
			l.value(int64(i)+1, name)
		}
	}
}

// writeOthers writes the types of the tracing machinery and our own.
func (w *Writer) writeOthers(l labelWriter) {
	if w.values.application.Load() {
		l.types(6, typeLabel{typeApplication, "Application"})
		l.WriteString("VALUES\n0      End\n1      Begin\n")
	}
	if w.values.flush.Load() {
		l.types(6, typeLabel{typeFlush, "Flushing Traces"})
		l.WriteString("VALUES\n0      End\n1      Begin\n")
	}
	if w.values.tracing.Load() {
		l.types(6, typeLabel{typeTracing, "Tracing"})
		l.WriteString("VALUES\n0      Disabled\n1      Enabled\n")
	}
	if w.options.Plain {
		return
	}
	for _, o := range ownLabels {
		l.types(0, o)
	}
	most := 0
	for n := range w.values.arguments.all {
		most = n
	}
	for i := range uint32(most) {
		l.types(0, typeLabel{ownArgument + i, ownLabel(ownArgument + i)})
	}
	if texts := slices.Collect(w.values.texts.all); len(texts) > 0 {
		l.types(0, typeLabel{ownInstant, instantsLabel})
		l.WriteString("VALUES\n")
		for _, id := range texts {
			l.value(int64(id)+1, oneLine(w.defs.Strings[id]))
		}
	}
}

// writeRow writes the names of the objects, in the order of the header: CPUs by node, nodes,
// tasks, and their threads. What has no name gets the usual one: viewers show an empty line
// as it is.
func (w *Writer) writeRow(f io.Writer) error {
	b, d, o := bufio.NewWriter(f), w.defs, w.objects
	cpus := make([]string, 0, len(d.Locations))
	for n := range o.nodes {
		for _, t := range o.tasks {
			for range t.threads {
				if t.node == n+1 {
					cpus = append(cpus, fmt.Sprintf("%d.%s", len(cpus)+1, w.nodeName(n)))
				}
			}
		}
	}
	level(b, "CPU", cpus)
	var nodes, tasks, threads []string
	for n := range o.nodes {
		nodes = append(nodes, w.nodeName(n))
	}
	for i, t := range o.tasks {
		name := ""
		if int(t.group) < len(d.LocationGroups) {
			name = oneLine(d.String(d.LocationGroups[t.group].Name))
		}
		tasks = append(tasks, cmp.Or(name, fmt.Sprintf("TASK 1.%d", i+1)))
		for j, l := range t.threads {
			name := oneLine(d.String(d.Locations[l].Name))
			threads = append(threads, cmp.Or(name, fmt.Sprintf("THREAD 1.%d.%d", i+1, j+1)))
		}
	}
	level(b, "NODE", nodes)
	level(b, "TASK", tasks)
	level(b, "THREAD", threads)
	return b.Flush()
}

// nodeName returns the name of node n, from 0.
func (w *Writer) nodeName(n int) string {
	name := ""
	if id := w.objects.nodes[n]; int(id) < len(w.defs.SystemTree) {
		name = oneLine(w.defs.String(w.defs.SystemTree[id].Name))
	}
	return cmp.Or(name, fmt.Sprintf("node %d", n+1))
}

// level writes the names of one level.
func level(b *bufio.Writer, name string, labels []string) {
	fmt.Fprintf(b, "LEVEL %s SIZE %d\n", name, len(labels))
	for _, l := range labels {
		fmt.Fprintln(b, l)
	}
	fmt.Fprintln(b)
}
