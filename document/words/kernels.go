package words

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"tracekit/trace"
)

// kernelClasses says by its name what a kernel does, the first that fits: a part of the name in small letters, or what an
// expression finds, which is only tried where its hint is.
var kernelClasses = []struct {
	class string
	parts []string
	hint  string
	found func() *regexp.Regexp
}{
	{class: "communication", parts: strings.Fields("nccl rccl nvshmem allreduce all_reduce allgather all_gather reducescatter " +
		"reduce_scatter alltoall all_toall allto_all all_to_all")},
	{class: "attention", parts: strings.Fields("flash attention attn fmha"), hint: "mha", found: trace.Expression(`\bmha`)},
	{class: "convolution", parts: strings.Fields("convolve convolution dgrad wgrad fprop winograd im2col implicit_ fft1d fft2d igemm scudnn"),
		hint: "conv", found: trace.Expression(`conv(_|[0-9]|\b)`)},
	{class: "GEMM", parts: strings.Fields("gemm gemv cijk_ cutlass matmul xmma wmma splitk dot_kernel"),
		hint: "dot", found: trace.Expression(`^dot(_general)?(\.[0-9]+)?$`)}, // of XLA
	{class: "normalization", parts: []string{"norm"}, hint: "bn_", found: trace.Expression(`\bbn_|_bn_`)},
	{class: "reduction", parts: strings.Fields("reduce reduction softmax argmax argmin scan sort topk"),
		hint: "sum", found: trace.Expression(`(^|_)sum(_|$)`)},
	{class: "elementwise", parts: strings.Fields("elementwise triton_poi unrolled copy memcpy memset fill catarray index gather scatter " +
		"dropout embedding multi_tensor pool relu gelu silu transpose permute nchw2nhwc nchwtonhwc nhwctonchw"),
		hint: "wrapped_", found: trace.Expression(`^wrapped_`)}, // one operation of XLA
}

// KernelClass names what a device executes (DEFINITIONS 2.9). Kinds "communication" and "memory" are the classes communication and copy.
// What computes has a class as far as its name tells: GEMM, attention, convolution, normalization, reduction, elementwise (as is the
// setting of memory), communication; else it is other.
func KernelClass(kind, name string) string {
	switch kind {
	case trace.DeviceCommunication.String():
		return "communication"
	case trace.DeviceMemory.String():
		return "copy"
	}
	base, _ := kernelBase(name)
	base = strings.ToLower(base)
	for i := range kernelClasses {
		c := &kernelClasses[i]
		if slices.ContainsFunc(c.parts, func(part string) bool { return strings.Contains(base, part) }) ||
			c.found != nil && strings.Contains(base, c.hint) && c.found().MatchString(base) {
			return c.class
		}
	}
	return "other"
}

var (
	// functor is what a generic kernel does to each element: AddFunctor<…>, CUDAFunctor_add<…>, sqrt_kernel_cuda(…).
	functor   = trace.Expression(`CUDAFunctor(?:OnSelf)?_(\w+)|(\w+?)(?:_?[Ff]unctor\b|CUDAKernelImpl|_kernel(?:_cuda|_impl)?[<(])`)
	generic   = trace.Expression(`elementwise|unrolled|reduce_kernel|multi_tensor_apply`)
	wrapper   = trace.Expression(`(?i)^([ab]?unary|binary|binary_internal|gpu|gpu_kernel_impl_nocast)$`)
	layout    = trace.Expression(`_(nn|nt|tn|tt)(_.*)?$`)
	macroTile = trace.Expression(`^(Cijk_[^_]*_[^_]*_\w{2,4}?)_.*?MT(\d+x\d+(?:x\d+)?).*$`)
	suffix    = trace.Expression(`(?:_kernel|Kernel)(_manual_unroll)?$`)
)

// KernelName makes the name of a kernel readable: without types, parameters and namespaces, but with the operation of a generic
// kernel, vectorized_elementwise<sqrt>, and the tile of a library's, ampere_sgemm_128x64. The whole name stays what identifies it.
func KernelName(name string) string {
	base, arguments := kernelBase(name)
	if m := macroTile().FindStringSubmatch(base); m != nil {
		return m[1] + "_MT" + m[2]
	}
	short := suffix().ReplaceAllString(layout().ReplaceAllString(base, ""), "")
	if generic().MatchString(base) {
		for _, m := range functor().FindAllStringSubmatch(arguments, -1) {
			if op := strings.TrimSuffix(strings.Trim(m[1]+m[2], "_"), "_cuda"); op != "" && !wrapper().MatchString(op) {
				short += "<" + strings.ToLower(op) + ">"
				break
			}
		}
	}
	return shortened(cmp.Or(short, name))
}

// kernelBase returns the name of a kernel without its type and namespaces, and its parameters. What the recorder names itself, such as
// "Memcpy DtoH (Device -> Host)", stays whole. CUTLASS names all its kernels alike: theirs is that of their first parameter.
func kernelBase(name string) (base, arguments string) {
	if strings.HasPrefix(name, "Mem") {
		return name, ""
	}
	base, arguments = lastName(name)
	if inner := strings.TrimLeft(arguments, "<("); inner != "" && (base == "Kernel" || base == "Kernel2") {
		return lastName(inner)
	}
	return base, arguments
}

// lastName returns the last part of a name with namespaces, without the type before it, and the parameters behind it.
func lastName(name string) (base, arguments string) {
	name = strings.TrimPrefix(strings.ReplaceAll(name, "(anonymous namespace)::", ""), "void ")
	base = name
	if i := strings.IndexAny(name, "<("); i > 0 {
		base, arguments = name[:i], name[i:]
	}
	base = base[strings.LastIndexByte(base, ' ')+1:]
	if i := strings.LastIndex(base, "::"); i >= 0 {
		base = base[i+len("::"):]
	}
	return base, arguments
}

// shortened cuts the end of a name that no line has room for.
func shortened(name string) string {
	const most = 48
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}
