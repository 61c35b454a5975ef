package jsontrace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tracekit/merge"
	"tracekit/readers/jsontrace"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestGlooAtOnce states that a message of gloo, which lasts until its rank asks for its end, encloses nothing that the rank does meanwhile:
// neither the receives, each of which has a call of its own, nor what is computed.
func TestGlooAtOnce(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for rank := range 2 {
		var events []string
		add := func(category, name string, from, to float64, args string) {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%d,"ts":%v,"dur":%v,"args":{%s}}`, category, name,
				5+rank, 5+rank, from, to-from, args))
		}
		message := func(name, call string, from, to float64) {
			add("cpu_op", call, from, from+0.5, fmt.Sprintf(`"Concrete Inputs":["","","%d","0"]`, 1-rank))
			add("user_annotation", name, from+0.2, to, "")
		}
		message("gloo:send", "c10d::send", 100, 200)
		message("gloo:recv", "c10d::recv_", 102, 150)
		add("cpu_op", "aten::mm", 103, 149, "")
		message("gloo:recv", "c10d::recv_", 151, 190)
		message("gloo:send", "c10d::send", 160, 195)
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		text := fmt.Sprintf(`{"schemaVersion":1,"distributedInfo":{"backend":"gloo","rank":%d,"world_size":2},"traceEvents":%s}`, rank,
			array(events...))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	src, err := jsontrace.Open(t.Context(), paths, jsontrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	tr, err := merge.Merge(t.Context(), src, merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	received := 0
	for l, recvs := range tr.Recvs {
		for _, rows := range recvs.Rows {
			for i := range rows {
				r := &rows[i]
				in := tr.Defs.RegionLabel(tr.Tree.Nodes[tr.Calls[l].At(int(r.Call)).Path].Region)
				if received++; in != "gloo:recv" || r.State != trace.Matched {
					t.Errorf("a message is received in %s, %v", in, r.State)
				}
			}
		}
	}
	if received != 4 {
		t.Errorf("%d messages are received, want 4", received)
	}
	for n := range tr.Tree.Nodes {
		name := tr.Defs.RegionLabel(tr.Tree.Nodes[n].Region)
		for up := tr.Tree.Nodes[n].Parent; name == "aten::mm" && up != trace.None; up = tr.Tree.Nodes[up].Parent {
			if in := tr.Defs.RegionLabel(tr.Tree.Nodes[up].Region); in == "gloo:send" {
				t.Errorf("%s is in %s", name, in)
			}
		}
	}
}

// TestGlooBegins states that a message of gloo begins with the call for it, though the profiler may note it once the message is on its way.
func TestGlooBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank0.json")
	tracetest.WriteFile(t, path, `{"schemaVersion":1,"distributedInfo":{"backend":"gloo","rank":0,"world_size":2},"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"c10d::send","pid":5,"tid":5,"ts":100,"dur":3,"args":{"Concrete Inputs":["","","1","0"]}},
{"ph":"X","cat":"user_annotation","name":"gloo:send","pid":5,"tid":5,"ts":102.9,"dur":7.1,"args":{}}]}`)
	src := open(t, path)
	for l := range src.Defs().Locations {
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			if src.Defs().RegionName(b.Flow.Region[0]) == "gloo:send" && b.Flow.Time[1]-b.Flow.Time[0] != 10_000 {
				t.Errorf("the message lasts %d ns, want 10,000", b.Flow.Time[1]-b.Flow.Time[0])
			}
		}
	}
}
