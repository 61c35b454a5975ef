package paraver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tracekit/trace"
)

// labelsOf tells all labels of a .pcf file in order, and how many lines are not understood.
func labelsOf(p *pcf) string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(p.states)) {
		out = append(out, fmt.Sprintf("state %d=%s", n, p.states[n]))
	}
	for _, typ := range slices.Sorted(maps.Keys(p.types)) {
		out = append(out, fmt.Sprintf("type %d=%s", typ, p.typeLabel(typ)))
		values := p.types[typ].values
		for _, v := range slices.Sorted(maps.Keys(values.labels)) {
			label, _ := p.label(typ, v)
			out = append(out, fmt.Sprintf("%d=%s", v, label))
		}
		if values.precision != 0 {
			out = append(out, fmt.Sprint("precision ", values.precision))
		}
	}
	if p.lines.bad > 0 {
		out = append(out, fmt.Sprintf("bad %d from line %d", p.lines.bad, p.lines.firstBad))
	}
	return strings.Join(out, "; ")
}

// What a .pcf file says, whatever its sections, comments and spacing; what it does not say in its way counts as bad.
func TestSectionsOfLabels(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing": {"", ""},
		"sections": {"STATES\n0 Idle\n1 Running\nEVENT_TYPE\n9 7 calls\nVALUES\n1 f\n0 End\n",
			"state 0=Idle; state 1=Running; type 7=calls; 0=End; 1=f"},
		"no values":          {"EVENT_TYPE\n9 7 calls\n", "type 7=calls"},
		"no types":           {"VALUES\n1 f\n", ""},
		"no states":          {"STATES\nSTATES_COLOR\n0 {1,2,3}\n", ""},
		"comments and gaps":  {"# a comment\n\nSTATES\n\n# 5 five\n0 Idle\n\n1 Running\n", "state 0=Idle; state 1=Running"},
		"spacing":            {"  STATES  \n\t0\t\tIdle  time \n1      Running\t\n", "state 0=Idle  time; state 1=Running"},
		"options":            {"DEFAULT_OPTIONS\nLEVEL THREAD\nUNITS NANOSEC\nDEFAULT_SEMANTIC\nTHREAD_FUNC State As Is\n", ""},
		"gradients":          {"GRADIENT_COLOR\n0 {0,2,25}\nGRADIENT_NAMES\n0 Gradient 0\nSTATES\n0 Idle\n", "state 0=Idle"},
		"before the first":   {"0 Idle\nSTATES\n1 Running\n", "state 1=Running; bad 1 from line 1"},
		"shared values":      {"EVENT_TYPE\n0 7 a\n0 8 b\nVALUES\n1 f\n", "type 7=a; 1=f; type 8=b; 1=f"},
		"two groups":         {"EVENT_TYPE\n0 7 a\nVALUES\n1 f\nEVENT_TYPE\n0 8 b\nVALUES\n1 g\n", "type 7=a; 1=f; type 8=b; 1=g"},
		"described again":    {"EVENT_TYPE\n0 7 a\nVALUES\n1 f\n2 g\nEVENT_TYPE\n0 7 b\nVALUES\n2 h\n3 i\n", "type 7=b; 1=f; 2=h; 3=i"},
		"a value twice":      {"EVENT_TYPE\n0 7 a\nVALUES\n1 f\n1 g\n", "type 7=a; 1=g; bad 1 from line 5"},
		"negative values":    {"EVENT_TYPE\n0 7 a\nVALUES\n-1 below\n18446744073709551614 two below\n", "type 7=a; -2=two below; -1=below"},
		"values beyond 64":   {"EVENT_TYPE\n0 7 a\nVALUES\n18446744073709551616 f\n2 g\n", "type 7=a; 2=g; bad 1 from line 4"},
		"types beyond 32":    {"EVENT_TYPE\n0 4294967295 last\n0 4294967296 more\n0 -1 less\n", "type 4294967295=last; bad 2 from line 3"},
		"no labels":          {"EVENT_TYPE\n0 7\nVALUES\n1\n", "type 7=; 1="},
		"no color":           {"EVENT_TYPE\n7 calls\n", "bad 1 from line 2"},
		"precision of type":  {"EVENT_TYPE\n0 7 a\nPRECISION 3\n", "type 7=a; precision 3"},
		"precision of value": {"EVENT_TYPE\n0 7 a\nVALUES\nPRECISION   18\n1 f\n", "type 7=a; 1=f; precision 18"},
		"no such precision":  {"EVENT_TYPE\n0 7 a\nPRECISION 19\nPRECISION -1\nPRECISION few\n", "type 7=a"},
		"labels like words":  {"STATES\n0 VALUES\n1 EVENT_TYPE\n", "state 0=VALUES; state 1=EVENT_TYPE"},
		"control characters": {"STATES\n0 Id\x00le\n", "state 0=Id\x00le; bad 1 from line 2"},
	} {
		p, err := readPCF(strings.NewReader(c.text))
		if got := labelsOf(p); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
		// Without its last line end, a text says the same, and that more may be missing.
		if p, err = readPCF(strings.NewReader(strings.TrimSuffix(c.text, "\n"))); c.text != "" && (err != errUnended || labelsOf(p) != c.want) {
			t.Errorf("%s: %q without the last line end, %v", name, labelsOf(p), err)
		}
	}
}

