package palette

import (
	"math"
	"testing"

	"tracekit/document/waitstate"
	"tracekit/trace"
)

// A vision maps linear red, green, blue to what a kind of color vision makes of them (Machado, Oliveira, Fernandes 2009, severity 1).
type vision [3][3]float64

var visions = map[string]vision{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// linear returns the light of red, green and blue, 0 to 1.
func linear(c RGB) [3]float64 {
	of := func(v RGB) float64 {
		x := float64(v&0xFF) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return [3]float64{of(c >> 16), of(c >> 8), of(c)}
}

// oklab returns a color in OKLab (Ottosson 2020) as a vision sees it. Of its units 0.02 is what one just notices.
func oklab(c RGB, v vision) [3]float64 {
	in := linear(c)
	var s [3]float64
	for i := range s {
		for k := range in {
			s[i] += v[i][k] * in[k]
		}
		s[i] = min(max(s[i], 0), 1)
	}
	l := math.Cbrt(0.4122214708*s[0] + 0.5363325363*s[1] + 0.0514459929*s[2])
	m := math.Cbrt(0.2119034982*s[0] + 0.6806995451*s[1] + 0.1073969566*s[2])
	n := math.Cbrt(0.0883024619*s[0] + 0.2817188376*s[1] + 0.6299787005*s[2])
	return [3]float64{0.2104542553*l + 0.7936177850*m - 0.0040720468*n, 1.9779984951*l - 2.4285922050*m + 0.4505937099*n,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*n}
}

func distance(a, b RGB, v vision) float64 {
	x, y := oklab(a, v), oklab(b, v)
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// contrast is that of WCAG 2.1.
func contrast(a, b RGB) float64 {
	luminance := func(c RGB) float64 {
		x := linear(c)
		return 0.2126*x[0] + 0.7152*x[1] + 0.0722*x[2]
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// meet reports whether rows or legends can have both classes side by side.
func meet(a, b Class) bool {
	everywhere := func(c Class) bool { return c == Computing || c == Waiting }
	onDevices := func(c Class) bool { return c >= GEMM } // on streams only
	return a != b && (everywhere(a) || everywhere(b) || onDevices(a) == onDevices(b))
}

// themes are the shades of a class, and the grounds that they lie on: that of the bars and that of the page.
var themes = map[string]struct {
	shades  func(Look) []RGB
	grounds []RGB
}{
	"light": {func(l Look) []RGB { return l.Light }, []RGB{0xEEF0F3, 0xE6E9ED, 0xFFFFFF}},
	"dark":  {func(l Look) []RGB { return l.Dark }, []RGB{0x262D35, 0x14181D}},
}

// TestDistinct states the rules of the package comment.
func TestDistinct(t *testing.T) {
	const apart, margin, shades, against = 0.085, 0.015, 0.03, 3.0
	for theme, of := range themes {
		for a := range Classes {
			list := of.shades(a.Look())
			for i, x := range list {
				for _, ground := range of.grounds {
					least := against
					if a == Waiting && theme == "light" {
						least = 2
					}
					if got := contrast(x, ground); got < least {
						t.Errorf("%s, %v: %v has a contrast of %.2f with %v", theme, a, x, got, ground)
					}
				}
				for _, y := range list[:i] {
					if got := distance(x, y, visions["normal"]); got < shades {
						t.Errorf("%s, %v: shades %v and %v are only %.3f apart", theme, a, x, y, got)
					}
				}
				for b := range Classes {
					if !meet(a, b) {
						continue
					}
					other := of.shades(b.Look())[0]
					for name, v := range visions {
						own, far := distance(x, list[0], v), distance(x, other, v)
						if i == 0 && far < apart {
							t.Errorf("%s, %s: %v and %v are only %.3f apart", theme, name, a, b, far)
						}
						if far < own+margin {
							t.Errorf("%s, %s: %v, a shade of %v, is %.3f from it and %.3f from %v", theme, name, x, a, own, far, b)
						}
					}
				}
			}
		}
	}
}

// TestTable: each class has a name of its own, and as many shades in the dark.
func TestTable(t *testing.T) {
	keys := map[string]bool{}
	for _, r := range Table() {
		if r.Key == "" || r.Title == "" || keys[r.Key] || len(r.Light) == 0 || len(r.Light) != len(r.Dark) {
			t.Errorf("%+v", r)
		}
		keys[r.Key] = true
	}
	if got := RGB(0x0102ff).String(); got != "#0102ff" {
		t.Error(got)
	}
	if r, g, b, a := RGB(0x0102ff).RGBA(); r != 0x101 || g != 0x202 || b != 0xffff || a != 0xffff {
		t.Error(r, g, b, a)
	}
}

// TestShade: a name has one shade, whatever its number; kinds of wait states have all.
func TestShade(t *testing.T) {
	if Computing.Shade("ProfilerStep#1") != Computing.Shade("ProfilerStep#27") {
		t.Error("steps differ")
	}
	for a, b := range map[string]string{"MPI_Send": "MPI_Recv", "MPI_Irecv": "MPI_Waitall", "mpi_isend_": "MPI_Wait"} {
		if PointToPoint.Shade(a) == PointToPoint.Shade(b) {
			t.Errorf("%s and %s share a shade", a, b)
		}
	}
	for a, b := range map[string]string{"MPI_Allreduce": "MPI_Barrier", "MPI_Bcast": "MPI_Reduce", "MPI_Ialltoall": "MPI_Scatter"} {
		if Collective.Shade(a) == Collective.Shade(b) {
			t.Errorf("%s and %s share a shade", a, b)
		}
	}
	seen := map[int]bool{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "relax", "solve", "main", "exchange", "x_solve", "y_solve"} {
		seen[Computing.Shade(name)] = true
	}
	if len(seen) < 6 {
		t.Errorf("14 names have %d shades", len(seen))
	}
	for k := range waitstate.Kinds {
		if i := WaitShade(k); i < 0 || i >= len(Waiting.Look().Light) {
			t.Errorf("%v has shade %d", k, i)
		}
	}
}

// TestOf states the classes of regions by hand.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		name         string
		role         trace.RegionRole
		paradigm     trace.Paradigm
		host, device Class
	}{
		{"relax", trace.RoleFunction, trace.ParadigmUser, Computing, Kernel},
		{"x", trace.RoleUnknown, trace.ParadigmUnknown, Computing, Kernel},
		{"MPI_Waitall", trace.RoleFunction, trace.ParadigmMPI, PointToPoint, Communication},
		{"mpi_isend_", trace.RoleFunction, trace.ParadigmUser, PointToPoint, Kernel},
		{"MPI_Ibarrier", trace.RoleBarrier, trace.ParadigmMPI, Collective, Communication},
		{"MPI_Neighbor_alltoall", trace.RoleUnknown, trace.ParadigmMPI, Collective, Communication},
		{"MPI_Win_fence", trace.RoleUnknown, trace.ParadigmMPI, OneSided, Communication},
		{"MPI_Get", trace.RoleUnknown, trace.ParadigmMPI, OneSided, Communication},
		{"MPI_Get_count", trace.RoleUnknown, trace.ParadigmMPI, Management, Communication},
		{"MPI_File_write_all", trace.RoleUnknown, trace.ParadigmMPI, IO, Communication},
		{"MPI_Comm_split", trace.RoleUnknown, trace.ParadigmMPI, Management, Communication},
		{"MPI_Init_thread", trace.RoleFunction, trace.ParadigmMPI, Startup, Communication},
		{"read", trace.RoleFileIO, trace.ParadigmUser, IO, Kernel},
		{"!$omp implicit barrier @a.c:3", trace.RoleImplicitBarrier, trace.ParadigmOpenMP, Threads, Kernel},
		{"!$omp parallel @a.c:3", trace.RoleParallel, trace.ParadigmOpenMP, Computing, Kernel},
		{"cudaLaunchKernel", trace.RoleFunction, trace.ParadigmCUDA, Runtime, Kernel},
		{"cudaDeviceSynchronize", trace.RoleFunction, trace.ParadigmCUDA, Waiting, Kernel},
		{"ampere_sgemm_128x64_nn", trace.RoleKernel, trace.ParadigmCUDA, Runtime, GEMM},
		{"_ZN5flash16flash_fwd_kernelEv", trace.RoleKernel, trace.ParadigmCUDA, Runtime, Attention},
		{"ncclDevKernel_AllReduce_Sum_f32_RING_LL", trace.RoleKernel, trace.ParadigmCUDA, Runtime, Communication},
		{"Memcpy HtoD (Pinned -> Device)", trace.RoleDataTransfer, trace.ParadigmCUDA, Runtime, Copy},
		{"Stream Sync", trace.RoleThreadWait, trace.ParadigmCUDA, Waiting, Waiting},
		{"ProfilerStep#3", trace.RoleArtificial, trace.ParadigmUser, Computing, Annotation},
		{"Score-P", trace.RoleUnknown, trace.ParadigmMeasurement, Measurement, Kernel},
	} {
		d := &trace.Defs{Strings: []string{c.name}, Regions: []trace.Region{{Name: 0, Canonical: trace.None, Role: c.role, Paradigm: c.paradigm}}}
		got := Of(d)
		if got.Host[0] != c.host || got.Device[0] != c.device {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, got.Host[0], got.Device[0], c.host, c.device)
		}
	}
}

// TestTrainingCommunicates: in a training job what is named as a communication has its class, computations of either way have shades of
// their own; elsewhere the same name says nothing.
func TestTrainingCommunicates(t *testing.T) {
	for _, job := range []bool{true, false} {
		d := &trace.Defs{Strings: []string{"forward-compute", "forward-send", trace.AttributeStep, trace.AttributeStage},
			Regions: []trace.Region{{Name: 0}, {Name: 1}}}
		want := Computing
		if job {
			d.Attributes, want = []trace.Attribute{{Name: 2}, {Name: 3}}, Communication
		}
		if got := Of(d).Host; got[0] != Computing || got[1] != want {
			t.Errorf("training job %v: classes are %v", job, got)
		}
	}
	if Computing.Shade("forward-compute") == Computing.Shade("backward-compute") {
		t.Error("forward and backward look alike")
	}
}
