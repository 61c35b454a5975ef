package xplane

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/protobuf"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "xplane"

// extension is that of profiles, by which those in a directory are told.
const extension = ".xplane.pb"

// levels is how far below the directory that is given to a profiler its profiles lie: plugins/profile/RUN.
const levels = 3

// mostPlanes is how many planes of a file are read. There is one for each device and a few for the host.
const mostPlanes = 1 << 16

// The fields of XSpace.
const (
	spacePlane   = 1
	spaceError   = 2
	spaceWarning = 3
	spaceHost    = 4
)

// Sniff reports whether a path is a profile of XLA, or a directory with such; head is how its file begins, nil for a directory.
func Sniff(path string, head []byte) bool {
	if head == nil {
		return slices.ContainsFunc(recording.FilesIn(path, extension, levels), isProfile)
	}
	if len(head) < 4 || head[0] != spacePlane<<3|byte(protowire.BytesType) {
		return false
	}
	_, n := protowire.ConsumeVarint(head[1:])
	if n < 0 {
		return false
	}
	m := protobuf.Of(head[1+n:])
	for m.Next() && m.Number <= planeName {
		if m.Number == planeName {
			return isPlane(m.Data)
		}
	}
	return false
}

// isPlane reports whether a text is the name of a plane.
func isPlane(name []byte) bool {
	for _, begin := range []string{"/host:", "/device:", "#Chip", "Task Environment"} {
		if strings.HasPrefix(string(name), begin) {
			return true
		}
	}
	return false
}

// isProfile reports whether a file is a profile.
func isProfile(path string) bool {
	f, _, err := wire.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	return n > 0 && Sniff(path, head[:n])
}

// FilesOf returns the files of the trace that a path stands for, of those that are there.
func FilesOf(path string, there []string) (of []string) {
	for _, name := range there {
		if strings.HasSuffix(name, extension) && (name == path || filepath.ToSlash(filepath.Dir(name)) == path) {
			of = append(of, name)
		}
	}
	return of
}

// Open reads one trace from profiles, or from directories of them: one file of each host. An error wraps trace.ErrNotATrace if one is
// no profile.
func Open(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	return recording.Open(ctx, Format, recording.Files(paths, extension, levels), o, read)
}

// read reads a file.
func read(ctx context.Context, f *recording.File) error {
	file, err := wire.Open(f.Path)
	if err != nil {
		return &recording.Missing{Err: err}
	}
	defer file.Close()
	f.Size = file.Size()
	var failed error
	if err := file.Guard(func() {
		data, err := file.Span(0, file.Size())
		if err == nil {
			err = newReader(f).all(ctx, data)
		}
		failed = err
	}); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s: %w", f.Path, failed)
	}
	return nil
}

// A reader reads a profile.
type reader struct {
	f          *recording.File
	process    *recording.Process
	devices    map[string]*recording.Device
	onThreads  map[uint64]*recording.Track // streams of devices that threads of the host are
	nameless   *metadata
	operations map[string]operation
	epoch      int64 // ns since 1970 from which times count
	sums       uint64
	unnamed    uint64
	repeated   uint64            // events of lines that repeat others
	foreign    map[string]uint64 // events of planes that are not read
	corrupted  bool
}

func newReader(f *recording.File) *reader {
	r := &reader{f: f, devices: make(map[string]*recording.Device),
		onThreads: make(map[uint64]*recording.Track), nameless: &metadata{name: []byte("(name not known)")},
		operations: make(map[string]operation), foreign: make(map[string]uint64)}
	f.Text("") // so that no operation has the number 0
	return r
}

// A part is where a plane lies.
type part struct {
	data []byte
	at   int64
}

