package jsontrace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tracekit/readers/jsontrace"
	"tracekit/trace"
)

// TestBatchedMessages states that a kernel which PyTorch launches for several messages has those for which its thread has called before,
// and that a message with a kernel of its own is not among them.
func TestBatchedMessages(t *testing.T) {
	const file = `{"schemaVersion":1,"distributedInfo":{"backend":"nccl","rank":%d,"world_size":2},"baseTimeNanoseconds":0,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":5,"dur":4,"args":{"Collective name":"send","In msg nelems":8,"Out msg nelems":8,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Dst Rank":%[2]d}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":10,"dur":2,"args":{"Collective name":"send","In msg nelems":100,"Out msg nelems":100,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Dst Rank":%[2]d}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":13,"dur":2,"args":{"Collective name":"recv","In msg nelems":100,"Out msg nelems":100,"dtype":"Float","Group size":2,"Process Group Name":"0","Process Group Ranks":"[0, 1]","Src Rank":%[2]d}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":1,"tid":1,"ts":6,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":1,"tid":1,"ts":17,"dur":1,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","pid":1,"tid":1,"ts":20,"dur":1,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":20,"ts":30,"dur":10,"args":{"correlation":2,"stream":20}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)","pid":0,"tid":20,"ts":50,"dur":10,"args":{"correlation":3,"stream":20}}
]}`
	dir := t.TempDir()
	for r := range 2 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("rank%d.json", r)), fmt.Appendf(nil, file, r, 1-r), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	src, err := jsontrace.Open(context.Background(), []string{filepath.Join(dir, "rank0.json"), filepath.Join(dir, "rank1.json")},
		jsontrace.Options{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	sends, receives, together := 0, 0, 0
	for l := range src.Defs().Locations {
		events := uint64(0)
		for b, err := range src.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			events += uint64(b.Len())
			together += len(b.Coll.Kind)
			for i, k := range b.P2P.Kind {
				if b.P2P.Bytes[i] != 400 {
					t.Errorf("a message of %d bytes", b.P2P.Bytes[i])
				}
				switch begin := src.Defs().Clock.GlobalOffset; {
				case k == trace.KindMpiSend && b.P2P.Time[i]-begin == 25000:
					sends++
				case k == trace.KindMpiRecv && b.P2P.Time[i]-begin == 35000:
					receives++
				default:
					t.Errorf("%v at %d", k, b.P2P.Time[i]-begin)
				}
			}
		}
		if want := src.Defs().Locations[l].Events; events != want {
			t.Errorf("location %d has %d events, %d are announced", l, events, want)
		}
	}
	if sends != 2 || receives != 2 || together != 4 { // the last kernel's messages are not recorded
		t.Errorf("%d sends, %d receives, %d events of collectives", sends, receives, together)
	}
}
