package paraver

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A realTrace is what is to be expected of a trace that a real program wrote.
// (Extrae's states repeat what the calls say, so there are as many redundant records as states.)
type realTrace struct {
	path       string
	findings   string  // "code ×count" of the merged trace, and why they are right in comments
	matched    int     // messages
	parallel   float64 // efficiencies in per cent as BSC's scripts have them; 0: not known
	balance    float64
	collective int
}

var realTraces = []realTrace{
	{path: "lulesh_8/lulesh_8.prv", findings: "redundant_record ×43343 buffer_flush ×8", matched: 5456, parallel: 30.15, balance: 52.77,
		collective: 51},
	{path: "sweep3d_6/sweep3d_6.prv", findings: "redundant_record ×16679 buffer_flush ×6", matched: 4032, parallel: 13.70, balance: 80.02,
		collective: 39},
	{path: "npb_cg_S_16/npb_cg_S_16.prv.gz", findings: "redundant_record ×282911 buffer_flush ×16", matched: 47104, parallel: 13.20,
		balance: 40.44, collective: 2},
	{path: "npb_is_W_8/npb_is_W_8.prv", findings: "redundant_record ×713 buffer_flush ×8", matched: 7, collective: 35},
	// Persistent requests are paired one round too late by the trace's writer.
	{path: "zoo_4/zoo_4.prv", findings: "clock_violation ×6 redundant_record ×1237 buffer_flush ×4", matched: 115, collective: 48},
	{path: "zoo_4/zoo_4.prv.gz", findings: "clock_violation ×6 redundant_record ×1237 buffer_flush ×4", matched: 115, collective: 48},
	// Dimemas simulates the same run on an ideal network: the load balance stays.
	{path: "dimemas-sweep3d_6/sweep3d_6.sim.prv", findings: "redundant_record ×9821 buffer_flush ×6", matched: 4032, balance: 80.02,
		collective: 39},
	// The writer gives the communicators of the second application to the first.
	{path: "profet_lulesh_7-1/lulesh_7+1_with_uncores_sockets1+2.chop8.prv",
		findings: "bad_definition ×8 redundant_record ×1704 several_applications ×1", matched: 160, collective: 2},
	// BSC's modelfactors on a program with 1, 2 and 4 processes.
	{path: "epoch_1-2-4/epoch_1proc.prv.gz", findings: "redundant_record ×3468 buffer_flush ×1", matched: 576, parallel: 99.93,
		balance: 100, collective: 443},
	{path: "epoch_1-2-4/epoch_2proc.prv.gz", findings: "redundant_record ×6985 buffer_flush ×2", matched: 1156, parallel: 99.38,
		balance: 99.76, collective: 451},
	{path: "epoch_1-2-4/epoch_4proc.prv.gz", findings: "redundant_record ×15007 buffer_flush ×4", matched: 2556, parallel: 97.35,
		balance: 98.69, collective: 456},
	{path: "openmp_4/omp4.prv.gz", findings: "redundant_record ×114301 buffer_flush ×4"},
	// The workers' events follow in a second part that begins again at an early time, with
	// states that end before they begin; threads never leave their first function; there are
	// messages, but no calls of MPI. Tasks outlast the phases around them.
	{path: "compss_cholesky/cholesky-autoparallel-1438872-16-2048.prv", matched: 136,
		findings: "bad_value ×202 open_region ×50 unsorted ×15665 overlap ×1392 redundant_record ×260 event_outside_call ×136 buffer_flush ×51"},
	{path: "profet_lulesh_4+4/lulesh_4+4_with_uncores_sockets1+2.chop_5it.omit_original.prv"},
	{path: "qsort_beo3/qsort_beo3.prv", findings: "missing_names ×1 redundant_record ×292", matched: 33, collective: 15},
	{path: "qsort_beo3/qsort_beo3.prv.gz", findings: "missing_names ×1 redundant_record ×292", matched: 33, collective: 15},
	{path: "malformed-communicators/bigdft.extrae.128.small.clustered.codeblocks.fused.prv", findings: "count_mismatch ×1"},
}

func TestRealTraces(t *testing.T) {
	folder := tracetest.Shared(t, "paraver")
	for _, r := range realTraces {
		t.Run(r.path, func(t *testing.T) {
			s := openFor(t, filepath.Join(folder, r.path))
			if err := checkSource(s); err != nil {
				t.Error(err)
			}
			checkCounts(t, s)
			checkPairs(t, s)
			checkMerged(t, s, r)
		})
	}
}

// A tally is what a count of lines gives, without any knowledge but where fields are.
type tally struct {
	lines                    map[string]int
	mpiEnters, mpiLeaves     int
	visits, ends             int // of intervals that the user names
	sent, received, counters uint64
}