// all reads a profile.
func (r *reader) all(ctx context.Context, data []byte) error {
	var parts []part
	m := protobuf.Of(data)
	for m.Next() {
		switch {
		case m.IsNumber():
			if m.Number == spacePlane {
				r.broken(int64(m.At()))
			}
		case m.Number == spacePlane && len(parts) >= mostPlanes:
			r.f.Ledger.Add(trace.CodeLimitExceeded, r.f.Place(int64(m.At()-len(m.Data))), fmt.Sprintf("more than %d planes", mostPlanes))
		case m.Number == spacePlane:
			parts = append(parts, part{m.Data, int64(m.At() - len(m.Data))})
		case m.Number == spaceError || m.Number == spaceWarning:
			r.f.Ledger.Add(trace.CodeWriterWarning, r.f.Place(int64(m.At())), text(m.Data))
		case m.Number == spaceHost && r.f.Host == "":
			r.f.Host = text(m.Data)
		}
	}
	if number, rest, ok := m.Cut(); ok {
		r.f.Ledger.Add(trace.CodeTruncated, r.f.Place(int64(len(data))), "in a plane")
		if r.corrupted = true; number == spacePlane {
			parts = append(parts, part{rest, int64(len(data) - len(rest))})
		}
	} else if m.Broken {
		r.broken(int64(m.Sound()))
	}
	planes := make([]*plane, 0, len(parts))
	for _, x := range parts {
		if p := r.open(x.data, x.at); isPlane([]byte(p.name)) || len(p.lines) > 0 {
			planes = append(planes, p)
		}
	}
	if len(planes) == 0 {
		return fmt.Errorf("%w: it has no planes of XLA's profiler", trace.ErrNotATrace)
	}
	r.process = r.f.NewProcess(cmp.Or(r.f.Host, "host"), 0)
	r.start(planes)
	computing := 0
	for _, p := range planes {
		if _, _, ok := deviceOf(p.name); ok && len(p.lines) > 0 {
			computing++
		}
	}
	for _, p := range planes {
		if err := r.read(ctx, p, computing == 1); err != nil {
			return err
		}
	}
	r.tell()
	return nil
}

// start finds what times count from: the begin of the profile, or, if lines count from 1970, the first of these.
func (r *reader) start(planes []*plane) {
	for _, p := range planes {
		if p.start > since2001 {
			r.epoch, r.f.HasEpoch = p.start, true
			break
		}
		for _, l := range p.lines {
			if l.time > since2001 && (!r.f.HasEpoch || l.time < r.epoch) {
				r.epoch, r.f.HasEpoch = l.time, true
			}
		}
	}
	r.f.Epoch = r.epoch
}

// base returns the time of a line.
func (r *reader) base(time int64) int64 {
	switch {
	case time > since2001:
		return time - r.epoch
	case time < -since2001:
		return 0
	}
	return time
}

// read reads the lines of a plane.
func (r *reader) read(ctx context.Context, p *plane, calls bool) error {
	kind, number, isDevice := deviceOf(p.name)
	switch {
	case isDevice:
		return r.device(ctx, p, kind, number, calls)
	case strings.HasPrefix(p.name, "/host:"):
		return r.host(ctx, p)
	}
	for _, l := range p.lines {
		r.foreign[p.name] += l.count()
	}
	return nil
}

// count returns the number of events of a line.
func (l *line) count() (n uint64) {
	m := protobuf.Of(l.data)
	for m.Next() {
		if m.Number == lineEvent {
			n++
		}
	}
	return n
}

// host reads a plane of the host.
func (r *reader) host(ctx context.Context, p *plane) error {
	python := slices.IndexFunc(p.lines, func(l line) bool { return strings.HasPrefix(l.name, "python") })
	same := make(map[string]int)
	for i := range p.lines {
		l := &p.lines[i]
		name, tid := threadName(l.name)
		if same[name]++; same[name] > 1 && tid == 0 {
			name = fmt.Sprintf("%s %d", name, same[name])
		}
		track := r.process.NewThread(name, int64(i)+1)
		if track == nil {
			continue
		}
		track.Exact, track.Main = true, i == max(python, 0) && p.name == "/host:CPU"
		if err := p.read(ctx, l, destination{track: track}); err != nil {
			return err
		}
	}
	return nil
}

