package palette

import (
	"fmt"
	"hash/fnv"
	"regexp"

	"tracekit/document/waitstate"
)

// A Class says what a region does, as far as colors tell it.
type Class uint8

// The classes: those of hosts, then those of the streams of devices. Waiting and Computing occur on both.
const (
	Computing    Class = iota
	PointToPoint       // MPI_Send, MPI_Waitall …
	Collective         // MPI_Allreduce …
	OneSided           // MPI_Put, MPI_Win_fence, SHMEM …
	IO                 // MPI_File_write, read, loading input
	Management         // MPI_Comm_split, MPI_Type_commit …
	Waiting            // wait states, and calls that do nothing but wait
	Startup            // MPI_Init, MPI_Finalize
	Threads            // barriers, locks, fork and join of threads
	Runtime            // calls of an accelerator's runtime
	Measurement        // the measurement itself
	GEMM               // kernels: see words.KernelClass
	Attention
	Convolution
	Normalization
	Elementwise
	Reduction
	Communication
	Copy
	Kernel     // any other
	Annotation // a name for a stretch of a stream, in which kernels run or none
	Classes    // their number
)

// An RGB is an opaque color, 0xRRGGBB.
type RGB uint32

// RGBA makes RGB a color.Color.
func (c RGB) RGBA() (r, g, b, a uint32) {
	return uint32(c) >> 16 * 0x101, uint32(c) >> 8 & 0xFF * 0x101, uint32(c) & 0xFF * 0x101, 0xFFFF
}

// String writes the color as CSS does: #rrggbb.
func (c RGB) String() string { return fmt.Sprintf("#%06x", uint32(c)) }

// A Look is what a class is called and which colors it has.
type Look struct {
	Key   string // for programs, such as names in CSS
	Title string // for people
	Light []RGB  // shades on a light ground, the first one is the color of the class
	Dark  []RGB  // the same on a dark ground, as many
}