// The names of objects are those of their level, in its order, however many it announces.
func TestNamesOfObjects(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		missing bool
		bad     int
		want    map[string][]string
	}{
		"nothing":        {"", false, 0, map[string][]string{}},
		"levels":         {"LEVEL TASK SIZE 2\na\nb\n\nLEVEL CPU SIZE 1\nc\n", false, 0, map[string][]string{"TASK": {"a", "b"}, "CPU": {"c"}}},
		"empty names":    {"LEVEL TASK SIZE 3\n\nb\n\n", false, 0, map[string][]string{"TASK": {"", "b", ""}}},
		"no gap":         {"LEVEL TASK SIZE 1\na\nLEVEL CPU SIZE 1\nc\n", false, 0, map[string][]string{"TASK": {"a"}, "CPU": {"c"}}},
		"spacing":        {"LEVEL   TASK\tSIZE  1\n  a  b \n", false, 0, map[string][]string{"TASK": {"a  b"}}},
		"named a level":  {"LEVEL TASK SIZE 1\nLEVEL CPU SIZE 9\n", false, 0, map[string][]string{"TASK": {"LEVEL CPU SIZE 9"}}},
		"of none":        {"LEVEL TASK SIZE 0\n\nLEVEL CPU SIZE -5\nLEVEL NODE SIZE 1\nn\n", false, 0, map[string][]string{"NODE": {"n"}}},
		"too many":       {"LEVEL TASK SIZE 1\na\nb\n", false, 1, map[string][]string{"TASK": {"a"}}},
		"too few":        {"LEVEL TASK SIZE 999999999\na\n", true, 0, map[string][]string{"TASK": {"a"}}},
		"no size":        {"LEVEL TASK SIZE many\nLEVEL CPU\n", false, 2, map[string][]string{}},
		"size beyond 64": {"LEVEL TASK SIZE 99999999999999999999\n", true, 1, map[string][]string{}},
	} {
		rows, err := readRow(strings.NewReader(c.text))
		if (err != nil) != c.missing || rows.lines.bad != c.bad || !maps.EqualFunc(rows.names, c.want, slices.Equal[[]string]) {
			t.Errorf("%s: %q, %d bad lines, %v; want %q and %d", name, rows.names, rows.lines.bad, err, c.want, c.bad)
		}
		for level, names := range c.want {
			for i, want := range names {
				if got := rows.name(level, i); got != want {
					t.Errorf("%s: %s %d is %q, want %q", name, level, i, got, want)
				}
			}
			if rows.name(level, -1)+rows.name(level, len(names)) != "" {
				t.Errorf("%s: there is a name beyond those of level %s", name, level)
			}
		}
	}
}

