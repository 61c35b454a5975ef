package arrowdir

import (
	"sync"
	_ "unsafe" // for go:linkname

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/zstd"
)

// The Parquet library makes an encoder for each page that it compresses, with memory for as
// many goroutines as there are processors, which takes longer than to compress the page. Its
// versions from 16 on can be given a codec; in this one the table of codecs is private.

//go:linkname codecs github.com/apache/arrow/go/v15/parquet/compress.codecs
var codecs map[compress.Compression]compress.Codec

// shareEncoders puts our codec into the table. All who use the library call it before.
var shareEncoders = sync.OnceFunc(func() {
	codecs[compress.Codecs.Zstd] = zstdCodec{codecs[compress.Codecs.Zstd]}
})

// zstdCodec is the library's, but for how pages are compressed: by encoders that are used
// again, to the same bytes.
type zstdCodec struct{ compress.Codec }

var zstdEncoders = sync.Pool{New: func() any {
	e, err := zstd.NewWriter(nil, zstd.WithZeroFrames(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // the options are right
	}
	return e
}}

// EncodeLevel compresses a page.
func (zstdCodec) EncodeLevel(dst, src []byte, _ int) []byte {
	e := zstdEncoders.Get().(*zstd.Encoder)
	defer zstdEncoders.Put(e)
	return e.EncodeAll(src, dst[:0])
}
