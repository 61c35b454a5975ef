package paraver_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/paraver"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

const one = "#Paraver (x):1000_ns:1(1):1:1(1:1)\n"

// permutations calls f with every order of n things.
func permutations(n int, f func([]int)) {
	var rest func(done, left []int)
	rest = func(done, left []int) {
		if len(left) == 0 {
			f(done)
		}
		for i := range left {
			rest(append(slices.Clone(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	rest(nil, all)
}

// The states of a thread without calls are its regions, each from its begin to its end.
func TestRegionsOfStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ states, want string }{
		"apart":                {"0:10:1 20:30:12", "0 Enter 1, 10 Leave 1, 20 Enter 12, 30 Leave 12"},
		"one after the other":  {"0:10:1 10:30:12", "0 Enter 1, 10 Leave 1, 10 Enter 12, 30 Leave 12"},
		"in each other":        {"0:90:1 20:30:12 40:90:5", "0 Enter 1, 20 Enter 12, 30 Leave 12, 40 Enter 5, 90 Leave 5, 90 Leave 1"},
		"begun together":       {"0:10:12 0:90:1", "0 Enter 1, 0 Enter 12, 10 Leave 12, 90 Leave 1"},
		"crossing":             {"0:50:1 30:80:12", "0 Enter 1, 30 Leave 1, 30 Enter 12, 80 Leave 12"},
		"open":                 {"0:10:1 10:-1:12", "0 Enter 1, 10 Leave 1, 10 Enter 12, 1000 Leave 12"},
		"open around others":   {"0:-1:1 10:20:12", "0 Enter 1, 10 Enter 12, 20 Leave 12, 1000 Leave 1"},
		"longer than all":      {"0:5000:1", "0 Enter 1, 5000 Leave 1"},
		"without duration":     {"7:7:12", "7 Enter 12, 7 Leave 12"},
		"of negative number":   {"7:8:-3", "7 Enter -3, 8 Leave -3"},
		"not created":          {"0:10:2 10:20:1", "10 Enter 1, 20 Leave 1"},
		"beside calls":         {"0:10:1 call 20:30:1", "15 Enter MPI_Comm_rank, 16 Leave MPI_Comm_rank"},
		"ends before it began": {"20:10:1 30:40:1", "30 Enter 1, 40 Leave 1"},
		"too late":             {"2305843009213693953:-1:1 30:40:1", "30 Enter 1, 40 Leave 1"},
	} {
		text := one
		for _, s := range strings.Fields(c.states) {
			if s == "call" {
				text += "2:1:1:1:1:15:50000003:19\n2:1:1:1:1:16:50000003:0\n"
			} else {
				text += "1:1:1:1:1:" + s + "\n"
			}
		}
		got := strings.NewReplacer("\n", ", ", `"State `, "", `"`, "").Replace(strings.TrimSpace(events(t, open(t, text, ""))[0]))
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A thread that shares its task runs as long as its states of running say; an open one lasts until the trace ends.
func TestThreadsRunAsLongAsTheyAreInThatState(t *testing.T) {
	t.Parallel()
	const header = "#Paraver (x):1000_ns:1(2):1:1(2:1)\n"
	for states, want := range map[string][]string{
		"1:1:1:1:1:0:70:1\n1:2:1:1:2:0:50:0\n1:1:1:1:1:90:100:1\n":      {"70", "10"},
		"1:1:1:1:1:0:70:1\n1:2:1:1:2:0:50:1\n1:1:1:1:1:400:-1:1\n":      {"70", "600", "50"},
		"1:1:1:1:1:2000:-1:1\n2:2:1:1:2:2500:50000003:19\n":             {"500"}, // the header's end is no bound
		"1:1:1:1:1:0:70:3\n1:1:1:1:1:70:80:7\n1:2:1:1:2:0:1000000:14\n": nil,
	} {
		var got []string
		for _, line := range strings.Fields(strings.Join(events(t, open(t, header+states, "")), "")) {
			if n, ok := strings.CutPrefix(line, "int64:"); ok {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: runs for %v, want %v", states, got, want)
		}
	}
}

// The names of applications, tasks, threads and nodes lie in their levels, each in the order of the header.
func TestLevelsOfNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.prv")
	tracetest.WriteFile(t, path, "#Paraver (x):1000_ns:2(2,2):2:2(2:1,1:2),1(1:7)\n")
	tracetest.WriteFile(t, strings.TrimSuffix(path, "prv")+"row", "LEVEL THREAD SIZE 4\nt1\nt2\nt3\nt4\nLEVEL NODE SIZE 2\nn1\nn2\n"+
		"LEVEL APPL SIZE 2\na1\na2\nLEVEL CPU SIZE 4\nc1\nc2\nc3\nc4\nLEVEL TASK SIZE 3\np1\n\np3\nLEVEL SYSTEM SIZE 1\nbig\n")
	s, err := paraver.Open(t.Context(), path, paraver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := s.Defs()
	var got []string
	for _, l := range d.Locations {
		g := d.LocationGroups[l.Group]
		got = append(got, d.String(d.SystemTree[g.Node].Name)+"/"+d.String(g.Name)+"/"+d.String(l.Name))
	}
	// A node that does not exist is the machine; what has no name has its numbers.
	if want := []string{"n1/p1/t1", "n1/p1/t2", "n2/TASK 1.2/t3", "big/p3/t4"}; !slices.Equal(got, want) {
		t.Errorf("threads are %v, want %v", got, want)
	}
}

// The site of a call is its innermost caller whose line is known and that is not part of MPI.
func TestSitesOfCalls(t *testing.T) {
	t.Parallel()
	labels := ""
	for i, values := range []string{"0 End\n1 main\n2 solve [solve.c]\n3 MPI_Send\n4 pmpi_wait_\n5 Unresolved\n",
		"0 End\n1 main.c:10\n2 20 (solve.c, exe)\n3 wrap.c:30 [/src/wrap.c:30, exe]\n4 ??:0\n5 0 (.)\n"} {
		labels += "EVENT_TYPE\n"
		for level := range 3 {
			labels += fmt.Sprintf("0 %d level\n", 70000001+10000000*i+level)
		}
		labels += "VALUES\n" + values
	}
	const call = "2:1:1:1:1:10:50000003:19"
	for lines, want := range map[string]string{
		call + ":70000001:2:80000001:2":                                             "solve at solve.c:20",
		call + ":70000001:2:80000001:2:70000002:1:80000002:1":                       "solve at solve.c:20",
		call + ":80000002:1:70000002:1:80000001:2:70000001:2":                       "solve at solve.c:20",
		call + ":70000002:1:80000002:1":                                             "main at main.c:10",
		call + ":70000001:2:80000001:4:70000002:1:80000002:1":                       "main at main.c:10", // no line
		call + ":70000001:3:80000001:3:70000002:1:80000002:1":                       "main at main.c:10", // MPI
		call + ":70000001:4:80000001:3:70000002:3:80000002:3:70000003:2:80000003:3": "solve at /src/wrap.c:30",
		call + ":70000001:5:80000001:1":                                             "? at main.c:10", // a line, and no function
		call + ":80000001:1":                                                        "? at main.c:10",
		call + ":70000001:2":                                                        "none",
		call + ":70000001:2:80000001:5":                                             "none",
		call + ":70000001:2:80000001:77":                                            "none",
		call + ":70000101:2:80000101:2":                                             "none", // no level of callers
		call + "\n2:1:1:1:1:10:70000001:2:80000001:2":                               "solve at solve.c:20",
		call + "\n2:1:1:1:1:11:70000001:2:80000001:2":                               "none", // of a later moment
		"2:1:1:1:1:10:70000001:2:80000001:2\n" + call:                               "none", // of no call so far
	} {
		s := open(t, one+lines+"\n2:1:1:1:1:20:50000003:0\n", labels)
		d, got := s.Defs(), "none"
		for b := range tracetest.Batches(t, s, 0) {
			for i, kind := range b.Flow.Kind {
				if kind != trace.KindCallingContextEnter {
					continue
				}
				c := d.CallingContexts[b.Flow.Context[i]]
				site, function := d.SourceLocations[c.Site], "?"
				if c.Parent != trace.None {
					function = d.String(d.Regions[d.CallingContexts[c.Parent].Region].Name)
				}
				got = fmt.Sprintf("%s at %s:%d", function, d.String(site.File), site.Line)
			}
		}
		if got != want {
			t.Errorf("%s: the site is %s, want %s", lines, got, want)
		}
	}
}

// Regions that are left at one moment are left from the innermost on, in whatever order the lines name them.
func TestLeavesOfOneMoment(t *testing.T) {
	t.Parallel()
	types := []string{"60000018", "60000019", "50000003"}
	const want = "40 Leave MPI_Comm_rank\n40 Leave \"event type 60000019 3\"\n40 Leave \"event type 60000018 3\"\n"
	permutations(len(types), func(order []int) {
		for _, join := range []string{":", "\n2:1:1:1:1:40:"} {
			text := one + "2:1:1:1:1:10:60000018:3\n2:1:1:1:1:20:60000019:3\n2:1:1:1:1:30:50000003:19\n2:1:1:1:1:40:"
			for i, k := range order {
				if i > 0 {
					text += join
				}
				text += types[k] + ":0"
			}
			if got := events(t, open(t, text+"\n", ""))[0]; !strings.HasSuffix(got, want) || strings.Count(got, "\n") != 6 {
				t.Errorf("%s\nis\n%swant\n%s", text, got, want)
			}
		}
	})
}

// Of receives that are posted, a wait completes those whose message has come by then, in the order of coming.
func TestReceivesCompleteAsMessagesCome(t *testing.T) {
	t.Parallel()
	const n = 4
	permutations(n, func(order []int) {
		text, lines := two, ""
		want := make([]string, n)
		for i, turn := range order {
			at, done := 10*i, 100*turn+90
			lines += fmt.Sprintf("2:2:1:2:1:%d:50000001:4\n2:2:1:2:1:%d:50000001:0\n", at, at+5)
			text += fmt.Sprintf("3:1:1:1:1:%d:%d:2:1:2:1:%d:%d:8:%d\n", at, at+1, at, done, i)
			want[turn] = fmt.Sprintf("%d MpiIrecv from=0 tag=%d bytes=8 req=%d", done, i, i+1)
		}
		for turn := range n {
			lines += fmt.Sprintf("2:2:1:2:1:%d:50000001:5\n2:2:1:2:1:%d:50000001:0\n", 100*turn+80, 100*turn+100)
		}
		var got []string
		for _, e := range strings.Split(events(t, open(t, text+lines, ""))[1], "\n") {
			if strings.Contains(e, "MpiIrecv ") {
				got = append(got, e)
			}
		}
		for i := range want { // the text form leaves zeros out
			want[i] = strings.Replace(want[i], "tag=0 ", "", 1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %v: %q, want %q", order, got, want)
		}
	})
}