// Communicators by their lines: the first application has three tasks of ranks 0 to 2, the second one of rank 3.
func TestCommunicators(t *testing.T) {
	appls := []appl{{tasks: []taskPlace{{rank: 0}, {rank: 1}, {rank: 2}}}, {tasks: []taskPlace{{rank: 3}}}}
	worlds := "MPI_COMM_WORLD of application 1 [0 1 2], MPI_COMM_WORLD of application 2 [3]"
	for _, c := range []struct{ lines, bad, want string }{
		{"", "", worlds},
		{"c:1:5:3:1:2:3", "", "MPI_COMM_WORLD of application 1 [0 1 2], MPI_COMM_WORLD of application 2 [3]"}, // not made twice
		{"C:1:5:3:3:2:1", "", "communicator 5 [2 1 0], " + worlds},
		{"c:1:5:1:2:", "", "communicator 5 [1], " + worlds}, // a colon at the end
		{"c:1:5:0", "", "communicator 5 [], " + worlds},
		{"c:2:-7:2:1:-1", "", "communicator -7 [3 none], " + worlds},
		{"c:2:5:2:1:2", "communicator 5 has the member 2 of 1 tasks", "communicator 5 [3 none], " + worlds},
		{"c:1:5:1:0", "communicator 5 has the member 0 of 3 tasks", "communicator 5 [none], " + worlds},
		{"c:1:5:1:1 c:1:6:1:2 i:1:7:5:1:6:2", "", "communicator 5 [0], communicator 6 [1], intercommunicator 7 [0] [1], " + worlds},
		{"i:1:7:5:1:6:2 c:1:5:1:1 c:1:6:1:2", "", "intercommunicator 7 [0] [1], communicator 5 [0], communicator 6 [1], " + worlds},
		{"c:1:5:1:1 i:1:7:5:1:6:2", "intercommunicator 7 is made of 5 and 6", "communicator 5 [0], intercommunicator 7, " + worlds},
		{"c:1:5:1:1 i:1:7:5:1:7:2", "intercommunicator 7 is made of 5 and 7", "communicator 5 [0], intercommunicator 7, " + worlds},
		{"c:1:5:1:1 c:1:5:1:2", errCommTwin.Error(), "communicator 5 [0], " + worlds},
		{"c:3:5:1:1", errComm.Error(), worlds},
		{"c:0:5:1:1", errComm.Error(), worlds},
		{"c:1:5:-1", errComm.Error(), worlds},
		{"c:1:5", errComm.Error(), worlds},
		{"i:1:7:5:1:6:2:1", errComm.Error(), worlds},
		{"c:1::1:1", errNumber.Error(), worlds},
		{"c:1:5:1:one", errNumber.Error(), worlds},
	} {
		comms, names := newComms(appls, &pcf{}), newNames(&trace.Defs{})
		var bad, got []string
		for _, line := range strings.Fields(c.lines) {
			if err := comms.line(line); err != nil {
				bad = append(bad, err.Error())
			}
		}
		comms.define(names, func(_ trace.Code, text string) { bad = append(bad, text) })
		members := func(g trace.GroupID) string {
			if g == trace.None {
				return ""
			}
			return " " + strings.ReplaceAll(fmt.Sprint(names.defs.Groups[g].Members), fmt.Sprint(uint32(trace.None)), "none")
		}
		for _, d := range names.defs.Comms {
			got = append(got, names.defs.String(d.Name)+members(d.Group)+members(d.Remote))
		}
		if strings.Join(got, ", ") != c.want || strings.Join(bad, ", ") != c.bad {
			t.Errorf("%q: %s (%s), want %s (%s)", c.lines, strings.Join(got, ", "), bad, c.want, c.bad)
		}
	}
}

// Each MPI function has one number in one group, and is found by it in any spelling of its label.
func TestNumbersOfFunctions(t *testing.T) {
	seen := make(map[int64]string)
	for group, calls := range mpiCalls() {
		for _, c := range calls {
			if seen[c.value] != "" {
				t.Errorf("%s and %s have the number %d", seen[c.value], c.name, c.value)
			}
			seen[c.value] = c.name
			want, _ := mpiName(uint32(group), c.value, "")
			if !strings.EqualFold(want, "MPI_"+c.name) || trace.MPIFunctionOf(want).Class == trace.ClassNone && strings.Contains(want, "SEND") {
				t.Errorf("%d is %s, want %s", c.value, want, c.name)
			}
			for _, label := range []string{"MPI_" + c.name, want, "someone's wrapper"} {
				if name, canonical := mpiName(uint32(group), c.value, label); name != want || canonical != "" {
					t.Errorf("%d, %q, is %s (%s); want %s", c.value, label, name, canonical, want)
				}
			}
			for other := range mpiCalls() {
				if name, _ := mpiName(uint32(other), c.value, ""); (name == want) != (other == group) {
					t.Errorf("%d is %s in group %d", c.value, name, other)
				}
			}
		}
	}
	// A function without a number is its label's.
	if name, canonical := mpiName(0, 9999, "vendor_send [MPI_Send]"); name != "vendor_send" || canonical != "MPI_Send" {
		t.Errorf("%s stands for %s", name, canonical)
	}
}
