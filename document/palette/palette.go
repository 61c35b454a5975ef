package palette

import (
	"fmt"
	"hash/fnv"

	"tracekit/document/waitstate"
	"tracekit/trace"
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
		[]RGB{0x1C7BF4, 0x6C61FE, 0x727EDC, 0x105EFC, 0x248AD6, 0x627AFE, 0x4A76D3, 0x4968F1,
			0x6C6EE4, 0x076DE3, 0x4D83E9, 0x0278D3, 0x5683D2, 0x0888EC, 0x186DFA, 0x4C76EB},
		[]RGB{0x75AAFD, 0x0BA3E5, 0x7394E5, 0x4CBEFD, 0x5EADDC, 0x8EB8F0, 0x8D97FC, 0x48A2FF,
			0x8EA6DF, 0x18B1FC, 0x5DA0E1, 0x96A7FD, 0x6FB7E8, 0x709DFC, 0x859DE9, 0x5AAEF3}},
	PointToPoint: {"mpi-p2p", "point-to-point",
		[]RGB{0x8032B6, 0x7407DD, 0x9707D3, 0x7751AA},
		[]RGB{0x855CE2, 0xA23BFE, 0x8675D6, 0x9B5FFF}},
	Collective: {"mpi-collective", "collective",
		[]RGB{0x9B2E7E, 0xBB0191, 0x944E76, 0x813667},
		[]RGB{0xC240A0, 0xE903B7, 0xB65987, 0xDD168B}},
	OneSided:   {"one-sided", "one-sided", []RGB{0x5F0500}, []RGB{0x996B57}},
	IO:         {"io", "I/O", []RGB{0xB37538, 0xA07050}, []RGB{0xC3892E, 0xDC9364}},
	Management: {"mpi-management", "MPI management", []RGB{0x4D266D, 0x4C0197}, []RGB{0xDDC9FE, 0xD1D1D8}},
	Waiting: {"waiting", "waiting",
		[]RGB{0xE89310, 0xBCA45A, 0xE1926B, 0xFF7E38, 0xC99502, 0xD68737},
		[]RGB{0xF0B52F, 0xE9A46C, 0xD8BD79, 0xE8CA05, 0xFEB66F, 0xCEB716}},
	Startup: {"startup", "startup and end", []RGB{0x787C7F}, []RGB{0x929699}},
	Threads: {"threads", "thread synchronization",
		[]RGB{0x4C6811, 0x626349, 0x017401, 0x56540E},
		[]RGB{0xEBFE03, 0xE9EA7E, 0xFFFF8B, 0xCDFF7E}},
	Runtime: {"runtime", "accelerator runtime",
		[]RGB{0x1C5046, 0x424C4D, 0x2B5A5C, 0x2E4345},
		[]RGB{0xA1FFD5, 0x0CF5A3, 0xCFFCF7, 0x8AE8B4}},
	Measurement: {"measurement", "measurement", []RGB{0x222F3C}, []RGB{0xB3B6B8}},
	GEMM:        {"gemm", "GEMM", []RGB{0x055E2D, 0x416050, 0x27513E}, []RGB{0x48FFAA, 0x93EBC3, 0x64E38E}},
	Attention:   {"attention", "attention", []RGB{0x682CC6, 0x534AA8}, []RGB{0x9B68FE, 0x8383EE}},
	Convolution: {"convolution", "convolution", []RGB{0x8C7206, 0x6B680F, 0x806935}, []RGB{0xFFEA37, 0xFCD769, 0xDBE002}},
	Normalization: {"normalization", "normalization",
		[]RGB{0x780980, 0x60306D, 0x8B0269},
		[]RGB{0xBF8FB0, 0xDE7FD2, 0xA9A9A9}},
	Elementwise: {"elementwise", "elementwise",
		[]RGB{0x1E6D9C, 0x45677F, 0x0575BA, 0x4D7495},
		[]RGB{0x247AC0, 0x6188C9, 0x5977A7, 0x1087AC}},
	Reduction: {"reduction", "reduction", []RGB{0xEC4A64, 0xC76A56, 0xCE5E79}, []RGB{0xD73A31, 0xFB0A53, 0xF60302}},
	Communication: {"communication", "communication",
		[]RGB{0xB52C6E, 0x944556, 0xC1058E},
		[]RGB{0xB45484, 0x916B6E, 0xC93AA0}},
	Copy:       {"copy", "copy", []RGB{0x4D2800, 0x2D2016}, []RGB{0xE67A26, 0xEF8F68}},
	Kernel:     {"kernel", "other kernel", []RGB{0x353A48}, []RGB{0xBACAD7}},
	Annotation: {"annotation", "annotation", []RGB{0x89829C}, []RGB{0xD4F4FF}},
}

