package perfetto

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"
	"google.golang.org/protobuf/encoding/protowire"

	"tracekit/readers/internal/nest"
	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/spool"
	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// Format is the name of the format in trace.Info.
const Format = "perfetto"

// extensions are those by which the files of a trace in a directory are told.
var extensions = []string{".pftrace", ".perfetto-trace", ".proto"}

// Sniff reports whether a path is a trace of Perfetto, or a directory with such; head is how its file begins, nil for a directory.
func Sniff(path string, head []byte) bool {
	if head == nil {
		return slices.ContainsFunc(filesIn(path), isTrace)
	}
	plain, err := wire.Uncompressed(bytes.NewReader(head))
	if err != nil {
		return false
	}
	in := newInput(plain)
	if !in.need(2) || in.buf[0] != packetTag {
		return false
	}
	packet, what := in.next()
	switch what {
	case foundPacket:
		return sound(packet)
	case foundCut: // the first packet is longer than what is looked at
		_, n := protowire.ConsumeVarint(in.buf[1:])
		return n > 0 && begins(in.buf[1+n:])
	}
	return false
}

// filesIn returns what are traces in a directory by their names, in order of name. Other files have the name .proto as well: these must
// be traces.
func filesIn(dir string) (files []string) {
	for _, extension := range extensions {
		for _, packed := range []string{"", ".gz", ".zst"} {
			for _, path := range recording.FilesIn(dir, extension+packed, 0) {
				if extension != ".proto" || isTrace(path) {
					files = append(files, path)
				}
			}
		}
	}
	slices.SortStableFunc(files, nest.Natural)
	return wire.Once(files)
}

// FilesOf returns the files of the trace that a path stands for, of those that are there.
func FilesOf(path string, there []string) (files []string) {
	for _, name := range there {
		plain := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst") // as filesIn has them
		if slices.Contains(extensions, filepath.Ext(plain)) && (name == path || filepath.ToSlash(filepath.Dir(name)) == path) {
			files = append(files, name)
		}
	}
	return files
}

// isTrace reports whether a file is a trace.
func isTrace(path string) bool {
	f, _, err := wire.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	return n > 0 && Sniff(path, head[:n])
}

// Open reads one trace from files, or from directories of them: one file, or one of each rank. An error wraps trace.ErrNotATrace if
// one is no trace of Perfetto.
func Open(ctx context.Context, paths []string, o recording.Options) (*recording.Source, error) {
	var files []string
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			files = append(files, filesIn(path)...)
		} else {
			files = append(files, path)
		}
	}
	return recording.Open(ctx, Format, files, o, read)
}

// read reads a file.
func read(ctx context.Context, f *recording.File) error {
	file, size, err := wire.OpenRegular(f.Path)
	if err != nil {
		return &recording.Missing{Err: err}
	}
	defer file.Close()
	changed := wire.Watch(file)
	f.Size = size
	plain, err := wire.Uncompressed(file)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", f.Path, trace.ErrNotATrace, err)
	}
	if err := newReader(f).all(ctx, plain); err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	f.Changed(changed())
	return nil
}

// A reader reads the packets of a file.
type reader struct {
	f            *recording.File
	at           int64 // of the packet at hand
	clocks       *clocks
	sequences    map[uint32]*sequence
	last         *sequence
	interned     int // identifiers of all sequences
	tracks       map[uint64]*track
	list         []*track
	processes    map[processKey]*recording.Process
	processNames map[int64]uint32
	threads      map[threadKey]*recording.Track
	threadNames  map[threadKey]uint32
	samplers     map[*recording.Process]*recording.Track
	devices      map[deviceKey]*recording.Device
	rows         map[rowKey]*recording.Track
	regions      map[uint64]trace.RegionID // by the numbers of name and category
	kinds        []kind                    // of regions
	texts        map[string]uint32
	textBytes    int
	rare         parts
	lists        lists
	attrs        []attribute // of the event at hand
	args         []uint64
	later        *spool.Spool
	waiting      *spool.Stream

	packets      uint64
	system       map[int]uint64
	afterLoss    uint64 // packets whose names were lost
	withoutState uint64 // packets whose names were never there
	unknown      uint64 // names that are not interned
	strange      uint64 // events of other types
	arguments    uint64 // events with arguments
	timeless     uint64 // packets whose time cannot be converted
	firstClock   uint64 // of the first of them
}

func newReader(f *recording.File) *reader {
	r := &reader{f: f, clocks: newClocks(), sequences: make(map[uint32]*sequence), tracks: make(map[uint64]*track),
		processes: make(map[processKey]*recording.Process), processNames: make(map[int64]uint32),
		threads: make(map[threadKey]*recording.Track), threadNames: make(map[threadKey]uint32),
		samplers: make(map[*recording.Process]*recording.Track), devices: make(map[deviceKey]*recording.Device),
		rows: make(map[rowKey]*recording.Track), regions: make(map[uint64]trace.RegionID), texts: make(map[string]uint32),
		system: make(map[int]uint64)}
	r.text(nil) // so that a missing name is number 0
	return r
}

// all reads a trace.
func (r *reader) all(ctx context.Context, plain io.Reader) error {
	if err := r.run(ctx, newInput(plain), false); err != nil {
		return err
	}
	if r.packets == 0 {
		return fmt.Errorf("%w: it holds no packet of Perfetto", trace.ErrNotATrace)
	}
	if err := r.place(ctx); err != nil {
		return err
	}
	r.people()
	r.f.Epoch, r.f.HasEpoch = r.clocks.epoch, r.clocks.hasEpoch
	r.tell()
	return nil
}

const noPacket = "a packet that cannot be decoded; reading goes on behind it"

// contextEvery is after how many packets the context is asked.
const contextEvery = 1 << 12

