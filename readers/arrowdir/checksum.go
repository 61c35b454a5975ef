package arrowdir

import (
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// The libraries that decode Arrow and Parquet believe what sizes a file names. Therefore no
// file is decoded before its checksum, which the manifest holds, was found right.

// checksum returns the CRC-32C of a file.
func checksum(name string) (uint32, error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, err = io.Copy(h, f)
	return h.Sum32(), err
}

// checksums returns the checksum of every file below a directory, by relative name.
func checksums(dir string) (map[string]uint32, error) {
	sums := make(map[string]uint32)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err == nil {
			sums[filepath.ToSlash(relative)], err = checksum(name)
		}
		return err
	})
	return sums, err
}

// verifier checks each file once.
type verifier struct {
	dir  string
	want map[string]uint32

	mu   sync.Mutex
	seen map[string]error
}

func newVerifier(dir string, want map[string]uint32) *verifier {
	return &verifier{dir: dir, want: want, seen: make(map[string]error)}
}

// check returns an error unless the file has the checksum that the manifest names.
func (v *verifier) check(name string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err, ok := v.seen[name]; ok {
		return err
	}
	v.seen[name] = v.compare(name)
	return v.seen[name]
}

func (v *verifier) compare(name string) error {
	relative, err := filepath.Rel(v.dir, name)
	if err != nil {
		return err
	}
	want, ok := v.want[filepath.ToSlash(relative)]
	if !ok {
		return fmt.Errorf("%s has no checksum in %s", relative, manifestName)
	}
	got, err := checksum(name)
	if err == nil && got != want {
		err = fmt.Errorf("%s is damaged: its checksum is %08x, not %08x", relative, got, want)
	}
	return err
}
