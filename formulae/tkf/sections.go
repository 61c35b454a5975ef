package tkf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"tracekit/spill"
	"tracekit/trace"
)

// magic begins every file; the version of the format follows.
const magic = "TKF"

// The versions that are read, of which the last one is written.
const (
	versionFormulae  = 5
	versionSequences = 6  // stat mode: sequences and outliers
	versionValues    = 7  // values are guessed in several contexts
	versionPrecise   = 8  // outliers are more precise
	versionShared    = 9  // locations have the times of others
	versionPredicted = 10 // values are predicted in more contexts, and tell times
	versionWords     = 11 // texts begin with words, numbers of columns are guessed, values have quanta
	versionLast      = versionWords
)

// A sectionKind says what a section holds. See docs/internals/TKF.md.
type sectionKind uint8

const (
	sectionHead        sectionKind = 1 // mode, quantiser, leader
	sectionDefinitions sectionKind = 2 // info, definitions, findings
	sectionClasses     sectionKind = 3 // dictionary, classes of locations
	sectionStructure   sectionKind = 4 // a block of a class's sequence of symbols
	sectionEvents      sectionKind = 5 // a block of a location's times and values
	sectionStatistics  sectionKind = 6 // call trees, formulae
	sectionEnd         sectionKind = 7 // nothing: the file is complete
	sectionValues      sectionKind = 8 // a block of the values of a location's sequence
	sectionTimes       sectionKind = 9 // whose times a location has, too
	sectionLast                    = sectionTimes
)

var sectionNames = [...]string{"", "head", "definitions", "classes", "structure", "events", "statistics", "end", "values", "times"}

func (k sectionKind) String() string {
	if int(k) < len(sectionNames) {
		return sectionNames[k]
	}
	return fmt.Sprintf("section %d", uint8(k))
}

// A sectionWriter writes sections and counts their bytes by kind.
//
//	section = kind (1 byte), owner (uvarint), size (uvarint), payload, CRC-32C of all before (4 bytes, little-endian)
type sectionWriter struct {
	w     io.Writer
	bytes [sectionLast + 1]int64
	total int64
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func newSectionWriter(w io.Writer) (*sectionWriter, error) {
	begin := magic + string(rune(versionLast))
	_, err := io.WriteString(w, begin)
	return &sectionWriter{w: w, total: int64(len(begin))}, err
}

// write writes a section about an owner: a class or a location.
func (s *sectionWriter) write(kind sectionKind, owner uint64, payload []byte) error {
	head := binary.AppendUvarint(binary.AppendUvarint([]byte{byte(kind)}, owner), uint64(len(payload)))
	sum := crc32.Update(crc32.Checksum(head, castagnoli()), castagnoli(), payload)
	tail := binary.LittleEndian.AppendUint32(nil, sum)
	for _, b := range [][]byte{head, payload, tail} {
		if _, err := s.w.Write(b); err != nil {
			return err
		}
		s.bytes[kind] += int64(len(b))
		s.total += int64(len(b))
	}
	return nil
}

// blocks are the payloads of an owner's sections until the file is written.
type blocks struct {
	bytes *spill.Table[byte]
	sizes []int
}

// add keeps a copy of a block.
func (b *blocks) add(block []byte) {
	b.bytes.AppendRows(block)
	b.sizes = append(b.sizes, len(block))
}

// all yields the blocks, each valid until the next.
func (b *blocks) all(yield func(block []byte) bool) {
	at := 0
	var block []byte
	for _, size := range b.sizes {
		block = slices.Grow(block[:0], size)[:size]
		at += b.bytes.Copy(block, at)
		if !yield(block) {
			return
		}
	}
}

// writeBlocks writes blocks as sections.
func (s *sectionWriter) writeBlocks(kind sectionKind, owner uint64, b *blocks) error {
	for block := range b.all {
		if err := s.write(kind, owner, block); err != nil {
			return err
		}
	}
	return nil
}

// A section is the place of a section in a file. Payloads are read, and their checksums
// compared, when somebody needs them (see load).
type section struct {
	kind   sectionKind
	owner  uint64
	offset int64 // of the section
	body   int64 // offset of the payload
	size   int64 // of the payload
}

// maxSection is the largest payload that a section may have.
const maxSection = 1 << 30

// scanSections reads the heads of all sections. It takes no payload into memory.
func scanSections(r io.ReaderAt, size int64, name string) (out []section, version byte, err error) {
	head := make([]byte, len(magic)+1)
	if _, err := r.ReadAt(head, 0); err != nil || !Is(head) {
		return nil, 0, syntaxError(name, 0, "", errNotTKF)
	}
	if version = head[len(magic)]; version < versionFormulae || version > versionLast {
		return nil, 0, syntaxError(name, int64(len(magic)), "", &versionError{version})
	}
	for at := int64(len(head)); ; {
		s, err := readHead(r, at, size)
		if err == nil && (s.kind == sectionValues && version < versionSequences || s.kind == sectionTimes && version < versionShared) {
			err = errNoSection
		}
		if err != nil {
			return nil, 0, syntaxError(name, at, "", err)
		}
		out = append(out, s)
		at = s.body + s.size + 4
		if s.kind == sectionEnd {
			_, err := s.load(r, name)
			return out, version, err
		}
	}
}

// A versionError says that a file has another version of the format than this one.
type versionError struct{ version byte }

func (e *versionError) Error() string {
	return fmt.Sprintf("the file has version %d of the format, this program reads versions %d to %d: compress the trace again, or "+
		"read the file with the release that wrote it",
		e.version, versionFormulae, versionLast)
}

var (
	errNotTKF    = errors.New("not a compressed trace (.tkf)")
	errTruncated = errors.New("the file ends before its end mark")
	errChecksum  = errors.New("wrong checksum")
	errNoSection = errors.New("this is not the head of a section")
)

// readHead reads the head of the section at an offset.
func readHead(r io.ReaderAt, at, size int64) (section, error) {
	var buf [1 + 2*binary.MaxVarintLen64]byte
	n, err := r.ReadAt(buf[:], at)
	if err != nil && err != io.EOF {
		return section{}, err
	}
	b := buf[:n]
	if n < 3 {
		return section{}, errTruncated
	}
	s := section{kind: sectionKind(b[0]), offset: at}
	owner, n1 := binary.Uvarint(b[1:])
	if n1 <= 0 {
		return s, errTruncated
	}
	length, n2 := binary.Uvarint(b[1+n1:])
	if n2 <= 0 {
		return s, errTruncated
	}
	s.owner, s.body = owner, at+int64(1+n1+n2)
	if s.kind < sectionHead || s.kind > sectionLast || length > maxSection {
		return s, errNoSection
	}
	s.size = int64(length)
	if s.body+s.size+4 > size {
		return s, errTruncated
	}
	return s, nil
}

// load reads a section's payload and checks it.
func (s section) load(r io.ReaderAt, name string) ([]byte, error) {
	all := make([]byte, s.body-s.offset+s.size+4)
	if _, err := r.ReadAt(all, s.offset); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	n := len(all) - 4
	if crc32.Checksum(all[:n], castagnoli()) != binary.LittleEndian.Uint32(all[n:]) {
		return nil, syntaxError(name, s.offset, s.kind.String(), errChecksum)
	}
	return all[s.body-s.offset : n], nil
}

// syntaxError says where a file is malformed.
func syntaxError(file string, offset int64, record string, err error) error {
	return &trace.SyntaxError{File: file, Offset: offset, Record: record, Err: err}
}
