package gate

import (
	"strings"
	"testing"
)

// TestFailing states what paths of --fail-if lead to: a name alone is a key at the top, and
// what could mean several things is an error that names them.
func TestFailing(t *testing.T) {
	site := func(operation, file string, line, ns int) any {
		return map[string]any{"operation": operation, "region": "step(int, char)", "file": file, "line": line, "time_ns": ns}
	}
	doc := map[string]any{
		"coverage": map[string]any{"share": 1.0},
		"top":      3,
		"efficiency": map[string]any{
			"parallel_efficiency":   0.75,
			"transfer_efficiency":   nil,
			"useful_ns":             []any{4, 5, 6},
			"without_init_finalize": map[string]any{"parallel_efficiency": 0.9},
		},
		"messages": map[string]any{"count": 12, "latency_ns": map[string]any{"max": 7}},
		"sizes":    map[string]any{"count": 3},
		"call_sites": []any{site("MPI_Allreduce", "/home/a/src/halo.c", 100, 5), site("MPI_Allreduce", "/home/a/src/halo.c", 120, 6),
			site("MPI_Send", "/home/a/src/halo.c", 100, 7), site("MPI_Send", "/home/b/src/halo.c", 100, 8)},
		"comm_matrix": []any{map[string]any{"from": 0, "to": 1, "bytes": 10}, map[string]any{"from": 1, "to": 0, "bytes": 20}},
		"findings":    []any{map[string]any{"code": "unmatched_send", "count": 2}},
		"collectives": []any{},
		"wait_states": map[string]any{"late_sender": map[string]any{"share": 0.5}},
	}
	tree, err := Tree(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		condition string
		fails     bool
		err       string
	}{
		{"top>2", true, ""},
		{"efficiency.parallel_efficiency<0.8", true, ""},
		{"efficiency.parallel_efficiency < 0.7", false, ""},
		{"messages.count==12", true, ""},
		{"messages.count!=12", false, ""},
		{"messages.latency_ns.max>=7", true, ""},
		{"wait_states.late_sender.share>0.4", true, ""},
		{"call_sites[MPI_Allreduce halo.c:100].time_ns==5", true, ""},
		{"call_sites[MPI_Allreduce /home/a/src/halo.c:120].time_ns==6", true, ""},
		{"call_sites[MPI_Send step(int, char) /home/b/src/halo.c:100].time_ns==8", true, ""},
		{"call_sites[operation=MPI_Allreduce line=120].time_ns==6", true, ""},
		{"call_sites[3].time_ns>=8", true, ""},
		{"comm_matrix[from=1 to=0].bytes>15", true, ""},
		{"efficiency.useful_ns[2]==6", true, ""},
		{"findings[unmatched_send].count>0", true, ""},
		{"findings[clock_violation].count>0", false, ""}, // a known code that was not found

		// Not what is meant: this was once coverage.share.
		{"share>0.5", false, "no top-level key share; did you mean coverage.share or wait_states.late_sender.share?"},
		{"parallel_efficiency<0.8", false,
			"did you mean efficiency.parallel_efficiency or efficiency.without_init_finalize.parallel_efficiency?"},
		{"without_init_finalize.parallel_efficiency<0.8", false, "did you mean efficiency.without_init_finalize?"},
		{"count>1", false, "did you mean findings[…].count, messages.count or sizes.count?"},
		{"call_sites[halo.c:100].time_ns>1", false, "has 3 elements [halo.c:100]: call_sites[MPI_Allreduce step(int, char) halo.c:100]"},
		{"call_sites[MPI_Recv].time_ns>1", false, "has no element [MPI_Recv]; it has, for example, call_sites[MPI_Allreduce"},
		{"call_sites.time_ns>1", false, "is a list: choose an element, as in call_sites[MPI_Allreduce step(int, char) halo.c:100].time_ns"},
		{"call_sites[4].time_ns>1", false, "it has 4 elements, from [0] on"},
		{"findings[oops].count>0", false, "has no element [oops]"},
		{"collectives[MPI_Bcast].count>0", false, "is empty"},
		{"efficiency.transfer_efficiency<1", false, "not defined"},
		{"messages<1", false, "it has count, latency_ns"},
		{"collectives<1", false, "a list, not a number"},
		{"nothing<1", false, "no top-level key nothing; it has call_sites"},
		{"top.deeper<1", false, "is not a block"},
		{"top[1]<1", false, "is not a list"},
		{"a=1", false, "want PATH"},
		{"a<b", false, "not a number"},
		{"a<NaN", false, "not a number"},
		{"a>-Inf", false, "not a number"},
		{"a[b<1", false, "not closed"},
		{"a..b<1", false, "a key is missing"},
		{".a<1", false, "a key is missing"},
		{"a[b]c<1", false, "want .KEY"},
	} {
		condition, err := Parse(c.condition)
		holds := false
		if err == nil {
			holds, _, err = condition.Holds(tree)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want one with %q", c.condition, err, c.err)
			}
			continue
		}
		if err != nil || holds != c.fails {
			t.Errorf("%s: holds %v, error %v, want %v", c.condition, holds, err, c.fails)
		}
	}
}
