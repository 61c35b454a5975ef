package tkf

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
	"time"

	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/stats/numbers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
	"tracekit/trace/tracetest/mutate"
)

// small is a trace with something of every table.
const small = `
location 0 rank=0
  10 ProgramBegin 1 ; 11 Enter main ; 12 Enter MPI_Isend ; 13 MpiIsend to=1 tag=7 bytes=8 req=1 attr=0:4:77 ; 14 Leave MPI_Isend
  15 Enter MPI_Wait ; 16 MpiIsendComplete req=1 ; 17 Leave MPI_Wait
  18 Enter MPI_Allreduce ; 19 MpiCollectiveBegin ; 25 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 26 Leave MPI_Allreduce
  27 Metric 0 uint64:7 ; 28 Metric 0 uint64:9 ; 30 Leave main ; 31 ProgramEnd 0
location 1 rank=1
  10 ProgramBegin 1 ; 11 Enter main ; 12 Enter MPI_Recv ; 15 MpiRecv from=0 tag=7 bytes=8 ; 16 Leave MPI_Recv
  18 Enter MPI_Allreduce ; 21 MpiCollectiveBegin ; 25 MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; 26 Leave MPI_Allreduce
  30 Leave main ; 31 ProgramEnd 0
member 0 cycles
metric 0 members=0
attribute 0 weight type=4
`

// compressed returns a small file.
func compressed(t testing.TB, mode Mode) []byte {
	t.Helper()
	src := tracetest.MustParse(t, small)
	var out bytes.Buffer
	if _, err := Compress(context.Background(), src, &out, Options{Mode: mode}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAll reads a file and all its events, at most limit of them, and returns the first
// error. Batches must be sound. A small file may stand for very many events, so reading
// ends after a while.
func readAll(t testing.TB, file []byte, limit int) (events int, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	src, err := open(bytes.NewReader(file), int64(len(file)), "file", 1, nil, func() error { return nil })
	if err != nil {
		return 0, err
	}
	defer src.Close()
	if err := src.Defs().Check(); err != nil {
		t.Fatal(err)
	}
	for l := range src.Defs().Locations {
		for b, err := range src.Events(ctx, trace.LocationID(l)) {
			if err != nil {
				return events, err
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
			if events += b.Len(); events > limit {
				return events, nil
			}
		}
	}
	return events, nil
}

// withLaws returns a small file in stat mode whose durations have laws, in which a branch is
// not learned, with metrics, arguments and attributes.
func withLaws(t testing.TB) []byte {
	t.Helper()
	src := tracetest.MustParse(t, small)
	b := &trace.Batch{}
	b.Reset(0, 0)
	for i := range uint64(300) {
		region := trace.RegionID(numbers.Mix(i) % 3)
		b.AddAttr(0, trace.TypeUint64, i%5)
		b.AddFlow(int64(1000*i), trace.KindEnter, region)
		// too much to be kept exactly
		b.AddOther(int64(1000*i+numbers.Mix(i)%900), trace.KindParameterInt, 0, numbers.Mix(i), numbers.Mix(i+1))
		b.AddMetric(int64(1000*i+900), 0, []trace.ValueType{trace.TypeUint64}, []uint64{i * i})
		b.AddFlow(int64(1000*i+950), trace.KindLeave, region)
	}
	m := &trace.MemorySource{Definitions: src.Defs(), Batches: [][]*trace.Batch{{b}, nil}}
	var out bytes.Buffer
	r, err := Compress(context.Background(), m, &out, Options{Mode: Statistics, Durations: formulae.Laws, Form: sequence.Form{Terms: 3}})
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Statistics; s.Disordered == 0 || s.Durations.Fitted.Calls+s.Durations.Sampled.Calls == 0 || s.Fields.Constructs == 0 {
		t.Fatalf("not a file of all kinds: %+v", s)
	}
	return out.Bytes()
}

func isSyntaxError(err error) bool {
	var s *trace.SyntaxError
	return errors.As(err, &s)
}

// Every byte is covered by a checksum or by the structure of the file.
func TestDamaged(t *testing.T) {
	for i, file := range [][]byte{compressed(t, Lossless), compressed(t, Statistics), withLaws(t)} {
		for what, damaged := range mutate.CutsAndFlips(file, mutate.Everywhere, 0x55) {
			if _, err := readAll(t, damaged, 1000); !isSyntaxError(err) {
				t.Fatalf("file %d: %s: %v, want a syntax error", i, what, err)
			}
		}
	}
}

// reseal makes the checksums of a file right, so that damage gets further than that.
func reseal(file []byte) []byte {
	file = bytes.Clone(file)
	for at := int64(len(magic) + 1); at < int64(len(file)); {
		s, err := readHead(bytes.NewReader(file), at, int64(len(file)))
		if err != nil {
			break
		}
		end := s.body + s.size
		binary.LittleEndian.PutUint32(file[end:], crc32.Checksum(file[at:end], castagnoli()))
		at = end + 4
	}
	return file
}

// Damage that has the right checksums is an error or gives events, never a panic.
func TestDamagedWithin(t *testing.T) {
	for _, file := range [][]byte{compressed(t, Statistics), withLaws(t)} {
		for what, damaged := range mutate.Flips(file, mutate.Everywhere, 0x55) {
			if _, err := readAll(t, reseal(damaged), 1000); err != nil && !isSyntaxError(err) && !errors.Is(err, trace.ErrNotATrace) &&
				!errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
}

// FuzzOpen: whatever a file holds, reading it ends without panic and with bounded memory.
func FuzzOpen(f *testing.F) {
	f.Add(compressed(f, Lossless), true)
	f.Add(compressed(f, Statistics), true)
	f.Add(withLaws(f), true)
	_, shared := withCounters(f, 100)
	f.Add(shared, true)
	f.Add(compressed(f, Lossless)[:40], false)
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, file []byte, sealed bool) {
		if sealed {
			file = reseal(file)
		}
		if _, err := readAll(t, file, 10_000); err != nil && !isSyntaxError(err) && !errors.Is(err, trace.ErrNotATrace) &&
			!errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v is not a syntax error", err)
		}
	})
}

func TestNotATrace(t *testing.T) {
	if _, err := readAll(t, []byte("PK\x03\x04 something else"), 1); !errors.Is(err, trace.ErrNotATrace) {
		t.Errorf("got %v", err)
	}
}