// count tallies a trace.
func count(t *testing.T, path string) tally {
	t.Helper()
	c := tally{lines: make(map[string]int)}
	named := intervals(t, path)
	lines := bufio.NewScanner(plainText(t, path))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		c.lines[fields[0]]++
		switch fields[0] {
		case "1":
			begin, _ := strconv.ParseInt(fields[5], 10, 64)
			if end, _ := strconv.ParseInt(fields[6], 10, 64); end < begin && end != -1 {
				c.lines["1"]--
				c.lines["bad"]++
			}
		case "2":
			c.events(fields[6:], named)
		case "3":
			n, _ := strconv.ParseUint(fields[13], 10, 64)
			c.sent += n
		}
	}
	return c
}

// intervals returns the event types below those of Extrae, and of COMPSs among these, that
// have a value 0 named End.
func intervals(t *testing.T, path string) map[string]bool {
	t.Helper()
	text, _ := os.ReadFile(stem(path) + ".pcf")
	named := make(map[string]bool)
	for group := range strings.SplitSeq(string(text), "EVENT_TYPE") {
		typ := strings.Fields(group)
		if len(typ) > 1 && (len(typ[1]) < 8 || typ[1] == "60000100") && regexp.MustCompile(`(?m)^0 +End$`).MatchString(group) {
			named[typ[1]] = true
		}
	}
	return named
}

func (c *tally) events(pairs []string, named map[string]bool) {
	for i := 0; i+1 < len(pairs); i += 2 {
		typ, value := pairs[i], pairs[i+1]
		switch {
		case named[typ] && value == "0":
			c.ends++
		case named[typ]:
			c.visits++
		case len(typ) == 8 && typ >= "50000001" && typ <= "50000005" && value == "0":
			c.mpiLeaves++
		case len(typ) == 8 && typ >= "50000001" && typ <= "50000005":
			c.mpiEnters++
		case strings.HasPrefix(typ, "42") && len(typ) == 8:
			n, _ := strconv.ParseUint(value, 10, 64)
			c.counters += n
		}
	}
}

// checkCounts compares what is read with a count of lines.
func checkCounts(t *testing.T, s *Source) {
	t.Helper()
	want := count(t, s.Info().Path)
	got := tally{}
	comms := 0
	// What the types of COMPSs are called.
	users := []string{"Task", "Runtime", "Task Transfers Request", "Storage API", "Events inside tasks", "Thread Identifier",
		"CPU affinity"}
	for l := range s.Defs().Locations {
		for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
			for i, k := range b.Flow.Kind {
				switch r := s.Defs().Regions[b.Flow.Region[i]]; {
				case r.Paradigm == trace.ParadigmUser && slices.Contains(users, s.Defs().String(r.Description)):
					if k.Enters() {
						got.visits++
					} else {
						got.ends++
					}
				case r.Paradigm != trace.ParadigmMPI:
				case k.Enters():
					got.mpiEnters++
				default:
					got.mpiLeaves++
				}
			}
			for i, k := range b.P2P.Kind {
				switch k {
				case trace.KindMpiSend, trace.KindMpiIsend:
					comms++
					got.sent += b.P2P.Bytes[i]
				case trace.KindMpiRecv, trace.KindMpiIrecv:
					comms++
					got.received += b.P2P.Bytes[i]
				}
			}
			for i, m := range b.Metric.Metric {
				member := s.Defs().Metrics[m].Members[b.Metric.Member[i]]
				if s.Defs().MetricMembers[member].Ref/1000000 == 42 {
					got.counters += b.Metric.Value[i]
				}
			}
		}
	}
	if comms != 2*want.lines["3"] || got.sent != want.sent || got.received != want.sent {
		t.Errorf("%d ends of messages with %d and %d bytes; %d lines with %d bytes", comms, got.sent, got.received, want.lines["3"],
			want.sent)
	}
	if repeated := (want.mpiEnters - want.mpiLeaves) / 2; got.mpiEnters != want.mpiEnters-repeated ||
		got.mpiLeaves != want.mpiLeaves+repeated {
		t.Errorf("%d enters and %d leaves of MPI; %d and %d events", got.mpiEnters, got.mpiLeaves, want.mpiEnters, want.mpiLeaves)
	}
	if got.visits != want.visits || got.ends != want.ends {
		t.Errorf("%d visits and %d ends of intervals, want %d and %d", got.visits, got.ends, want.visits, want.ends)
	}
	if got.counters != want.counters {
		t.Errorf("counters sum up to %d, want %d", got.counters, want.counters)
	}
	lines := fmt.Sprintf("state %d, event %d, communication %d, global communication %d, communicator %d, comment %d, bad %d",
		want.lines["1"], want.lines["2"], want.lines["3"], want.lines["4"], want.lines["c"]+want.lines["i"], comments(want), want.lines["bad"])
	for _, zero := range []string{"state 0", ", event 0", ", communication 0", ", global communication 0", ", communicator 0",
		", comment 0", ", bad 0"} {
		lines = strings.Replace(lines, zero+",", ",", 1)
		lines = strings.TrimSuffix(lines, zero)
	}
	if got := s.Info().Properties["lines"]; got != strings.TrimPrefix(lines, ", ") && strings.Trim(lines, ", ") != got {
		t.Errorf("lines: %s; want %s", got, lines)
	}
}

