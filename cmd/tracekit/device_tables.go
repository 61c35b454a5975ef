package main

import (
	"tracekit/readers/arrowdir"
	"tracekit/stats"
	"tracekit/trace"
)

// deviceTables returns the tables of what accelerators do; none where there are no accelerators.
func deviceTables(a *stats.Analysis) []arrowdir.Table {
	if len(a.Devices) == 0 {
		return nil
	}
	devices, kernels, kinds, calls := newNameList(), newNameList(), newNameList(), newNameList()
	for _, d := range a.Devices {
		devices.of(d.Device)
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
	whole := arrowdir.Table{Name: "devices", Columns: append([]arrowdir.TableColumn{{Name: "rank"}, named("device", devices)},
		integers("span_ns", "busy_ns", "compute_ns", "communication_ns", "exposed_communication_ns", "memory_ns", "exposed_memory_ns", "idle_ns",
			"host_bound_ns", "kernel_gaps_ns", "unknown_ns", "collective_wait_ns")...),
		Fill: func(r *arrowdir.Rows) {
			for _, d := range a.Devices {
				c := d.IdleCauses
				r.ID(uint32(d.Rank)).Name(devices.of(d.Device))
				for _, ns := range []int64{d.SpanNs, d.BusyNs, d.ComputeNs, d.CommunicationNs, d.ExposedCommunicationNs, d.MemoryNs, d.ExposedMemoryNs, d.IdleNs,
					c.HostBoundNs, c.KernelGapsNs, c.UnknownNs, c.CollectiveWaitNs} {
					r.Int(ns)
				}
				if !r.End() {
					return
				}
			}
		}}
	single := arrowdir.Table{Name: "kernels", Columns: append([]arrowdir.TableColumn{{Name: "rank"}, named("device", devices), named("kernel", kernels),
		named("kind", kinds), named("operator", calls), named("call", calls)}, integers("count", "time_ns")...),
		Fill: func(r *arrowdir.Rows) {
			row := func(d *stats.Device, k *stats.DeviceKernel, operator, call uint32, count uint64, ns int64) bool {
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
	return []arrowdir.Table{whole, single}
}