// device reads a plane of a device.
func (r *reader) device(ctx context.Context, p *plane, kind string, number int64, calls bool) error {
	streams := slices.ContainsFunc(p.lines, func(l line) bool { k, _ := lineOf(l.name); return k == lineStream })
	work := trace.ParadigmCUDA
	switch {
	case p.vendor == "AMD":
		work = trace.ParadigmHIP
	case kind != "GPU":
		work = trace.ParadigmUnknown
	}
	tracks := make(map[string]*recording.Track)
	for i := range p.lines {
		l := &p.lines[i]
		what, stream := lineOf(l.name)
		name := l.name
		switch {
		case what == lineStream:
			name = fmt.Sprintf("stream %d", stream)
		case what == lineOps && !streams:
		default:
			r.repeated += l.count()
			continue
		}
		track, ok := tracks[name]
		if !ok {
			track = r.deviceOf(p.name, kind, number).NewStream(name, stream)
			tracks[name] = track
		}
		if track == nil {
			continue
		}
		if err := p.read(ctx, l, destination{track: track, device: true, line: l.name, work: work, calls: calls}); err != nil {
			return err
		}
	}
	return nil
}

// deviceOf returns the device of a plane.
func (r *reader) deviceOf(plane, kind string, number int64) *recording.Device {
	d := r.devices[plane]
	if d == nil {
		d = r.process.NewDevice(number)
		d.Name = fmt.Sprintf("%s %d", kind, number)
		r.devices[plane] = d
	}
	return d
}

// onHost returns the stream of a device that threads of the host are; nil if there are too many.
func (r *reader) onHost(number uint64) *recording.Track {
	stream, ok := r.onThreads[number]
	if !ok && len(r.onThreads) < mostPlanes && number < mostPlanes {
		stream = r.deviceOf(fmt.Sprint("/host:CPU device ", number), "CPU", int64(number)).NewStream(nest.XLAOps, 0)
		r.onThreads[number] = stream
	}
	return stream
}

// An operation is one of XLA.
type operation struct {
	text         uint32 // number of its name
	communicates bool
}

// operation returns the operation of a name.
func (r *reader) operation(name []byte) operation {
	o, ok := r.operations[string(name)]
	if !ok {
		o = operation{r.f.Text(text(name)), nest.XLACollective(string(name)) != nest.OpNone}
		if len(r.operations) < metadataLimit && len(name) <= wire.NameLimit {
			r.operations[string(name)] = o
		}
	}
	return o
}

// broken notes that something cannot be decoded at a byte of the file. What the end of a cut file breaks was noted already.
func (r *reader) broken(at int64) {
	if !r.corrupted {
		r.f.Ledger.Add(trace.CodeCorrupt, r.f.Place(at), "a message that cannot be decoded; what is before in it was read")
	}
}

func (r *reader) limited(what string) { r.f.Ledger.Add(trace.CodeLimitExceeded, r.f.Place(-1), what) }

// tell tells what was found in the file as a whole.
func (r *reader) tell() {
	whole := r.f.Place(-1)
	r.f.Version = "XSpace"
	for _, name := range slices.Sorted(maps.Keys(r.foreign)) {
		r.f.Ledger.AddN(trace.CodeUnknownRecord, r.foreign[name], whole, "events of the plane "+name)
	}
	r.f.Ledger.AddN(trace.CodeUnknownRecord, r.sums, whole, "sums of events, without times")
	r.f.Ledger.AddN(trace.CodeRedundantRecord, r.repeated, whole,
		"what repeats the work of devices: steps, modules, operations that consist of others")
	r.f.Ledger.AddN(trace.CodeDanglingReference, r.unnamed, whole, "names of events")
}