// Overheads are the colors of calls on a light ground, from those that take what they need to those that take little else than overhead.
var Overheads = []RGB{0xB9C7D6, 0xF0C75E, 0xE5792B, 0xA3171F}

// Look returns the look of a class. Its slices are not to be changed.
func (c Class) Look() Look { return looks[min(c, Classes-1)] }

// String returns the name of the class for people.
func (c Class) String() string { return c.Look().Title }

// numbered is the end of names that are numbered, such as ProfilerStep#17: they have one color.
var numbered = trace.Expression(`#\d+$`)

// Shade returns which shade of its class a name has. Functions of MPI that are akin share one. Of other names those that share one are
// told apart by a legend.
func (c Class) Shade(name string) int {
	shades := len(c.Look().Light)
	switch f := trace.MPIFunctionOf(name); {
	case c == PointToPoint && f.Class != trace.ClassNone:
		return p2pShades[f.Class] % shades
	case c == Computing && trainingShades[name] > 0:
		return trainingShades[name] % shades
	case c == Collective && f.Op.Pattern() != trace.PatternNone && f.Class != trace.ClassNone:
		return collectiveShades[f.Op.Pattern()] % shades
	}
	h := fnv.New64a()
	h.Write([]byte(numbered().ReplaceAllString(name, "#")))
	return int(h.Sum64() % 65_521 % uint64(shades)) // a prime: all bits of the sum matter
}

// p2pShades are the shades of functions that send, receive, do both, and wait.
var p2pShades = map[trace.CallClass]int{trace.ClassRecv: 1, trace.ClassIrecv: 1, trace.ClassSendrecv: 2, trace.ClassStart: 2,
	trace.ClassWait: 3, trace.ClassTest: 3, trace.ClassProbe: 3}

// collectiveShades are the shades of patterns of communication.
var collectiveShades = map[trace.Pattern]int{trace.PatternAllToAll: 1, trace.PatternSparse: 1, trace.PatternOneToAll: 2,
	trace.PatternAllToOne: 3, trace.PatternScan: 3}

// trainingShades are the shades of computations of a training job, far apart: they lie side by side.
var trainingShades = map[string]int{"forward-compute": 11, "backward-compute": 1, "weight-compute": 3}

// waitShades are the shades of kinds of wait states; those that are akin share one.
var waitShades = [waitstate.Kinds]int{
	waitstate.LateReceiver: 2, waitstate.LateReceiverBehindLateSender: 2, waitstate.LateProgress: 2,
	waitstate.AtNxN: 4, waitstate.NxNCompletion: 4, waitstate.AtNxNUnclassified: 4,
	waitstate.AtBarrier: 1, waitstate.BarrierCompletion: 1, waitstate.AtTeamBarrier: 1,
	waitstate.LateBroadcast: 3, waitstate.EarlyReduce: 5, waitstate.EarlyScan: 5,
}

// WaitShade returns which shade of Waiting a kind of wait state has.
func WaitShade(k waitstate.Kind) int {
	if k < waitstate.Kinds {
		return waitShades[k]
	}
	return 0
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
