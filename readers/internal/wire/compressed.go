package wire

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// zstdMemory bounds what decoding zstd takes.
const zstdMemory = 64 << 20

// Uncompressed returns the content of a file that may be compressed by gzip (in one or several members), zstd, bzip2 or xz. Its first bytes
// tell. The error is that a header says so and is damaged.
func Uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, _ := b.Peek(6)
	var out io.Reader
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		out, err = gzip.NewReader(b)
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		var z io.Reader
		if z, err = Zstd(b); err == nil {
			out = z
		}
	case bytes.HasPrefix(head, []byte("BZh")):
		out = bzip2.NewReader(b)
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		out, err = xz.NewReader(b)
	default:
		return b, nil
	}
	if err != nil {
		return nil, err
	}
	return Decompressed(out), nil
}

// Blocks reports whether a file that begins so is compressed in blocks (zstd, bzip2, xz), of which none can be decoded in part.
func Blocks(head []byte) bool {
	return slices.ContainsFunc([]string{"\x28\xb5\x2f\xfd", "BZh", "\xfd7zXZ"},
		func(magic string) bool { return strings.HasPrefix(string(head), magic) })
}

// Zstd returns what zstd has compressed. It holds no goroutine.
func Zstd(r io.Reader) (io.Reader, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemory))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

// Unpacked returns the name that a file has when it is not compressed, by its extension.
func Unpacked(name string) string {
	for _, extension := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, extension)
	}
	return name
}

// Once returns paths without those of compressed files that lie unpacked beside them: x.json.gz where x.json is.
func Once(paths []string) []string {
	there := make(map[string]bool, len(paths))
	for _, p := range paths {
		there[p] = true
	}
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { plain := Unpacked(p); return plain != p && there[plain] })
}
