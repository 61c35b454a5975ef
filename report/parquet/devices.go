package parquet

import (
	"slices"

	"tracekit/document/accelerator"
	"tracekit/readers/arrowdir"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// deviceTables returns the tables of what accelerators do; none where there are no accelerators.
func deviceTables(a *analysis.Result) []arrowdir.Table {
	if len(a.Devices) == 0 {
		return nil
	}
	devices, streams, kernels, kinds, calls := newNameList(), newNameList(), newNameList(), newNameList(), newNameList()
	for _, d := range a.Devices {
		devices.of(d.Device)
		for _, s := range d.Streams {
			streams.of(s.Stream)
		}
		for _, k := range d.Kernels {
			kernels.of(k.Name)
			kinds.of(k.Kind)
			for _, s := range k.LaunchedFrom {
				calls.of(string(s.Operator))
				calls.of(string(s.Call))
			}
		}
	}
	named := func(column string, l *nameList) arrowdir.TableColumn {
		return arrowdir.TableColumn{Name: column, Names: l.names}
	}
	times := integers("span_ns", "busy_ns", "compute_ns", "communication_ns", "exposed_communication_ns", "memory_ns", "exposed_memory_ns", "idle_ns")
	fill := func(r *arrowdir.Rows, d *accelerator.Times) {
		for _, ns := range []int64{d.SpanNs, d.BusyNs, d.ComputeNs, d.CommunicationNs, d.ExposedCommunicationNs, d.MemoryNs, d.ExposedMemoryNs, d.IdleNs} {
			r.Int(ns)
		}
	}
	delays := []string{"delay_min_ns", "delay_p50_ns", "delay_mean_ns", "delay_p90_ns", "delay_p99_ns", "delay_max_ns"}
	whole := arrowdir.Table{Name: "devices", Columns: slices.Concat([]arrowdir.TableColumn{{Name: "rank"}, named("device", devices)}, times,
		integers("host_bound_ns", "kernel_gaps_ns", "unknown_ns", "collective_wait_ns", "start_ns"), integers(delays...)),
		Fill: func(r *arrowdir.Rows) {
			for i := range a.Devices {
				d := &a.Devices[i]
				fill(r.ID(uint32(d.Rank)).Name(devices.of(d.Device)), &d.Times)
				c := d.IdleCauses
				r.Int(c.HostBoundNs).Int(c.KernelGapsNs).Int(c.UnknownNs).Int(c.CollectiveWaitNs).Int(d.StartNs)
				if l := d.Launches; l != nil && l.Delay != nil {
					t := l.Delay
					r.Int(t.MinNs).Int(t.P50Ns).Int(t.MeanNs).Int(t.P90Ns).Int(t.P99Ns).Int(t.MaxNs)
				} else {
					for range delays {
						r.Missing()
					}
				}
				if !r.End() {
					return
				}
			}
		}}
	parts := arrowdir.Table{Name: "streams", Columns: slices.Concat([]arrowdir.TableColumn{{Name: "rank"}, named("device", devices), named("stream", streams)}, integers("count"), times),
		Fill: func(r *arrowdir.Rows) {
			for i := range a.Devices {
				d := &a.Devices[i]
				for j := range d.Streams {
					s := &d.Streams[j]
					fill(r.ID(uint32(d.Rank)).Name(devices.of(d.Device)).Name(streams.of(s.Stream)).Int(int64(s.Count)), &s.Times)
					if !r.End() {
						return
					}
				}
			}
		}}
	single := arrowdir.Table{Name: "kernels", Columns: append([]arrowdir.TableColumn{{Name: "rank"}, named("device", devices), named("kernel", kernels),
		named("kind", kinds), named("operator", calls), named("call", calls)}, integers("count", "time_ns")...),
		Fill: func(r *arrowdir.Rows) {
			row := func(d *accelerator.Device, k *accelerator.Kernel, operator, call uint32, count uint64, ns int64) bool {
				r.ID(uint32(d.Rank)).Name(devices.of(d.Device)).Name(kernels.of(k.Name)).Name(kinds.of(k.Kind)).Name(operator).Name(call)
				return r.Int(int64(count)).Int(ns).End()
			}
			for i := range a.Devices {
				d := &a.Devices[i]
				for j := range d.Kernels {
					k := &d.Kernels[j]
					count, ns := k.Count, k.TimeNs // of those whose launch is not recorded
					for _, s := range k.LaunchedFrom {
						if !row(d, k, calls.of(string(s.Operator)), calls.of(string(s.Call)), s.Count, s.TimeNs) {
							return
						}
						count, ns = count-s.Count, ns-s.TimeNs
					}
					if count > 0 && !row(d, k, trace.None, trace.None, count, ns) {
						return
					}
				}
			}
		}}
	return []arrowdir.Table{whole, parts, single}
}
