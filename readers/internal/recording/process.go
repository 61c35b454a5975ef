package recording

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/readers/internal/nest"
	"tracekit/trace"
)

// A Process is a process of a recording.
type Process struct {
	Name    string // of its program; "": not known
	Pid     int64
	Rank    uint32
	HasRank bool
	Works   bool // uses a device or communicates: it is a rank, if there are ranks

	file    *File
	group   trace.LocationGroupID // once joined
	threads []*Track
	devices []*Device
	world   uint32 // its rank once joined; None: it has none
	main    trace.LocationID
}

// A Device is an accelerator as a process sees it, or none does whose calls are known.
type Device struct {
	Name    string
	Number  int64
	file    *File
	streams []*Track
	main    trace.LocationID // once joined
}

// A Track is a thread, a stream, or what is sampled beside them.
type Track struct {
	nest.Track
	Name  string
	Kind  trace.LocationKind
	Order int64 // among those of its process or device
	Main  bool  // the first thread of its process
}

// NewProcess adds a process.
func (f *File) NewProcess(name string, pid int64) *Process {
	p := &Process{Name: name, Pid: pid, file: f, world: trace.None, main: trace.None}
	if f.Room() {
		f.processes = append(f.processes, p)
	} else {
		f.lost[lostTracks]++
	}
	return p
}

// Room is that of the process's file.
func (p *Process) Room() bool { return p.file.Room() }

// NewDevice adds a device of a process.
func (p *Process) NewDevice(number int64) *Device {
	d := &Device{Name: fmt.Sprintf("GPU %d", number), Number: number, file: p.file, main: trace.None}
	if p.file.Room() {
		p.devices = append(p.devices, d)
		p.file.devices++
	} else {
		p.file.lost[lostTracks]++
	}
	p.Works = true
	return d
}

// NewThread adds a thread; nil if there are too many.
func (p *Process) NewThread(name string, order int64) *Track {
	l := &Track{Name: name, Kind: trace.LocationCPUThread, Order: order, Main: order == p.Pid}
	return p.file.add(l, &p.threads)
}

// NewSampler adds what is sampled beside the threads of a process; nil if there is too much.
func (p *Process) NewSampler(name string) *Track {
	return p.file.add(&Track{Name: name, Kind: trace.LocationMetric}, &p.threads)
}

// NewStream adds a stream; nil if there are too many.
func (d *Device) NewStream(name string, order int64) *Track {
	l := &Track{Name: name, Kind: trace.LocationGPU, Order: order}
	l.GPU = true
	return d.file.add(l, &d.streams)
}

// NewSampler adds what is sampled on a device; nil if there is too much.
func (d *Device) NewSampler(name string) *Track {
	return d.file.add(&Track{Name: name, Kind: trace.LocationMetric}, &d.streams)
}

func (f *File) add(l *Track, to *[]*Track) *Track {
	if !f.Set.Add(&l.Track) {
		f.lost[lostTracks]++
		return nil
	}
	f.Set.Follow(&l.Track)
	*to = append(*to, l)
	return l
}

// Drop takes a process out of the file, and returns the number of its spans.
func (f *File) Drop(p *Process) (spans uint64) {
	for _, l := range p.threads {
		spans += l.Stream.Len()
	}
	for _, d := range p.devices {
		for _, l := range d.streams {
			spans += l.Stream.Len()
		}
	}
	f.processes = slices.DeleteFunc(f.processes, func(q *Process) bool { return q == p })
	return spans
}

// tracks returns the tracks of a file that have events, in the order of their locations.
func (f *File) tracks() (all []*Track) {
	for _, p := range f.processes {
		all = append(all, p.threads...)
	}
	for _, p := range f.processes {
		for _, d := range p.devices {
			all = append(all, d.streams...)
		}
	}
	return all
}

// settle orders what a file holds, and forgets what has no events.
func (f *File) settle() {
	empty := func(l *Track) bool { return l.Stream.Len() == 0 }
	order := func(x, y *Track) int {
		return cmp.Or(cmp.Compare(late(x), late(y)), cmp.Compare(x.Order, y.Order), cmp.Compare(x.Name, y.Name))
	}
	for _, p := range f.processes {
		p.threads = slices.DeleteFunc(p.threads, empty)
		slices.SortStableFunc(p.threads, order)
		for _, d := range p.devices {
			d.streams = slices.DeleteFunc(d.streams, empty)
			slices.SortStableFunc(d.streams, order)
		}
		p.devices = slices.DeleteFunc(p.devices, func(d *Device) bool { return len(d.streams) == 0 })
		slices.SortStableFunc(p.devices, func(x, y *Device) int { return cmp.Compare(x.Number, y.Number) })
	}
	f.processes = slices.DeleteFunc(f.processes, func(p *Process) bool { return len(p.threads)+len(p.devices) == 0 })
	slices.SortStableFunc(f.processes, func(x, y *Process) int {
		return cmp.Or(cmp.Compare(x.rankOrder(), y.rankOrder()), cmp.Compare(x.Pid, y.Pid))
	})
}

// late returns where among the tracks of a process or device one comes: the main thread, others, what is sampled.
func late(l *Track) int {
	switch {
	case l.Main:
		return 0
	case l.Kind == trace.LocationMetric:
		return 2
	}
	return 1
}

// rankOrder is the rank of a process, None if it has none.
func (p *Process) rankOrder() uint32 {
	if p.HasRank {
		return p.Rank
	}
	return trace.None
}

// Join notes the rank of a process in a communicator, and returns the communicator's number in the file: see File.Comm.
func (p *Process) Join(key string, describe func() Comm, rank uint32) uint32 {
	id := p.file.Comm(key, describe)
	if rank < trace.None {
		p.file.Member(id, rank, p)
	}
	return id
}
