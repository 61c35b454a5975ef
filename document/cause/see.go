package cause

import (
	"strconv"
	"strings"
)

// See returns the arguments of the command that digs deeper into a cause, without the trace; nil if none does. Replays need the
// whole run.
func (c *Cause) See(wholeRun bool) []string {
	place := c.Written(string(c.Operation))
	replay := func(change ...string) []string {
		if !wholeRun || c.GainNs == nil || len(change) == 2 && (place == "" || strings.HasPrefix(place, "(")) { // "(outside any region)"
			return nil
		}
		return append([]string{"whatif"}, change...)
	}
	has := func(key string) bool { _, ok := c.Evidence[key]; return ok }
	switch c.Kind {
	case ThreadIdle:
		return []string{"analyze", "--section", "threads"}
	case DataLoading, DeviceIdle:
		if has("loading_ns") {
			return []string{"analyze", "--section", "profile"}
		}
		return []string{"analyze", "--section", "devices"}
	case Imbalance, LateSender, LateReceiver, Serialization:
		switch {
		case has("step_gain_ns"):
			return []string{"stragglers"}
		case has("waits"): // of threads
			return []string{"analyze", "--section", "threads"}
		case has("collective_wait_ns") || has("some_device_ns") || has("device_work_ns"):
			return []string{"analyze", "--section", "devices"}
		}
		return replay("--balance", place)
	case SlowCalls:
		if place == "" {
			return []string{"analyze", "--section", "lines"}
		}
		return replay("--cap", place)
	case Transfer:
		if has("exposed_ns") {
			return []string{"analyze", "--section", "devices"}
		}
		return []string{"analyze", "--section", "messages,collectives"}
	case SlowPhases:
		return []string{"analyze", "--phase", strconv.Itoa(int(c.Evidence["first_phase"]))}
	case WrongOrder:
		return replay("--order", place)
	case Inefficient:
		return replay("--gains")
	}
	return nil
}
