package tkf

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"tracekit/formulae/internal/coder"
)

// The context-mixing coder is worth its own code: on steps of time as they are found in
// traces (levels that alternate, with noise) it needs far less than zstd at its best.
func TestCoderAgainstZstd(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 50_000
	steps, events := make([]uint64, n), make([]uint32, n)
	for i := range steps {
		events[i] = uint32(i % 7)
		level := []float64{90, 300, 80, 5000, 120, 700, 95}[i%7]
		steps[i] = uint64(level * (1 + 0.1*r.ExpFloat64()))
	}
	m := newTimeModel(coder.NewTables(), false)
	var c coder.Coder
	c.StartEncoding()
	var plain []byte
	for i, s := range steps {
		m.code(&c, s, events[i], 0)
		plain = binary.AppendUvarint(plain, s)
	}
	own := len(c.Finish())
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(plain)
	w.Close()
	t.Logf("%d steps: own coder %.2f bits each, zstd of varints %.2f", n, 8*float64(own)/n, 8*float64(out.Len())/n)
	if own*5 > out.Len()*4 {
		t.Errorf("own coder %d bytes, zstd %d", own, out.Len())
	}
}