// looks is the palette.
var looks = [Classes]Look{
	Computing: {"computing", "computing",
		[]RGB{0x0A7DF1, 0x635DFA, 0x747CDC, 0x125FFB, 0x5E78FE, 0x0A8BD8, 0x506DDD, 0x096EDD, 0x416CFB, 0x4D7ED8},
		[]RGB{0x66A4FF, 0x0B98EF, 0x808DFD, 0x8AAEEA, 0x35ACE6, 0x7996E2, 0x909DFF, 0x5394FD, 0x0BA7FF, 0x5FB3F9}},
	PointToPoint: {"mpi-p2p", "MPI point-to-point",
		[]RGB{0x660FDD, 0x7A42CE, 0x8703EC, 0x5100C5},
		[]RGB{0x705EFF, 0x6A7CE9, 0x6F65DA, 0x8372FF}},
	Collective: {"mpi-collective", "MPI collective",
		[]RGB{0xC801A7, 0xAF3D96, 0xE10FBC, 0xC11887},
		[]RGB{0xD119BB, 0xC855B3, 0xF000CE, 0xC02BD5}},
	OneSided:   {"one-sided", "one-sided", []RGB{0x400671}, []RGB{0xC3C0FF}},
	IO:         {"io", "I/O", []RGB{0x845A29, 0xA16337, 0x6A6350}, []RGB{0x9D6F11, 0xBD7D4E, 0xB28403}},
	Management: {"mpi-management", "MPI management", []RGB{0x571A42, 0x3C021A}, []RGB{0xD8AABA, 0xFC9FD5}},
	Waiting: {"waiting", "waiting",
		[]RGB{0xCB6D05, 0xA77645, 0xD85C2F, 0xB36501, 0xB57908, 0xC1714A},
		[]RGB{0xFE9533, 0xD29561, 0xF68157, 0xE38601, 0xECA171, 0xE09F3C}},
	Startup: {"startup", "startup and end", []RGB{0x838688}, []RGB{0x91959A}},
	Threads: {"threads", "thread synchronization",
		[]RGB{0x0C4802, 0x093501, 0x324023, 0x215024},
		[]RGB{0xD4F9A7, 0xAAFC03, 0xB5EF70, 0xD4E3BC}},
	Runtime: {"runtime", "accelerator runtime",
		[]RGB{0x026D7F, 0x606A6D, 0x397673, 0x406567},
		[]RGB{0x8CF8FF, 0xABE3F9, 0x21F8FE, 0x87E8EA}},
	Measurement: {"measurement", "measurement", []RGB{0x4A4D50}, []RGB{0x747577}},
	GEMM:        {"gemm", "GEMM", []RGB{0x11755C, 0x546D67, 0x4B7F59}, []RGB{0x36FAA0, 0x91EABC, 0x61DD95}},
	Attention:   {"attention", "attention", []RGB{0x4001EE, 0x7B0AEB, 0x5542CB}, []RGB{0x246CFA, 0x7775FF, 0x4484EB}},
	Convolution: {"convolution", "convolution", []RGB{0x5D5D01, 0x79652B, 0x5B4C22}, []RGB{0xFFF330, 0xF7CD1D, 0xD7E414}},
	Normalization: {"normalization", "normalization",
		[]RGB{0x933495, 0xB909B6, 0xB00788},
		[]RGB{0xAE82B5, 0xCD72D5, 0x958D99}},
	Elementwise: {"elementwise", "elementwise",
		[]RGB{0x065055, 0x40565E, 0x3D4748, 0x075A70},
		[]RGB{0xC5FAFD, 0xABF0E7, 0xEBFEFE, 0xCFE8EB}},
	Reduction: {"reduction", "reduction", []RGB{0x550091, 0x423272, 0x47076B}, []RGB{0x8764B7, 0xA74ECC, 0x737198}},
	Communication: {"communication", "communication",
		[]RGB{0xF815B1, 0xE23A9C, 0xFA0693},
		[]RGB{0xE10E77, 0xDA4E7C, 0xFF2082}},
	Copy:       {"copy", "copy", []RGB{0x582E00, 0x402300, 0x5A4208}, []RGB{0xBE7211, 0xC88261, 0xBC5828}},
	Kernel:     {"kernel", "other kernel", []RGB{0x232F3A}, []RGB{0xBCCEDE}},
	Annotation: {"annotation", "annotation", []RGB{0x7B7690}, []RGB{0xA9ADAE}},
}

// Look returns the look of a class. Its slices are not to be changed.
func (c Class) Look() Look { return looks[min(c, Classes-1)] }

// OnDevices reports whether the class is one of streams of devices only.
func (c Class) OnDevices() bool { return c >= GEMM }

// String returns the name of the class for people.
func (c Class) String() string { return c.Look().Title }

// numbered is the end of names that are numbered, such as ProfilerStep#17: they have one color.
var numbered = regexp.MustCompile(`#\d+$`)

// Shade returns which shade of its class a name has.
func (c Class) Shade(name string) int {
	h := fnv.New32a()
	h.Write([]byte(numbered.ReplaceAllString(name, "#")))
	return int(h.Sum32() % uint32(len(c.Look().Light)))
}

// WaitShade returns which shade of Waiting a kind of wait state has.
func WaitShade(k waitstate.Kind) int {
	return (int(max(k, 1)) - 1) % len(Waiting.Look().Light)
}

// A Row is the look of a class as JSON.
type Row struct {
	Key   string   `json:"key"`
	Title string   `json:"title"`
	Light []string `json:"light"` // #rrggbb
	Dark  []string `json:"dark"`
}

// Table returns the palette, by class, for programs in other languages.
func Table() []Row {
	css := func(list []RGB) (out []string) {
		for _, c := range list {
			out = append(out, c.String())
		}
		return out
	}
	out := make([]Row, Classes)
	for i, l := range looks {
		out[i] = Row{l.Key, l.Title, css(l.Light), css(l.Dark)}
	}
	return out
}
