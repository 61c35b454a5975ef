package jsontrace

import (
	"cmp"
	"slices"

	"tracekit/trace"
)

// owners finds the process that an accelerator belongs to: the one whose calls of the runtime have the correlations of the
// kernels that it executes.
type owners struct {
	calls   map[ident]*sketch // of processes
	kernels map[ident]*sketch // of accelerators
}

func newOwners() owners { return owners{make(map[ident]*sketch), make(map[ident]*sketch)} }

// note takes the correlation of a kernel, or of a call of the runtime.
func (o *owners) note(pid ident, kernel bool, correlation uint64) {
	of := o.calls
	if kernel {
		of = o.kernels
	}
	s := of[pid]
	if s == nil {
		if len(of) >= metadataLimit {
			return
		}
		s = new(sketch)
		of[pid] = s
	}
	s.add(correlation)
}

// launcher returns the process that launches: the one with the most calls of the runtime, of several the first.
func (o *owners) launcher(f *file) (pid ident, ok bool) {
	best := uint64(0)
	for p, s := range o.calls {
		if s.count > best || s.count == best && f.compare(p, pid) < 0 {
			pid, best, ok = p, s.count, true
		}
	}
	return pid, ok
}

// owner returns the process that most kernels of an accelerator are launched by; else the one that launches.
func (o *owners) owner(f *file, device ident) (pid ident, ok bool) {
	kernels, best := o.kernels[device], 0
	for p, calls := range o.calls {
		if n := calls.common(kernels); n > best || n == best && n > 0 && f.compare(p, pid) < 0 {
			pid, best, ok = p, n, true
		}
	}
	if ok {
		return pid, true
	}
	return o.launcher(f)
}

// sketchSize is how many identifiers a sketch keeps.
const sketchSize = 512

// A sketch is a sample of a set of numbers: those with the least hashes, so that sketches of two sets have numbers in common if
// the sets have many.
type sketch struct {
	least []uint64 // hashes, ascending
	count uint64   // of additions
}

func (s *sketch) add(n uint64) {
	s.count++
	h := n * 0x9E3779B97F4A7C15
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	if len(s.least) == sketchSize && h >= s.least[sketchSize-1] {
		return
	}
	i, known := slices.BinarySearch(s.least, h)
	if known {
		return
	}
	if len(s.least) == sketchSize {
		s.least = s.least[:sketchSize-1]
	}
	s.least = slices.Insert(s.least, i, h)
}

// common returns how many numbers two sketches have in common.
func (s *sketch) common(o *sketch) (n int) {
	if o == nil {
		return 0
	}
	for i, k := 0, 0; i < len(s.least) && k < len(o.least); {
		switch cmp.Compare(s.least[i], o.least[k]) {
		case -1:
			i++
		case 1:
			k++
		default:
			i, k, n = i+1, k+1, n+1
		}
	}
	return n
}

// settle puts the frames of threads that PyTorch does not know, which it notes under process 0, the number of an accelerator as
// well, into the process that launches.
func (f *file) settle(tracks []*track) {
	pid, ok := f.owners.launcher(f)
	for _, l := range tracks {
		if l.stray && ok {
			l.pid = pid
		}
	}
}

// ownerGroup returns the location group of the process that an accelerator belongs to: the owner, else the first one; None if there
// are no processes.
func (f *file) ownerGroup(device ident, processes map[ident]trace.LocationGroupID) trace.LocationGroupID {
	if pid, ok := f.owners.owner(f, device); ok {
		if group, ok := processes[pid]; ok {
			return group
		}
	}
	first := trace.LocationGroupID(trace.None)
	for _, group := range processes {
		first = min(first, group)
	}
	return first
}
