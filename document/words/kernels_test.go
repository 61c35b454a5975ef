package words

import (
	"strings"
	"testing"
)

func TestKernels(t *testing.T) {
	for _, c := range []struct{ name, short, class string }{
		{"void at::native::vectorized_elementwise_kernel<4, at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}, " +
			"at::detail::Array<char*, 2> >(int, X)", "vectorized_elementwise<sqrt>", "elementwise"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)",
			"vectorized_elementwise<add>", "elementwise"},
		{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BUnaryFunctor<float, float, float, " +
			"at::native::MulFunctor<float> > > >(int)", "elementwise<mul>", "elementwise"},
		{"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float> " +
			"> > >(X)", "reduce<sum>", "reduction"},
		{"ampere_sgemm_128x64_nn", "ampere_sgemm_128x64", "GEMM"},
		{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x3_nt_align4>(cutlass_80_tensorop_s1688gemm::Params)",
			"cutlass_80_tensorop_s1688gemm_128x256_16x3", "GEMM"},
		{"Cijk_Ailk_Bljk_HHS_BH_MT128x64x16_MI32x32x8x1_SN_1LDSB0", "Cijk_Ailk_Bljk_HHS_MT128x64x16", "GEMM"},
		{"void fbgemm_gpu::permute_2D_lengths_kernel<int>(int)", "permute_2D_lengths", "elementwise"},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "communication"},
		{"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128> >(X)", "flash_fwd", "attention"},
		{"void cudnn::bn_fw_tr_1C11_singleread<float, 512>(X)", "bn_fw_tr_1C11_singleread", "normalization"},
		{"volta_scudnn_128x64_relu_medium_nn_v1", "volta_scudnn_128x64_relu_medium", "convolution"},
		{"Memset (Device)", "Memset (Device)", "elementwise"},
		{"__amd_rocclr_fillBufferAligned.kd", "__amd_rocclr_fillBufferAligned.kd", "elementwise"},
		{"__amd_rocclr_copyBuffer.kd", "__amd_rocclr_copyBuffer.kd", "elementwise"}, // computes, as PyTorch's copy kernels do
		{"smooth(double*, int)", "smooth", "other"},
		{"smooth", "smooth", "other"},
		{"dot", "dot", "GEMM"}, {"dot_general.3", "dot_general.3", "GEMM"}, {"dots", "dots", "other"},
		{"wrapped_tanh", "wrapped_tanh", "elementwise"}, {"wrapped_reduce", "wrapped_reduce", "reduction"},
		{strings.Repeat("Kernel<", 1000), "Kernel<Kernel<Kernel<Kernel<Kernel<Kernel<Kerne…", "other"}, // no end of kernels
		{"", "", "other"},
		{"<", "<", "other"},
		{"(anonymous namespace)::", "(anonymous namespace)::", "other"},
	} {
		if short, class := KernelName(c.name), KernelClass("compute", c.name); short != c.short || class != c.class {
			t.Errorf("%.60s: %q, %s; want %q, %s", c.name, short, class, c.short, c.class)
		}
	}
	for kind, want := range map[string]string{"memory": "copy", "communication": "communication"} {
		if class := KernelClass(kind, "Memcpy HtoD (Pageable -> Device)"); class != want {
			t.Errorf("%s: %s, want %s", kind, class, want)
		}
	}
}
