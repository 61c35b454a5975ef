package trace_test

import (
	"testing"

	"tracekit/trace"
)

func TestDeviceWaits(t *testing.T) {
	for name, want := range map[string]bool{
		"cudaDeviceSynchronize": true, "cudaStreamSynchronize": true, "cudaEventSynchronize": true,
		"cudaStreamSynchronize_ptsz": true, "cuCtxSynchronize": true, "cuStreamSynchronize_v2": true,
		"hipDeviceSynchronize": true, "hipEventSynchronize": true, "hipStreamSynchronize_spt": true,
		"cudaMemcpy": true, "hipMemcpy": true, "hipMemcpyWithStream": true, "hipMemcpyDtoH": true,
		"cuMemcpyDtoH_v2": true, "cudaMemcpyToSymbol": true, "clFinish": true, "hsa_signal_wait_scacquire": true,

		"cudaMemcpyAsync": false, "hipMemcpyDtoHAsync": false, "cuMemcpyHtoDAsync_v2": false, "cudaLaunchKernel": false,
		"cudaStreamWaitEvent": false, "cudaEventQuery": false, "hipMemsetAsync": false, "cudaMalloc": false,
		"Synchronize": false, "MPI_Barrier": false, "curlSynchronize": false,
	} {
		d := &trace.Defs{Strings: []string{name}, Regions: []trace.Region{{Name: 0}}}
		if got := d.DeviceWaits()[0]; got != want {
			t.Errorf("%s waits only for an accelerator: got %t, want %t", name, got, want)
		}
	}
}

func TestSleeps(t *testing.T) {
	for name, want := range map[string]bool{
		"usleep": true, "nanosleep": true, "pthread_cond_timedwait": true, "pthread_join": true, "poll": true, "epoll_wait": true,
		"sem_wait":                true,
		"threading.py(359): wait": true, "/usr/lib/python3.10/threading.py(1116): _wait_for_tstate_lock": true, "queue.py(171): get": true,
		"<built-in method acquire of _thread.lock object>": true, "<built-in function sleep>": true, "time.sleep": true,
		"multiprocessing/connection.py(917): wait": true,
		"_thread.lock.acquire":                     true, "_multiprocessing.SemLock.acquire": true,
		"select.poll.poll": true, "select.select": true,

		"sleep_study": false, "torch/distributed/distributed_c10d.py(2): wait": false, "poll_results": false, "_thread.lock.release": false,
		"MPI_Wait":                             false,
		"my/queue.py: get":                     false,
		"threading.py(1075): _bootstrap_inner": false, "select_action": false,
	} {
		d := &trace.Defs{Strings: []string{name}, Regions: []trace.Region{{Name: 0}}}
		if got := d.Sleeps()[0]; got != want {
			t.Errorf("%s sleeps or waits: got %t, want %t", name, got, want)
		}
	}
}

func TestLoadsData(t *testing.T) {
	for name, want := range map[string]bool{
		"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__":   true,
		"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__": true,
		"torch/utils/data/dataloader.py(630): __next__":                 true, "IteratorGetNext": true,

		"torch/utils/data/dataloader.py(12): __init__": false, "MyDataLoader": false, "aten::copy_": false,
	} {
		d := &trace.Defs{Strings: []string{name}, Regions: []trace.Region{{Name: 0}}}
		if got := d.LoadsData()[0]; got != want {
			t.Errorf("%s loads data: got %t, want %t", name, got, want)
		}
	}
}

