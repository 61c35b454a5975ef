package spill

import (
	"math/bits"
	"unsafe"
)

// A slot is a frame of the file, by number: where it begins there, in pages. 0 is none, for the first one never has a page.
type slot uint32

// offset returns where a slot begins in the file, in bytes.
func (at slot) offset() int64 { return int64(at) * pageBytes }

// Frames of the file make an extent, 64 kB: what Linux maps at a time around a row that is touched, and of larger pieces of memory as a
// whole. Where an extent is written by a single call it is one such piece (Linux 6.16): that makes it a fraction of the work to
// write it, to map it and to let it go.
const (
	extentFrames = 4
	extentBytes  = extentFrames * pageBytes
	allVacant    = 1<<extentFrames - 1
)

// An extent is a part of the file that is mapped.
type extent struct {
	frames *[extentFrames]frame
	vacant uint8  // frames without a page, by bit
	broken bool   // stands in the list of broken ones
	mapped uint32 // the last round of the store in which it was brought in
	ahead  uint32 // the last one in which it was read ahead
}

func (e *extent) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(e.frames)), extentBytes) }

// A room is what extents the file has, and what of them has no page.
type room struct {
	extents []extent
	whole   []int // extents without a page
	broken  []int // extents of which some frames may have a page and others none
	vacant  int   // frames without a page
}

// add makes the room larger by memory of the file, in order.
func (r *room) add(mapped []byte) {
	first := len(r.extents)
	for ; len(mapped) > 0; mapped = mapped[extentBytes:] {
		frames := (*[extentFrames]frame)(unsafe.Pointer(unsafe.SliceData(mapped)))
		r.extents = append(r.extents, extent{frames: frames, vacant: allVacant})
	}
	for k := len(r.extents) - 1; k >= first; k-- {
		r.whole = append(r.whole, k)
		r.vacant += extentFrames
	}
	if first == 0 {
		r.one() // slot 0
	}
}

// one takes a slot, of a broken extent if there is one. Some frame is vacant.
func (r *room) one() slot {
	for len(r.broken) > 0 {
		k := r.broken[len(r.broken)-1]
		e := &r.extents[k]
		if e.vacant != 0 && e.vacant != allVacant {
			i := bits.TrailingZeros8(e.vacant)
			e.vacant &^= 1 << i
			r.vacant--
			return slot(k*extentFrames + i)
		}
		r.broken = r.broken[:len(r.broken)-1]
		e.broken = false
	}
	at := r.run()
	for i := slot(1); i < extentFrames; i++ {
		r.leave(at + i)
	}
	return at
}

// run takes a whole extent, of which there is one, and returns its first slot.
func (r *room) run() slot {
	k := pop(&r.whole)
	r.extents[k].vacant = 0
	r.vacant -= extentFrames
	return slot(k * extentFrames)
}

// leave makes a slot one without a page.
func (r *room) leave(at slot) {
	k := int(at / extentFrames)
	e := &r.extents[k]
	e.vacant |= 1 << (at % extentFrames)
	r.vacant++
	if e.vacant == allVacant {
		r.whole = append(r.whole, k)
	} else if !e.broken {
		e.broken, r.broken = true, append(r.broken, k)
	}
}

// of returns the extent of a slot.
func (r *room) of(at slot) *extent { return &r.extents[at/extentFrames] }

// frame returns that of a slot, which is not touched: an index would.
func (r *room) frame(at slot) *frame {
	return (*frame)(unsafe.Add(unsafe.Pointer(r.of(at).frames), uintptr(at%extentFrames)*pageBytes))
}
