package parquet

import (
	"tracekit/document/accelerator"
	"tracekit/readers/arrowdir"
	"tracekit/report"
	"tracekit/stats/analysis"
)

// A launchedKernel is what a device executes of a kernel that one call launches.
type launchedKernel struct {
	Name     string `json:"kernel"`
	Operator string `json:"operator"` // "", as the call: the launch is not recorded
	Call     string `json:"call"`
	Count    uint64 `json:"count"`
	TimeNs   int64  `json:"time_ns"`
}

// deviceTables returns the tables of what accelerators do, which have no rows where there are none.
func deviceTables(a *analysis.Result) []arrowdir.Table {
	times := []string{"span_ns", "busy_ns", "compute_ns", "communication_ns", "exposed_communication_ns", "memory_ns", "exposed_memory_ns",
		"idle_ns"}
	document := report.Row{&a.Analysis}
	var single []report.Row
	for _, row := range document.Below("devices[].kernels[]") {
		k := row[0].(*accelerator.Kernel)
		rest := launchedKernel{Name: k.Name, Count: k.Count, TimeNs: k.TimeNs} // of those whose launch is not recorded
		for _, s := range k.LaunchedFrom {
			single = append(single, append(report.Row{launchedKernel{k.Name, string(s.Operator), string(s.Call), s.Count, s.TimeNs}}, row...))
			rest.Count, rest.TimeNs = rest.Count-s.Count, rest.TimeNs-s.TimeNs
		}
		if rest.Count > 0 {
			single = append(single, append(report.Row{rest}, row...))
		}
	}
	return []arrowdir.Table{
		tableOf("devices", document.Below("devices[]"), []string{"rank", "device text"}, times, []string{
			"host_bound_ns=idle_causes.host_bound_ns", "kernel_gaps_ns=idle_causes.kernel_gaps_ns", "unknown_ns=idle_causes.unknown_ns",
			"collective_wait_ns=idle_causes.collective_wait_ns", "start_ns",
			"delay_min_ns=launches.delay_ns.min", "delay_p50_ns=launches.delay_ns.p50",
			"delay_mean_ns=launches.delay_ns.mean", "delay_p90_ns=launches.delay_ns.p90", "delay_p99_ns=launches.delay_ns.p99",
			"delay_max_ns=launches.delay_ns.max"}),
		tableOf("streams", document.Below("devices[].streams[]"), []string{"rank", "device text", "stream text", "count"}, times),
		tableOf("kernels", single, []string{"rank", "device text", "kernel text", "kind text", "operator text", "call text", "count", "time_ns"}),
	}
}