// comments returns the number of lines that begin with # but for the header.
func comments(c tally) (n int) {
	for first, k := range c.lines {
		if strings.HasPrefix(first, "#") {
			n += k
		}
	}
	return n - 1
}

// plainText opens the text of a trace.
func plainText(t *testing.T, path string) io.Reader {
	t.Helper()
	data := tracetest.ReadFile(t, path)
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return bytes.NewReader(data)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// checkPairs: matching, which knows nothing of communication lines, makes the very pairs
// of the lines again, with the same times. A simulated message that arrives before its
// receive is posted is received when it is.
func checkPairs(t *testing.T, s *Source) {
	t.Helper()
	m := statstest.Merged(t, s, merge.Options{Clock: merge.ClockNone})
	pairs := make(map[string]int)
	for l, sends := range m.Sends {
		for i := range sends.Len() {
			if x := sends.At(i); x.State == trace.Matched {
				y := m.Recvs[x.RecvLoc].At(int(x.Recv))
				pairs[fmt.Sprint(threadName(s, trace.LocationID(l)), x.Time, threadName(s, x.RecvLoc), y.Time, y.Bytes, y.Tag)]++
			}
		}
	}
	lines, other := bufio.NewScanner(plainText(t, s.Info().Path)), 0
	for lines.Scan() {
		var f [15]int64
		for i, field := range strings.Split(lines.Text(), ":") {
			if i < len(f) {
				f[i], _ = strconv.ParseInt(field, 10, 64)
			}
		}
		if f[0] != 3 {
			continue
		}
		from, to := fmt.Sprint(f[2:5]), fmt.Sprint(f[8:11])
		k := fmt.Sprint(from, f[5], to, max(f[11], f[12]), uint64(f[13]), uint32(f[14]))
		if pairs[k]--; pairs[k] < 0 {
			other++
		}
	}
	if other > 0 {
		t.Errorf("%d communication lines are other pairs", other)
	}
}

// threadName returns the numbers of application, task and thread.
func threadName(s *Source, l trace.LocationID) string {
	for a := range s.comms.appls {
		for k, task := range s.comms.appls[a].tasks {
			if thread := int64(l) - int64(task.first) + 1; thread >= 1 && thread <= task.threads {
				return fmt.Sprint([]int64{int64(a) + 1, int64(k) + 1, thread})
			}
		}
	}
	return ""
}

// checkMerged merges and analyses a trace.
func checkMerged(t *testing.T, s *Source, r realTrace) {
	t.Helper()
	m := statstest.Merged(t, s, merge.Options{})
	if err := tracetest.CheckTrace(m); err != nil {
		t.Error(err)
	}
	var findings []string
	for _, f := range m.Findings {
		findings = append(findings, fmt.Sprintf("%s ×%d", f.Code, f.Count))
	}
	if got := strings.Join(findings, " "); got != r.findings {
		t.Errorf("findings: %s; want %s", got, r.findings)
	}
	matched := 0
	for _, recvs := range m.Recvs {
		for i := range recvs.Len() {
			if recvs.At(i).State == trace.Matched {
				matched++
			}
		}
	}
	if matched != r.matched || m.Collectives.Len() != r.collective {
		t.Errorf("%d messages and %d collectives; want %d and %d", matched, m.Collectives.Len(), r.matched, r.collective)
	}
	a := statstest.Analysis(t, m, analysis.Options{})
	e := a.Efficiency
	if e == nil { // nobody calls MPI
		e = new(document.Efficiency)
	}
	near(t, "parallel efficiency", e.ParallelEfficiency, r.parallel)
	near(t, "load balance", e.LoadBalance, r.balance)
}

// near compares an efficiency with per cents to two digits.
func near(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if want != 0 && (got == nil || math.Abs(*got*100-want) > 0.0051) {
		t.Errorf("%s is %v, want %v %%", what, got, want)
	}
}

// TestStatesAlone leaves out all events of a real trace: messages are matched all the same,
// and the efficiencies are nearly those of the whole trace.
func TestStatesAlone(t *testing.T) {
	path := filepath.Join(tracetest.Shared(t, "paraver", "lulesh_8"), "lulesh_8")
	text := tracetest.ReadFile(t, path+".prv")
	labels := tracetest.ReadFile(t, path+".pcf")
	var states []byte
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("2:")) {
			states = append(states, line...)
		}
	}
	s, err := sample{prv: states, pcf: labels}.read(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := statstest.Merged(t, s, merge.Options{})
	// The states from before threads begin are not used.
	if len(m.Findings) != 1 || m.Findings[0].Code != trace.CodeRedundantRecord || m.Findings[0].Count != 7 {
		t.Error("findings:", m.Findings)
	}
	a := statstest.Analysis(t, m, analysis.Options{})
	if e := a.Efficiency.ParallelEfficiency; a.Messages.Count != 5456 || e == nil || math.Abs(*e-0.3015) > 0.01 {
		t.Errorf("%d messages, parallel efficiency %v", a.Messages.Count, *e)
	}
}
