// Package sqlite reads the rows of tables in a SQLite database, from the published file format:
// the b-trees of tables and the overflow pages of their records, nothing else. No SQL is run, no
// view, trigger or index is looked at, and nothing is written. (https://www.sqlite.org/fileformat2.html)
//
// # Contract
//
// No size in the file is believed. A page is used once, by the table that comes to it first, so
// that a damaged file can neither loop nor multiply. Of a record at most maxPayload bytes are in memory.
// Damage is told to the handler that Open takes, and what is sound around it is delivered.
package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"tracekit/readers/internal/wire"
)

// magic is how a database begins.
const magic = "SQLite format 3\x00"

// Is reports whether a file that begins so is a SQLite database.
func Is(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// headerSize is the size of the header in front of the first b-tree page.
const headerSize = 100

// A Fault says what kind of damage was met.
type Fault uint8

// The faults.
const (
	Truncated   Fault = iota // a page lies behind the end of the file
	Corrupt                  // a page or a record contradicts itself or others
	TooLarge                 // a value is longer than is kept, or there are too many tables
	Unsupported              // a table is stored in a way that is not read
	Unsaved                  // newer pages wait in a file beside the database
)

// A File is an open database. It is for one goroutine at a time.
type File struct {
	path   string
	file   *os.File
	size   int64
	page   int // bytes
	usable int // of a page
	pages  uint32
	owners []uint32 // by page: the root of the table that used it first
	ahead  []byte   // pages that were read before they are asked for
	from   uint32   // the first of them
	latest uint32   // page that was asked for
	found  func(Fault, int64, string)
	tables []*Table
}

// Open opens a database and reads the definitions of its tables. The handler is told of all damage, with the
// place in the file, -1 if it has none. Errors are those of the file, and for what is no database.
func Open(path string, found func(f Fault, offset int64, text string)) (*File, error) {
	file, size, err := wire.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, file: file, size: size, found: found}
	if err := f.open(); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Size returns the file's size in bytes.
func (f *File) Size() int64 { return f.size }

// Watch returns a function that reports whether the file has changed since.
func (f *File) Watch() (changed func() bool) { return wire.Watch(f.file) }

func (f *File) open() error {
	var h [headerSize]byte
	if n, err := f.file.ReadAt(h[:], 0); n < headerSize && err != nil && err != io.EOF {
		return err
	}
	if !Is(h[:]) {
		return errors.New("it is not a SQLite database")
	}
	f.page = int(binary.BigEndian.Uint16(h[16:]))
	if f.page == 1 {
		f.page = 1 << 16
	}
	f.usable = f.page - int(h[20])
	switch encoding := binary.BigEndian.Uint32(h[56:]); {
	case f.page < 512 || f.page&(f.page-1) != 0 || f.usable < 480:
		return errors.New("the page size of the database is impossible")
	case encoding > 1:
		return errors.New("the database holds UTF-16, which is not read: export it as UTF-8")
	}
	pages := (f.size + int64(f.page) - 1) / int64(f.page)
	if pages > 1<<32-2 {
		return errors.New("the database has more pages than the format allows")
	}
	f.pages = uint32(pages)
	f.owners = make([]uint32, f.pages+1)
	announced, there := int64(binary.BigEndian.Uint32(h[28:])), f.size/int64(f.page)
	switch counted := bytes.Equal(h[24:28], h[92:96]); { // else the number is that of an SQLite before 2010
	case announced > there && counted:
		f.found(Truncated, f.size, fmt.Sprintf("%d of %d pages are there", there, announced))
	case f.size > announced*int64(f.page) && announced > 0 && counted: // what was inserted before has moved the rest of a page
		f.found(Corrupt, announced*int64(f.page), fmt.Sprintf("bytes behind the last of %d pages", announced))
	case announced != there && !counted, !bytes.Equal(h[21:24], []byte{64, 32, 32}): // which is so in all databases
		f.found(Corrupt, 0, "a header that contradicts itself")
	}
	f.unsaved(h[18] == 2 || h[19] == 2)
	f.schema()
	return nil
}

// unsaved tells of newer pages beside the database: in a write-ahead log, or of a transaction that did not end.
func (f *File) unsaved(logged bool) {
	const logHeader = 32
	if info, err := os.Stat(f.path + "-wal"); logged && err == nil && info.Size() > logHeader {
		f.found(Unsaved, -1, f.path+"-wal has rows that the database lacks: open and close it with sqlite3, which joins them")
	}
	head := make([]byte, 8)
	if journal, err := os.Open(f.path + "-journal"); err == nil {
		defer journal.Close()
		if info, err := journal.Stat(); err != nil || !info.Mode().IsRegular() {
			return
		}
		if n, _ := journal.ReadAt(head, 0); n == len(head) && !bytes.Equal(head, make([]byte, 8)) {
			f.found(Unsaved, -1, f.path+"-journal is of a transaction that did not end: open and close the database with sqlite3, which undoes it")
		}
	}
}

// offset returns where a page begins in the file.
func (f *File) offset(page uint32) int64 { return int64(page-1) * int64(f.page) }

// read reads a page, for the table of a root, into a buffer; nil if it cannot be used.
func (f *File) read(page, root uint32, buf []byte) []byte {
	switch {
	case page == 0:
		f.found(Corrupt, -1, "a reference to page 0")
		return nil
	case page > f.pages:
		f.found(Truncated, f.size, "a page behind the end of the file")
		return nil
	case f.owners[page] != 0 && f.owners[page] != root:
		f.found(Corrupt, f.offset(page), "a page that belongs to another table")
		return nil
	}
	f.owners[page] = root
	if n, err := f.fetch(page, buf[:f.page]); n < f.page {
		if err != nil && err != io.EOF {
			f.found(Truncated, f.offset(page), err.Error())
		} else {
			f.found(Truncated, f.offset(page), "the last page is cut")
		}
		return nil
	}
	return buf[:f.page]
}

// aheadBytes is how much is read at a time where pages follow each other, as most do.
const aheadBytes = 64 << 10

// fetch reads a page into a buffer; it returns how much of it there is.
func (f *File) fetch(page uint32, buf []byte) (n int, err error) {
	follows := page == f.latest+1
	f.latest = page
	held := func() bool { return page >= f.from && int(page-f.from) < len(f.ahead)/f.page }
	if !held() && follows {
		if f.ahead == nil {
			f.ahead = make([]byte, max(aheadBytes, f.page))
		}
		n, _ := f.file.ReadAt(f.ahead[:cap(f.ahead)], f.offset(page)) // what is missing is read once more, for its error
		f.ahead, f.from = f.ahead[:n], page
	}
	if held() {
		return copy(buf, f.ahead[int(page-f.from)*f.page:]), nil
	}
	return f.file.ReadAt(buf, f.offset(page))
}
