package spill

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// LeastBudget is what DefaultBudget returns at least.
const LeastBudget = 192 << 20

// DefaultBudget returns the bytes that the tables of a process should take if nobody says
// how many: a quarter of what the process may use, but not less than LeastBudget. The
// process may use the memory of the machine, and no more than its control groups and its
// limit of address space allow.
func DefaultBudget() int64 { return ownBudget() }

var ownBudget = sync.OnceValue(func() int64 { return defaultBudget(os.DirFS("/"), addressSpace()) })

func defaultBudget(root fs.FS, limit int64) int64 {
	limit = min(limit, physicalMemory(root), groupLimit(root))
	if limit == math.MaxInt64 { // of all this the system tells nothing
		return LeastBudget
	}
	return max(limit/4, LeastBudget)
}

// physicalMemory reads the size of the machine's memory (proc_meminfo(5)).
func physicalMemory(root fs.FS) int64 {
	text, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(text)) {
		if size, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			if n := number(strings.TrimSuffix(strings.TrimSpace(size), " kB")); n < math.MaxInt64>>10 {
				return n << 10
			}
		}
	}
	return math.MaxInt64
}

// groupLimit returns the least limit of the control groups that the process is in
// (cgroups(7)). Each lies below another one, whose limit holds too. In a container the
// names may be those outside, where nothing lies; but the root of what is seen there is the
// container's own group.
func groupLimit(root fs.FS) int64 {
	least := int64(math.MaxInt64)
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy, controllers, path
		if len(fields) < 3 {
			continue
		}
		top, file := "sys/fs/cgroup", "memory.max"
		switch {
		case fields[1] == "":
		case strings.Contains(","+fields[1]+",", ",memory,"): // version 1
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			limit, err := fs.ReadFile(root, path.Join(top, group, file))
			if err == nil {
				least = min(least, number(strings.TrimSpace(string(limit))))
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// number reads a number of bytes; what is none, such as "max", is no limit.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return math.MaxInt64
	}
	return n
}
