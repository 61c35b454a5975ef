package jsontrace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// events makes a file of so many events.
func events(n int, event func(i int) string) []byte {
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString(event(i))
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// Nesting of any depth costs no memory for each level, and what has no end is said with its
// place.
func TestDeepNesting(t *testing.T) {
	const depth = 1 << 20
	for _, open := range []string{"[", `{"a":`} {
		deep := strings.Repeat(open, depth)
		shut := strings.Repeat(map[string]string{"[": "]", `{"a":`: "}"}[open], depth)
		moment := `{"ph":"i","pid":1,"ts":2,"name":"a"}`
		for name, c := range map[string]struct {
			text   string
			code   trace.Code
			offset int64
		}{
			"arguments": {`{"traceEvents":[{"ph":"i","pid":1,"ts":1,"name":"a","args":` + deep + "0" + shut + "},\n" + moment + "]}",
				trace.CodeArgumentsLeftOut, 16},
			"open arguments": {`{"traceEvents":[` + moment + ",\n" + `{"ph":"i","pid":1,"ts":1,"args":` + deep, trace.CodeTruncated, 54},
			"definitions":    {`{"tracekit":` + deep + "0" + shut + `,"traceEvents":[` + moment + "]}", trace.CodeBadDefinition, 1},
		} {
			s, err := readData(t, []byte(c.text), windowBytes)
			if err != nil {
				t.Fatal(name, err)
			}
			ok := slices.ContainsFunc(s.Findings(), func(f trace.Finding) bool { return f.Code == c.code && f.First.Offset == c.offset })
			if !ok {
				t.Errorf("%s of %s: findings %.300v, want %s at %d", name, open, s.Findings(), c.code, c.offset)
			}
			s.Close()
		}
	}
}

// Definitions that would take many times their text in memory are no definitions.
func TestLargeDefinitions(t *testing.T) {
	for _, list := range []string{`"Strings":["",`, `"Regions":[{},`} {
		text := `{"tracekit":{"version":1,"digits":3,"defs":{` + list + strings.Repeat(list[strings.Index(list, "[")+1:], 3_000_000)
		text = text[:len(text)-1] + `]}},"traceEvents":[{"ph":"i","pid":1,"ts":1}]}`
		s, err := readData(t, []byte(text), windowBytes)
		if err != nil {
			t.Fatal(err)
		}
		if f := s.Findings(); len(f) != 1 || f[0].Code != trace.CodeBadDefinition || !strings.Contains(f[0].Text, "would take") {
			t.Errorf("findings %v", f)
		}
		s.Close()
	}
}

// What only looks like JSON is a finding, and costs the event alone: a letter that became a sign,
// a quote that is missing, a bracket of the other kind. What tools write instead of numbers is
// none, nor is a comma more or less.
func TestNoJSON(t *testing.T) {
	const moment = `{"ph":"i","pid":1,"ts":2,"name":"a"}`
	for text, sound := range map[string]bool{
		`"id":nul|`: false, `"id":=`: false, `"args":{"x":nul|}`: false, `"args":{"x":=}`: false, `"args":{"x":1!}`: false,
		`"args":{x":"1","y":"2"}`: false, `"args":{"x:"1","y":"2"}`: false, `"args":{"x":1","y":"2"}`: false,
		`"args":{"x":"1,"y":"2"}`: false, `"args":{"x":"1","y:2}`: false, `"args":{"x":["1","2]}`: false, `"args":{"x":"1"y":"2"}`: false,
		`"args":{"x":[1,2}}`: false, `"args":[{"x":1]]`: false, `"args":{"x":{"y":1]}`: false,
		`"args":{"x":(ind)}`: false, `"args":{"x":-nan(int)}`: false,
		`"args":{"x":-nan(ind),"y":1.#INF,"z":NaN}`: true, `"id":0x1f,"x":-nan(ind)`: true, `"args":{"x":[{},{}]}`: true,
		`"args":{"x":"\"","y":[[1],[2]],"z":{"":""}}`: true, `"args":{ "x" : 1 , "y" : "2" }`: true, `"args":{"x":1,,"y":{}"z":2}`: true,
	} {
		s, err := readData(t, []byte("[\n"+`{"ph":"i","pid":1,"ts":1,"name":"b",`+text+"},\n"+moment+"\n]"), windowBytes)
		if err != nil {
			t.Fatal(text, err)
		}
		events := uint64(0)
		for _, l := range s.Defs().Locations {
			events += l.Events
		}
		corrupt := slices.ContainsFunc(s.Findings(), func(f trace.Finding) bool { return f.Code == trace.CodeCorrupt })
		if corrupt == sound || events != map[bool]uint64{true: 2, false: 1}[sound] {
			t.Errorf("%s: %d events, findings %v", text, events, s.Findings())
		}
		s.Close()
	}
}

// What is more than is told apart is counted.
func TestLimitsAreFindings(t *testing.T) {
	for name, c := range map[string]struct {
		text []byte
		code trace.Code
		want uint64
	}{
		"counters": {events(meterLimit+5, func(i int) string {
			return fmt.Sprintf(`{"ph":"C","pid":1,"ts":%d,"name":"c%d","args":{"v":1}}`, i, i)
		}), trace.CodeLimitExceeded, 5},
		"names of threads": {events(metadataLimit+5, func(i int) string {
			return fmt.Sprintf(`{"ph":"M","pid":1,"tid":%d,"name":"thread_name","args":{"name":"t"}}`, i)
		}), trace.CodeLimitExceeded, 5},
		"groups": {events(commLimit+5, func(i int) string {
			return fmt.Sprintf(`{"ph":"X","pid":1,"ts":%d,"dur":1,"cat":"kernel","name":"ncclDevKernel_AllReduce","args":{"Collective name":"allreduce","Process Group Name":"g%d"}}`, i, i)
		}), trace.CodeLimitExceeded, 6}, // the world is one
		"launches out of order": {events(spanDelay+5, func(i int) string {
			return fmt.Sprintf(`{"ph":"X","pid":1,"ts":%d,"dur":1,"cat":"cpu_op","name":"nccl:all_reduce","args":{"Input Dims":[[8]],"Input type":["float"]}}`, 1000-i)
		}), trace.CodeLimitExceeded, 4},
		"long name": {events(1, func(int) string { return fmt.Sprintf(`{"ph":"i","pid":1,"ts":1,"name":"%01000000d"}`, 1) }),
			trace.CodeLimitExceeded, 1},
		"world size": {[]byte(`{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":18446744073709551615},"traceEvents":[{"ph":"X","pid":1,"ts":1,"dur":1}]}`), trace.CodeBadDefinition, 1},
		"rank of a group": {[]byte(`{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":2},"traceEvents":[{"ph":"X","pid":1,"ts":1,"dur":1,"cat":"kernel","name":"ncclDevKernel_AllReduce",
			"args":{"Collective name":"allreduce","Process Group Name":"g","Process Group Ranks":"[0, 1, 2]"}}]}`), trace.CodeBadDefinition, 1},
	} {
		s, err := readData(t, c.text, windowBytes)
		if err != nil {
			t.Fatal(err)
		}
		got := uint64(0)
		for _, f := range s.Findings() {
			if f.Code == c.code {
				got = f.Count
			}
		}
		if got != c.want {
			t.Errorf("%s: %d of %s, want %d: %v", name, got, c.code, c.want, s.Findings())
		}
		if size := len(s.Defs().World()); size > 2 {
			t.Errorf("%s: a world of %d", name, size)
		}
		for _, text := range s.Defs().Strings {
			if len(text) > 17<<10 {
				t.Errorf("%s: a name of %d bytes is kept", name, len(text))
			}
		}
		s.Close()
	}
}

// A group by start and stride costs what it may, and groups of all ranks share theirs.
func TestManyGroups(t *testing.T) {
	text := events(2000, func(i int) string {
		return fmt.Sprintf(`{"ph":"X","pid":1,"ts":%d,"dur":1,"cat":"kernel","name":"ncclDevKernel_AllReduce","args":{"Collective name":"allreduce","Process Group Name":"g%d","Group size":200000,"Global rank start":0,"Global rank stride":%d}}`,
			i, i, i%2)
	})
	text = append([]byte(`{"distributedInfo":{"rank":0,"world_size":200000},`), text[1:]...)
	s, err := readData(t, text, windowBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	members := 0
	for _, g := range s.Defs().Groups {
		members += len(g.Members)
	}
	if len(s.Defs().Comms) != 2001 || members > memberLimit+2*200000 {
		t.Errorf("%d communicators, %d members", len(s.Defs().Comms), members)
	}
}

// The indexes of many halves find what going through them finds.
func TestHalves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		indexed, plain := &halves{}, []half{}
		for i := range 2000 {
			if x := (half{time: rnd.Int64N(50), name: uint64(rnd.IntN(4)), track: &track{}, at: int64(i)}); rnd.IntN(5) > 1 {
				indexed.add(x)
				plain = append(plain, x)
				continue
			}
			at, name := rnd.Int64N(60), uint64(rnd.IntN(4))
			fits := func(x half, after bool) bool {
				if after { // an end for a begin of that name
					return (x.name == anyName || x.name == name) && x.time >= at
				}
				return (name == anyName || x.name == name) && x.time <= at
			}
			want, got := -1, -1
			if rnd.IntN(2) == 0 {
				want = slices.IndexFunc(plain, func(x half) bool { return fits(x, true) })
				got = indexed.first(name, func(s nest.Span) bool { return s.Max >= at })
			} else {
				for want = len(plain) - 1; want >= 0 && !fits(plain[want], false); want-- {
				}
				got = indexed.last(name, func(s nest.Span) bool { return s.Min <= at })
			}
			if (want < 0) != (got < 0) || want >= 0 && plain[want].at != indexed.list[got].at {
				t.Fatalf("half %d of %d, want %d of %d", got, len(indexed.list), want, len(plain))
			}
			if want >= 0 {
				indexed.take(got)
				plain = slices.Delete(plain, want, want+1)
			}
		}
		if indexed.left != len(plain) || len(indexed.rest()) != len(plain) {
			t.Errorf("%d are left, want %d", indexed.left, len(plain))
		}
	}
}

