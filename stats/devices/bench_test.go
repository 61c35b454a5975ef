package devices_test

import (
	"fmt"
	"testing"

	"tracekit/merge"
	"tracekit/stats/devices"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// planted returns a trace of one device with n kernels on some streams, launched one after the
// other from a thread; kernel i begins at 100·i + 50 and takes 60, those of different streams overlap.
func planted(n, streams int) *trace.MemorySource {
	d := &trace.Defs{Strings: []string{"", "host", "device", "op", "launch", "kernel", trace.AttributeCorrelation},
		Clock:          trace.ClockProperties{Resolution: 1e9},
		LocationGroups: []trace.LocationGroup{{Name: 1, Kind: 1, Node: trace.None, Creator: trace.None}, {Name: 2, Kind: 2, Node: trace.None}},
		Locations:      []trace.Location{{Name: 1, Kind: trace.LocationCPUThread}},
		Regions: []trace.Region{{Name: 3, Paradigm: trace.ParadigmUser}, {Name: 4, Paradigm: trace.ParadigmCUDA},
			{Name: 5, Paradigm: trace.ParadigmCUDA, Role: trace.RoleKernel}},
		Attributes: []trace.Attribute{{Name: 6, Type: trace.TypeUint64}}}
	src := &trace.MemorySource{Definitions: d}
	batches := make([][]*trace.Batch, streams+1)
	room := func(l int) *trace.Batch {
		if k := len(batches[l]); k > 0 && batches[l][k-1].Len() < 4096 {
			return batches[l][k-1]
		}
		b, first := new(trace.Batch), uint64(0)
		if k := len(batches[l]); k > 0 {
			first = batches[l][k-1].First + uint64(batches[l][k-1].Len())
		}
		b.Reset(trace.LocationID(l), first)
		batches[l] = append(batches[l], b)
		return b
	}
	for s := range streams {
		d.Strings = append(d.Strings, fmt.Sprint("stream ", s))
		d.Locations = append(d.Locations, trace.Location{Name: trace.StringID(len(d.Strings) - 1), Kind: trace.LocationGPU, Group: 1})
	}
	for i := range n {
		at := int64(100 * i)
		room(0).AddFlow(at, trace.KindEnter, 0)
		b := room(0)
		b.AddAttr(0, trace.TypeUint64, uint64(i+1))
		b.AddFlow(at+10, trace.KindEnter, 1)
		room(0).AddFlow(at+20, trace.KindLeave, 1)
		room(0).AddFlow(at+30, trace.KindLeave, 0)
		b = room(1 + i%streams)
		b.AddAttr(0, trace.TypeUint64, uint64(i+1))
		b.AddFlow(at+50, trace.KindEnter, 2)
		room(1+i%streams).AddFlow(at+110, trace.KindLeave, 2)
	}
	src.Batches = batches
	return src
}

func BenchmarkFinder(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		for _, streams := range []int{1, 16} {
			b.Run(fmt.Sprintf("kernels=%d/streams=%d", n, streams), func(b *testing.B) {
				src := planted(n, streams)
				t := statstest.Merged(b, src, merge.Options{Clock: merge.ClockNone})
				from, to, _ := scope.Window(t, scope.Selection{})
				for b.Loop() {
					f := devices.NewFinder(t, devices.Options{Jobs: 1, From: from, To: to})
					for l, batches := range src.Batches {
						hear, _ := f.Listen(nil, trace.LocationID(l))
						for _, x := range batches {
							hear(x)
						}
					}
					if _, err := f.Finish(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/kernel")
			})
		}
	}
}
