package spill

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestDefaultBudget states the quarter of what a process may use on several systems.
func TestDefaultBudget(t *testing.T) {
	const gib = 1 << 30
	meminfo := "MemTotal:       16777216 kB\nMemFree:         1234 kB\n" // 16 GiB
	for name, c := range map[string]struct {
		files        map[string]string
		addressSpace int64
		want         int64
	}{
		"nothing known": {nil, math.MaxInt64, LeastBudget},
		"machine":       {map[string]string{"proc/meminfo": meminfo}, math.MaxInt64, 4 * gib},
		"small machine": {map[string]string{"proc/meminfo": "MemTotal: 500000 kB\n"}, math.MaxInt64, LeastBudget},
		"nonsense": {map[string]string{"proc/meminfo": "MemTotal: -5 kB\n", "proc/self/cgroup": "0\n::\n"}, math.MaxInt64,
			LeastBudget},
		"address space":   {map[string]string{"proc/meminfo": meminfo}, 2 * gib, gib / 2},
		"address space 0": {nil, 0, LeastBudget},
		"version 2, own group": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/job\n",
			"sys/fs/cgroup/user/job/memory.max": "8589934592\n", "sys/fs/cgroup/user/memory.max": "max\n"}, math.MaxInt64, 2 * gib},
		"version 2, a group above": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/job/step\n",
			"sys/fs/cgroup/user/job/step/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "4294967296\n"}, math.MaxInt64, gib},
		"version 2, container": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "4294967296\n"}, math.MaxInt64, gib},
		"version 1": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "7:cpu,cpuacct:/a\n5:hugetlb,memory:/slurm/job\n1:name=systemd:/b\n",
			"sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes": "4294967296\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":           "9223372036854771712\n"},
			math.MaxInt64, gib},
		"version 1, container of another name": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "5:memory:/docker/0123\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "4294967296\n"}, math.MaxInt64, gib},
		"more than the machine has": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "9223372036854771712\n"}, math.MaxInt64, 4 * gib},
	} {
		root := fstest.MapFS{}
		for path, text := range c.files {
			root[path] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := defaultBudget(root, c.addressSpace); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
	if got := DefaultBudget(); got < LeastBudget {
		t.Errorf("here: %d bytes, want at least %d", got, LeastBudget)
	}
}