func TestDeviceWorks(t *testing.T) {
	for _, c := range []struct {
		name     string
		role     trace.RegionRole
		paradigm trace.Paradigm
		want     trace.DeviceWork
	}{
		{"gemm", trace.RoleKernel, trace.ParadigmCUDA, trace.DeviceCompute},
		{"Memset (Device)", trace.RoleKernel, trace.ParadigmCUDA, trace.DeviceCompute},
		{"heavy(float*)", 0, trace.ParadigmHIP, trace.DeviceCompute},
		{"memcpy_kernel", trace.RoleKernel, trace.ParadigmHIP, trace.DeviceCompute},
		{"ncclDevKernel_Generic(x)", trace.RoleKernel, trace.ParadigmCUDA, trace.DeviceCommunication},
		{"hcom_allReduce_", 0, trace.ParadigmUnknown, trace.DeviceCommunication},
		{"any", trace.RoleKernel, trace.ParadigmMPI, trace.DeviceCommunication},
		{"Memcpy HtoD (Pinned -> Device)", trace.RoleDataTransfer, trace.ParadigmCUDA, trace.DeviceMemory},
		{"CopyHostToDevice", trace.RoleFunction, trace.ParadigmUser, trace.DeviceMemory},
		{"ProfilerStep#3", trace.RoleArtificial, trace.ParadigmUser, trace.DeviceIdle},
		{"ProfilerStep#3", trace.RoleFunction, trace.ParadigmCUDA, trace.DeviceIdle},
		{"Stream Sync", trace.RoleThreadWait, trace.ParadigmCUDA, trace.DeviceIdle},
	} {
		d := &trace.Defs{Strings: []string{c.name}, Regions: []trace.Region{{Role: c.role, Paradigm: c.paradigm}}}
		if got := d.DeviceWorks()[0]; got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// TestPeerOperators states which operators of hosts communicate without a library; kernels of such names are launched by others.
func TestPeerOperators(t *testing.T) {
	const none = -1
	for name, want := range map[string]int{
		"_C::shm_allreduce": int(trace.CollAllreduce), "_C::shm_all_gather": int(trace.CollAllgather),
		"sgl_kernel::shm_allgather": int(trace.CollAllgather), "_C::shm_gather": none, "symm_mem::nvshmem_all_reduce": none,
		"symm_mem::one_shot_all_reduce": none, "vllm::all_reduce": none,
	} {
		got, ok := trace.PeerOperator(name)
		if ok != (want != none) || ok && int(got) != want {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}

// TestWorkerDimension states in which dimension workers differ by the names of their processes.
func TestWorkerDimension(t *testing.T) {
	for _, c := range []struct {
		want      string
		processes []string
	}{
		{"TP", []string{"VLLM::Worker_TP0", "VLLM::Worker_TP1"}},
		{"TP", []string{"VLLM::Worker_DP0_PP1_TP0_EP0", "VLLM::Worker_DP0_PP1_TP1_EP1"}},
		{"PP", []string{"sglang::scheduler_PP0_TP3", "sglang::scheduler_PP1_TP3"}},
		{"DP", []string{"sglang::scheduler_DP0_TP0_MOE_DP0", "sglang::scheduler_DP1_TP0_MOE_DP0"}},
		{"", []string{"VLLM::Worker_PP0_TP0", "VLLM::Worker_PP1_TP1"}},
		{"", []string{"VLLM::Worker_TP0", "VLLM::Worker_TP1", "VLLM::Worker_TP1"}},
		{"", []string{"VLLM::Worker_TP0", "python"}},
		{"", []string{"python", "python"}},
		{"", []string{"STEP_TP", "STOP_TP"}},
	} {
		if got := trace.WorkerDimension(c.processes); got != c.want {
			t.Errorf("%q: %q, want %q", c.processes, got, c.want)
		}
	}
}

// TestPeerKernels states which kernels communicate without a library, by the names that several programs give them.
func TestPeerKernels(t *testing.T) {
	const none = -1
	for name, want := range map[string]int{
		"void vllm::cross_device_reduce_1stage<__half, 4>(vllm::RankData*, vllm::RankSignals, int)":              int(trace.CollAllreduce),
		"void tensorrt_llm::kernels::twoShotAllReduceKernel<__nv_bfloat16, 8, true>(AllReduceParams)":            int(trace.CollAllreduce),
		"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(int)1, __half>(int)": int(trace.CollAllreduce),
		"void (anonymous namespace)::multimem_all_gather_kernel<16>(char*, char*)":                               int(trace.CollAllgather),
		"two_shot_all_reduce_kernel": int(trace.CollAllreduce),
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float>>>()": none,
		"void block_all_reduce_sum<256, multimem>(float*)":                                                         none,
		"gemm": none,
	} {
		got, ok := trace.PeerKernel(name)
		if ok != (want != none) || ok && int(got) != want {
			t.Errorf("%s: %v, %v", name, got, ok)
		}
	}
}
