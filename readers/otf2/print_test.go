package otf2

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// otf2Print runs the reference library's tool and returns the lines of its table. What
// the tool complains about fails the test.
func otf2Print(t *testing.T, args ...string) []string {
	cmd := exec.Command(tracetest.Program(t, "otf2-print", "otf2-tools"), args...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Errorf("otf2-print %v: %v %s", args, err, complaints.String())
	}
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := scan.Text()
		switch {
		case line == "" || line[0] == '-' || line[0] == '=' || strings.HasPrefix(line, "Event ") || strings.HasPrefix(line, "Definition "):
		case line[0] == ' ' && len(lines) > 0: // a continued line
			lines[len(lines)-1] += " " + strings.TrimSpace(line)
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// printer writes events as otf2-print does, from the tables.
type printer struct {
	defs   *trace.Defs
	params map[uint64]string // names of parameters
	model  map[uint64]string // names of paradigms
	attr   int               // index of the next row of attributes
}

// lines returns the lines of a batch.
func (p *printer) lines(b *trace.Batch) []string {
	p.attr = 0
	out := make([]string, b.Len())
	for seq, r := range b.Events {
		kind, time, text := p.event(b, r)
		if attrs := p.attributes(b, seq); attrs != "" {
			text += " ADDITIONAL ATTRIBUTES: " + attrs
		}
		loc := &p.defs.Locations[b.Location]
		out[seq-b.First] = fmt.Sprintf("%s %d %d %s", snake(kind.String()), loc.Ref, uint64(trace.CorrectOffset(loc.ClockOffsets, time)), text)
	}
	return out
}

func (p *printer) event(b *trace.Batch, r trace.Row) (trace.Kind, int64, string) {
	time := b.Time(r)
	switch i := r.First; r.Table {
	case trace.TableFlow:
		return b.Flow.Kind[i], time, "Region: " + p.named(b.Flow.Region[i])
	case trace.TableP2P:
		return b.P2P.Kind[i], time, p.p2p(&b.P2P, i)
	case trace.TableColl:
		return b.Coll.Kind[i], time, p.coll(&b.Coll, i)
	case trace.TableMetric:
		return trace.KindMetric, time, p.metric(&b.Metric, i, r.End)
	default:
		o := &b.Other
		return o.Kind[i], time, p.other(b.Location, o.Kind[i], o.Args[o.Offset[i]:o.Offset[i+1]])
	}
}

func (p *printer) p2p(m *trace.P2P, i int) string {
	if hasNoLength(m.Kind[i]) {
		return fmt.Sprintf("Request: %d", m.Request[i])
	}
	peer := "Receiver"
	if m.Kind[i] == trace.KindMpiRecv || m.Kind[i] == trace.KindMpiIrecv {
		peer = "Sender"
	}
	s := fmt.Sprintf("%s: %d, Communicator: %s, Tag: %d, Length: %d", peer, m.Peer[i], p.comm(m.Comm[i]), m.Tag[i], m.Bytes[i])
	if m.Kind[i] == trace.KindMpiIsend || m.Kind[i] == trace.KindMpiIrecv {
		s += fmt.Sprintf(", Request: %d", m.Request[i])
	}
	return s
}

func (p *printer) coll(c *trace.Coll, i int) string {
	if c.Kind[i] == trace.KindCollectiveBegin {
		return ""
	}
	root := map[uint32]string{trace.RootNone: "NONE", trace.RootSelf: "SELF", trace.RootThisGroup: "THIS GROUP"}[c.Root[i]]
	if root == "" {
		root = fmt.Sprint(c.Root[i])
	}
	return fmt.Sprintf("Operation: %s, Communicator: %s, Root: %s, Sent: %d, Received: %d",
		strings.ToUpper(c.Op[i].String()), p.comm(c.Comm[i]), root, c.Sent[i], c.Received[i])
}

func (p *printer) metric(m *trace.MetricValues, from, to int) string {
	class := p.defs.Metrics[m.Metric[from]]
	s := fmt.Sprintf("Metric: %d, %d Value", class.Ref, to-from)
	if class.Class != trace.None { // an instance
		class = p.defs.Metrics[class.Class]
	}
	if to-from != 1 {
		s += "s"
	}
	for i := from; i < to; i++ {
		member := p.defs.MetricMembers[class.Members[i-from]]
		value := strconv.FormatUint(m.Value[i], 10)
		if m.Type[i] == trace.TypeDouble {
			value = fmt.Sprintf("%g", math.Float64frombits(m.Value[i]))
		}
		kind := map[trace.ValueType]string{trace.TypeUint64: "UINT64", trace.TypeDouble: "DOUBLE"}[m.Type[i]]
		s += []string{": ", ", "}[min(i-from, 1)] + fmt.Sprintf("(%q <%d>; %s; %s)", p.defs.String(member.Name), member.Ref, kind, value)
	}
	return s
}

func (p *printer) other(location trace.LocationID, kind trace.Kind, args []uint64) string {
	comm := func(ref uint64) string {
		i := slices.IndexFunc(p.defs.Comms, func(c trace.Comm) bool { return c.Ref == ref })
		return p.comm(trace.CommID(i))
	}
	str := func(ref uint64) string { return fmt.Sprintf("%q <%d>", p.defs.String(trace.StringID(ref)), ref) }
	switch kind {
	case trace.KindBufferFlush:
		stop := trace.CorrectOffset(p.defs.Locations[location].ClockOffsets, int64(args[0]))
		return fmt.Sprintf("Stop Time: %d", stop)
	case trace.KindMeasurementOnOff:
		return "Mode: " + []string{"", "ON", "OFF"}[args[0]]
	case trace.KindThreadFork:
		return fmt.Sprintf("Model: %q <%d>, # Requested Threads: %d", p.model[args[0]], args[0], args[1])
	case trace.KindThreadJoin:
		return fmt.Sprintf("Model: %q <%d>", p.model[args[0]], args[0])
	case trace.KindThreadTeamBegin, trace.KindThreadTeamEnd:
		return "Thread Team: " + comm(args[0])
	case trace.KindProgramBegin:
		s := fmt.Sprintf("Name: %s, %d Arguments", str(args[0]), args[1])
		for i, a := range args[2:] {
			s += []string{": ", ", "}[min(i, 1)] + str(a)
		}
		return s
	case trace.KindProgramEnd:
		if int64(args[0]) == math.MinInt64 {
			return "Exit status: UNDEFINED"
		}
		return fmt.Sprintf("Exit status: %d", int64(args[0]))
	case trace.KindParameterInt:
		return fmt.Sprintf("Parameter: %q <%d>, Value: %d", p.params[args[0]], args[0], int64(args[1]))
	case trace.KindParameterUint:
		return fmt.Sprintf("Parameter: %q <%d>, Value: %d", p.params[args[0]], args[0], args[1])
	}
	return fmt.Sprint(args)
}

func (p *printer) attributes(b *trace.Batch, seq uint64) string {
	var list []string
	a := &b.Attrs
	for ; p.attr < len(a.Seq) && a.Seq[p.attr] == seq; p.attr++ {
		def := p.defs.Attributes[a.Attribute[p.attr]]
		typ := map[trace.ValueType]string{trace.TypeUint64: "UINT64", trace.TypeString: "STRING"}[a.Type[p.attr]]
		list = append(list, fmt.Sprintf("(%q <%d>; %s; %d)", p.defs.String(def.Name), def.Ref, typ, a.Value[p.attr]))
	}
	return strings.Join(list, ", ")
}

func (p *printer) named(r trace.RegionID) string {
	return fmt.Sprintf("\"%s\" <%d>", p.defs.RegionName(r), p.defs.Regions[r].Ref)
}

func (p *printer) comm(c trace.CommID) string {
	return fmt.Sprintf("\"%s\" <%d>", p.defs.String(p.defs.Comms[c].Name), p.defs.Comms[c].Ref)
}

// snake returns MPI_SEND for MpiSend: how otf2-print names records.
func snake(name string) string {
	switch name {
	case "ParameterInt":
		return "PARAMETER_INT64"
	case "ParameterUnsignedInt":
		return "PARAMETER_UINT64"
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

var peerRE = regexp.MustCompile(`(Receiver|Sender|Root): (\d+) \(.*?<\d+>\)`)

// normal takes the location that otf2-print adds to a rank out of a line, and blanks.
func normal(line string) string {
	if strings.HasPrefix(line, "MPI_") {
		line = peerRE.ReplaceAllString(line, "$1: $2")
	}
	return strings.Join(strings.Fields(line), " ")
}

// newPrinter finds the names that the model does not type in the tool's own listing.
func newPrinter(t *testing.T, anchor string, defs *trace.Defs) *printer {
	p := &printer{defs: defs, params: map[uint64]string{}, model: map[uint64]string{}}
	re := regexp.MustCompile(`^(PARADIGM|PARAMETER) .*Name: "(.*?)" <`)
	id := regexp.MustCompile(`^(PARADIGM|PARAMETER) +(?:[A-Z_]+ <)?(\d+)`)
	for _, line := range otf2Print(t, "-G", anchor) {
		name, number := re.FindStringSubmatch(line), id.FindStringSubmatch(line)
		if name == nil || number == nil {
			continue
		}
		ref, _ := strconv.ParseUint(number[2], 10, 64)
		if name[1] == "PARAMETER" {
			p.params[ref] = name[2]
		} else {
			p.model[ref] = name[2]
		}
	}
	return p
}

// comparePrinted compares every event of an archive, with corrected times and all fields,
// and the numbers of definitions with what otf2-print prints.
func comparePrinted(t *testing.T, anchor string) {
	s, err := Open(context.Background(), anchor, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := newPrinter(t, anchor, s.Defs())
	want := make(map[string][]string) // by location
	for _, line := range otf2Print(t, anchor) {
		line = normal(line)
		location := strings.SplitN(line, " ", 3)[1]
		want[location] = append(want[location], line)
	}
	for l := range s.Defs().Locations {
		location := strconv.FormatUint(s.Defs().Locations[l].Ref, 10)
		lines := want[location]
		n := 0
		for b, err := range s.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range p.lines(b) {
				if got = normal(got); n >= len(lines) || got != lines[n] {
					t.Fatalf("location %s, event %d: %s, otf2-print has %s", location, n, got, slices.Concat(lines, []string{"none"})[min(n, len(lines))])
				}
				n++
			}
		}
		if n != len(lines) {
			t.Errorf("location %s has %d events, otf2-print has %d", location, n, len(lines))
		}
		delete(want, location)
	}
	if len(want) > 0 {
		t.Errorf("otf2-print has locations %v", slices.Collect(maps.Keys(want)))
	}
	compareDefinitions(t, anchor, s.Defs())
}

// compareDefinitions compares the numbers of definitions by kind.
func compareDefinitions(t *testing.T, anchor string, d *trace.Defs) {
	got := map[string]int{"CLOCK_PROPERTIES": 1, "STRING": len(d.Strings), "SYSTEM_TREE_NODE": len(d.SystemTree),
		"LOCATION_GROUP": len(d.LocationGroups), "LOCATION": len(d.Locations), "REGION": len(d.Regions),
		"GROUP": len(d.Groups), "SOURCE_CODE_LOCATION": len(d.SourceLocations), "CALLING_CONTEXT": len(d.CallingContexts),
		"METRIC_MEMBER": len(d.MetricMembers), "ATTRIBUTE": len(d.Attributes)}
	for _, c := range d.Comms {
		got[map[bool]string{false: "COMM", true: "INTER_COMM"}[c.Inter]]++
	}
	for _, m := range d.Metrics {
		got[map[bool]string{true: "METRIC_CLASS", false: "METRIC_INSTANCE"}[m.Class == trace.None]]++
	}
	for _, o := range d.Opaque {
		got[snake(definitionRecords()[o.Kind].name)]++
	}
	want := map[string]int{}
	for _, line := range otf2Print(t, "-G", anchor) {
		name, _, _ := strings.Cut(line, " ")
		want[name]++
	}
	maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 })
	if !maps.Equal(got, want) {
		t.Errorf("definitions: got %v, otf2-print has %v", got, want)
	}
}

func TestPrintedReal(t *testing.T) {
	for _, path := range realArchives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if testing.Short() && filepath.Base(path) == "lulesh-8x2" {
				t.Skip("a million lines are not for -short")
			}
			anchor, err := findAnchor(path)
			if err != nil {
				t.Fatal(err)
			}
			comparePrinted(t, anchor)
		})
	}
}

// TestPrintedGoldens shows that the reference library agrees about the goldens that it
// does not refuse.
func TestPrintedGoldens(t *testing.T) {
	for _, name := range []string{"usual", "older"} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/big=%v", name, big), func(t *testing.T) {
				a := goldenFile(t, name)
				for i := range a.Files { // the library insists on the usual chunk sizes
					a.Files[i].Data = bytes.ReplaceAll(a.Files[i].Data, []byte("q:1024 "), []byte("q:1048576 "))
				}
				comparePrinted(t, writeArchive(t, t.TempDir(), a.Files[:len(a.Files)-1], big, 1<<20))
			})
		}
	}
}