// Slices on as many layers as there are slices, and B and E of other names, come out whole:
// each layer holds what nests in it.
func TestManyLayers(t *testing.T) {
	const n = 3000
	s, err := readData(t, events(n, func(i int) string {
		return fmt.Sprintf(`{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":%d,"name":"a","bind_id":%d,"flow_out":true}`, 10*i, 10*n+i, i)
	}), windowBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if layers := len(s.Defs().Locations); layers != n {
		t.Errorf("%d layers, want %d", layers, n)
	}
	seen := make(map[int64]bool)
	for l := range s.Defs().Locations {
		for b := range tracetest.Batches(t, s, trace.LocationID(l)) {
			if b.Len() != 2 || len(b.Attrs.Value) != 1 || seen[b.Flow.Time[0]] ||
				b.Flow.Time[1]-b.Flow.Time[0] != 10_000*n+b.Flow.Time[0]/10 {
				t.Fatalf("location %d: %v", l, b.Flow)
			}
			seen[b.Flow.Time[0]] = true
		}
	}
}

// An E whose B is not there leaves what is open as it is, however much that is.
func TestForeignEnds(t *testing.T) {
	const searched = 64 // open slices are gone through first
	for _, n := range []int{3, searched - 1, searched, searched + 1, 500} {
		s, err := readData(t, events(3*n, func(i int) string {
			switch {
			case i < n:
				return fmt.Sprintf(`{"ph":"B","pid":1,"ts":%d,"name":"a"}`, i)
			case i < 2*n:
				return fmt.Sprintf(`{"ph":"E","pid":1,"ts":%d,"name":"b"}`, i)
			}
			return fmt.Sprintf(`{"ph":"E","pid":1,"ts":%d}`, i)
		}), windowBytes)
		if err != nil {
			t.Fatal(err)
		}
		if f := s.Findings(); len(f) != 1 || f[0].Code != trace.CodeUnmatchedLeave || f[0].Count != uint64(n) ||
			s.Defs().Locations[0].Events != uint64(2*n) {
			t.Errorf("%d: %d events, findings %v", n, s.Defs().Locations[0].Events, f)
		}
		s.Close()
	}
}

// A message of TAU goes to the receive with its identifier, else to the first that is left.
func TestTauSenders(t *testing.T) {
	const n = 3000
	s, err := readData(t, events(2*n, func(i int) string {
		phase, id := "s", i
		if i >= n {
			phase, id = "f", 3*n-1-2*i // the later half finds itself, the rest what is left
		}
		return fmt.Sprintf(`{"ph":"%s","cat":"Message","name":"MPI","id":%d,"pid":%d,"tid":0,"ts":%d,"args":{"destNode":0,"message-tag":1,"message-size":8}}`, phase, id, i%n, i)
	}), windowBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	from := make(map[uint32]bool)
	for l := range s.Defs().Locations {
		for b := range s.Events(context.Background(), trace.LocationID(l)) {
			for i, k := range b.P2P.Kind {
				if k == trace.KindMpiRecv {
					from[b.P2P.Peer[i]] = true
				}
			}
		}
	}
	if len(from) != n || len(s.Findings()) > 0 {
		t.Errorf("messages of %d senders, want %d; findings %v", len(from), n, s.Findings())
	}
}

// A file that another program writes while it is read is no sound trace: alone, compressed, or
// one of several.
func TestChangedMeanwhile(t *testing.T) {
	text := events(1000, func(i int) string { return fmt.Sprintf(`{"ph":"i","pid":1,"ts":%d}`, i) })
	for name, data := range map[string][]byte{"a.json": text, "a.json.gz": tracetest.Gzip(text)} {
		for what, size := range map[string]int64{"stays": 0, "shrinks": int64(len(data)) / 2, "grows": int64(len(data)) + 100} {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			for _, p := range []string{path, filepath.Join(dir, "b.json")} {
				tracetest.WriteFile(t, p, data)
			}
			s := newSource(Files(dir), Options{Jobs: 1})
			if len(s.files) != 2 {
				t.Fatalf("%d files", len(s.files))
			}
			change := &tracetest.Changing{Context: context.Background(), Change: func() {
				if size > 0 {
					if err := os.Truncate(path, size); err != nil {
						t.Error(err)
					}
				}
			}}
			for _, f := range s.files {
				if err := f.open(change); err != nil {
					t.Fatal(err)
				}
			}
			s, err := s.complete(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.ContainsFunc(s.Findings(), func(f trace.Finding) bool {
				return f.Code == trace.CodeChangedMeanwhile && f.Count == 1 && f.First.File == path
			})
			if got != (size > 0) {
				t.Errorf("%s %s: findings %v", name, what, s.Findings())
			}
			s.Close()
		}
	}
}
