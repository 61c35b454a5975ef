package nest_test

import (
	"testing"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// TestKernels states which kernels communicate, by the names that versions of NCCL give them.
func TestKernels(t *testing.T) {
	for name, want := range map[string]nest.Operation{
		"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)": nest.Collective(trace.CollAllreduce),
		"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": nest.Collective(trace.CollReduceScatterBlock),
		"ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)":                nest.Collective(trace.CollAllreduce),
		"ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs4K)":                          nest.Collective(trace.CollAllgather),
		"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)":                      nest.OpUnnamed,
		"gemm": nest.OpNone,
	} {
		if got := nest.KernelOperation(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