// run takes the packets of an input; inner tells that it lies in a packet of another one.
func (r *reader) run(ctx context.Context, in *input, inner bool) error {
	for n := 1; ; n++ {
		if n%contextEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := in.at()
		if !inner {
			r.at = at
		}
		b, what := in.next()
		switch what {
		case foundEnd:
			if in.err != nil {
				r.find(trace.CodeTruncated, in.err.Error())
			}
			return nil
		case foundCut:
			if in.resume(at + 1) {
				r.find(trace.CodeCorrupt, noPacket)
				continue
			}
			text := "in a packet"
			if in.err != nil {
				text = in.err.Error()
			}
			r.find(trace.CodeTruncated, text)
			return nil
		case foundLarge:
			r.find(trace.CodeLimitExceeded, fmt.Sprintf("a packet of more than %d MB, which is left out", packetLimit>>20))
			continue
		case foundPacket:
			p := packet{rare: &r.rare}
			if p.parse(b) {
				if err := r.take(ctx, &p, inner); err != nil {
					return err
				}
				continue
			}
			at++
		default:
			at++
		}
		r.find(trace.CodeCorrupt, noPacket)
		if !in.resume(at) {
			return nil
		}
	}
}

// take takes a packet.
func (r *reader) take(ctx context.Context, p *packet, inner bool) error {
	if p.rare.compressed != nil || p.rare.zstd != nil {
		if inner {
			r.find(trace.CodeCorrupt, "compressed packets in compressed packets")
			return nil
		}
		return r.compressed(ctx, p.rare.compressed, p.rare.zstd)
	}
	r.packets++
	s := r.sequence(p.sequence)
	if s == nil {
		return nil
	}
	if p.rare.snapshot != nil && !r.clocks.snapshot(p.rare.snapshot, p.sequence) {
		r.find(trace.CodeBadValue, "a snapshot of clocks that cannot be used")
	}
	fine := r.state(s, p)
	time, timed := int64(0), false
	if p.hasTime { // also of a packet that is left out: the clock may count from one to the next
		id := p.clock
		if !p.hasClock {
			id = s.clock
		}
		if time, timed = r.clocks.time(p.time, id, p.sequence); !timed && fine && p.event != nil {
			if r.timeless++; r.timeless == 1 {
				r.firstClock = id
			}
			return nil
		}
	}
	switch {
	case !fine:
	case p.rare.track != nil:
		r.describe(p.rare.track)
	case p.rare.process != nil:
		r.describeProcess(p.rare.process)
	case p.rare.thread != nil:
		r.describeThread(s, p.rare.thread)
	case p.event != nil && timed:
		r.event(s, time, p.event)
	case p.event != nil:
		r.find(trace.CodeBadValue, "an event without a time")
	case p.rare.other != 0:
		r.system[p.rare.other]++
	}
	return nil
}

// compressed reads packets that are compressed together.
func (r *reader) compressed(ctx context.Context, deflated, zstd []byte) error {
	var plain io.Reader
	var err error
	if deflated != nil {
		plain, err = zlib.NewReader(bytes.NewReader(deflated))
	} else {
		plain, err = wire.Zstd(bytes.NewReader(zstd))
	}
	if err != nil {
		r.find(trace.CodeCorrupt, "compressed packets: "+err.Error())
		return nil
	}
	return r.run(ctx, newInput(wire.Decompressed(plain)), true)
}

// find notes something about the packet at hand.
func (r *reader) find(code trace.Code, text string) { r.f.Ledger.Add(code, r.f.Place(r.at), text) }

// broken notes that a part of a packet cannot be decoded; it returns false.
func (r *reader) broken() bool {
	r.find(trace.CodeCorrupt, noPacket)
	return false
}

func (r *reader) limited(text string) { r.find(trace.CodeLimitExceeded, text) }

// tell tells what was found in the file as a whole.
func (r *reader) tell() {
	f := r.f
	f.Version = "TracePacket"
	f.Properties["packets"] = fmt.Sprint(r.packets)
	whole := f.Place(-1)
	var texts []string
	total := uint64(0)
	for _, field := range slices.Sorted(maps.Keys(r.system)) {
		name, known := systemPackets[field]
		if !known {
			name = fmt.Sprintf("field %d", field)
		}
		texts = append(texts, fmt.Sprintf("%s (%d)", name, r.system[field]))
		total += r.system[field]
	}
	if total > 0 {
		f.Properties["packets of the system, left out"] = strings.Join(texts, ", ")
	}
	f.Ledger.AddN(trace.CodeUnknownRecord, total, whole, "packets of the system: "+strings.Join(texts, ", "))
	f.Ledger.AddN(trace.CodeUnknownRecord, r.strange, whole, "events of another type")
	for _, l := range []struct {
		packets uint64
		what    string
	}{
		{r.afterLoss, "packets whose names were lost, since the recorder dropped packets before them"},
		{r.withoutState, "packets whose names come before the begin of the file"},
	} {
		f.Ledger.AddN(trace.CodeUnusedRecord, l.packets, whole, l.what)
		if l.packets > 0 {
			f.Properties[l.what] = fmt.Sprint(l.packets)
		}
	}
	f.Ledger.AddN(trace.CodeDanglingReference, r.unknown, whole, "names or categories that are not interned")
	f.Ledger.AddN(trace.CodeArgumentsLeftOut, r.arguments, whole, "")
	f.Ledger.AddN(trace.CodeBadValue, r.timeless, whole,
		fmt.Sprintf("events whose times count on clock %d, which no snapshot relates to that of the trace", r.firstClock))
	f.Ledger.AddN(trace.CodeLimitExceeded, r.clocks.lost, whole, "snapshots of clocks; the last ones are not used")
}
