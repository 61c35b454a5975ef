package arrowdir

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tracekit/readers/internal/output"
	"tracekit/tempfile"
)

// A file of Arrow IPC whose rows are known by number is written by several goroutines, each value once, to where it stays. Its columns lie
// in one piece each, so that a program that maps the file need not copy them. The library writes all but the columns: it is given records
// of the right size, and where it writes these a gap is left. A system lets one goroutine at a time write to a file; so one more than
// there are jobs fills pieces meanwhile.

const (
	recordRows = 1 << 26 // of a record at most
	pieceRows  = 1 << 13 // that a goroutine fills at a time: a multiple of 8, a divisor of recordRows
)

// WriteArrowFile writes columns of the table, by their indices, as a file of Arrow IPC. Names are dictionaries. Jobs goroutines write it if
// any rows can be had alone. It fails once the context has ended.
func (t Table) WriteArrowFile(ctx context.Context, f *os.File, jobs int, wanted []int) error {
	w := &arrowFile{shell: shell{file: f}, table: t, parts: t.parts(), wanted: wanted}
	rows := 0
	for _, p := range w.parts {
		w.starts, rows = append(w.starts, rows), rows+p.Rows
	}
	if rows == 0 || slices.ContainsFunc(w.parts, func(p Part) bool { return p.Fill == nil }) {
		out := bufio.NewWriterSize(tempfile.Cancelable{Context: ctx, Writer: f}, 1<<16)
		return errors.Join(t.WriteArrow(out, false, wanted), out.Flush())
	}
	if err := w.layOut(rows); err != nil {
		return err
	}
	if err := w.fill(ctx, jobs, rows); err != nil {
		return err
	}
	return w.end()
}

// An arrowFile is a file that is being written.
type arrowFile struct {
	shell
	table   Table
	parts   []Part
	starts  []int // of parts, the rows before them
	wanted  []int
	writing sync.Mutex // of columns
	records []*fileRecord
}

// A fileRecord is a record of a file.
type fileRecord struct {
	rows    int
	meta    gap          // the message that describes it
	columns []fileColumn // by place in wanted
}

// A fileColumn is a column of a record.
type fileColumn struct {
	valid, values gap
	width         int // of a value
	missing       int
	full          []int64 // the first rows of pieces that miss no value, of which valid is not written
}

// errInPlace says that the library writes records otherwise than this file expects.
var errInPlace = errors.New("columns cannot be written in place")

// A gap is bytes of a file that are written later.
type gap struct{ at, size int64 }

// A shell writes what the library writes, but for room, and notes where all of it would be.
type shell struct {
	file io.WriterAt
	at   int64
	room []byte // never written
	gaps []gap
	last gap // what was written last that is no room and no padding
}

func (s *shell) Write(p []byte) (int, error) {
	g := gap{s.at, int64(len(p))}
	s.at += g.size
	if len(p) > 0 && len(s.room) > 0 && &p[0] == &s.room[0] {
		s.gaps = append(s.gaps, g)
		return len(p), nil
	}
	if len(p) > 64 {
		s.last = g
	}
	return s.file.WriteAt(p, g.at)
}

// Seek tells the library where it is; it goes nowhere else.
func (s *shell) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.ErrUnsupported
	}
	return s.at, nil
}

// unknown is what a record first says to miss in a column: more than it has rows.
func unknown(column int) int64 { return 1<<48 + int64(column) }

// layOut writes all but the columns.
func (w *arrowFile) layOut(rows int) error {
	var chosen []TableColumn
	for _, i := range w.wanted {
		chosen = append(chosen, w.table.Columns[i])
	}
	columns, schema := resultColumns(chosen, true)
	w.room = make([]byte, 8*min(rows, recordRows))
	out, err := ipc.NewFileWriter(&w.shell, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	for first := 0; first < rows; first += recordRows {
		n := min(rows-first, recordRows)
		r := &fileRecord{rows: n}
		arrays := make([]arrow.Array, len(columns))
		w.gaps = w.gaps[:0]
		for i, c := range columns {
			buffers := []*memory.Buffer{memory.NewBufferBytes(w.room[:(n+7)/8]), memory.NewBufferBytes(w.room[:n*c.width()])}
			var data *array.Data
			if c.names == nil {
				data = array.NewData(c.dtype, n, buffers, nil, int(unknown(i)), 0)
			} else {
				data = array.NewDataWithDictionary(c.dtype, n, buffers, int(unknown(i)), 0, c.names.Data().(*array.Data))
			}
			arrays[i] = array.MakeFromData(data)
		}
		if err := out.Write(array.NewRecord(schema, arrays, int64(n))); err != nil {
			return err
		}
		r.meta = w.last
		if len(w.gaps) != 2*len(columns) {
			return errInPlace
		}
		for i := range columns {
			r.columns = append(r.columns, fileColumn{valid: w.gaps[2*i], values: w.gaps[2*i+1], width: columns[i].width()})
		}
		w.records = append(w.records, r)
	}
	return out.Close()
}

// fill writes the columns, piece by piece.
func (w *arrowFile) fill(ctx context.Context, jobs, rows int) error {
	var next atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, 1+output.Workers(jobs))
	for k := range errs {
		group.Go(func() {
			columns := w.table.plainColumns()
			wanted := make([]bool, len(columns))
			for _, i := range w.wanted {
				wanted[i] = true
			}
			for errs[k] == nil {
				first := int(next.Add(pieceRows)) - pieceRows
				if first >= rows {
					return
				}
				if errs[k] = ctx.Err(); errs[k] == nil {
					errs[k] = w.piece(columns, wanted, first, min(rows-first, pieceRows))
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// piece fills rows and writes them.
func (w *arrowFile) piece(columns []resultColumn, wanted []bool, first, rows int) error {
	for i := range columns {
		columns[i].empty()
	}
	part := sort.Search(len(w.starts), func(i int) bool { return w.starts[i] > first }) - 1
	for n, at := 0, first-w.starts[part]; n < rows; part, at = part+1, 0 {
		if b := (Block{min(rows-n, w.parts[part].Rows-at), columns, wanted}); b.Rows > 0 {
			w.parts[part].Fill(&b, at)
			n += b.Rows
		}
	}
	r, at := w.records[first/recordRows], int64(first%recordRows)
	w.writing.Lock()
	defer w.writing.Unlock()
	for k, i := range w.wanted {
		if err := w.put(&r.columns[k], &columns[i], at, rows); err != nil {
			return err
		}
	}
	return nil
}

// put writes a piece of a column. What is not written is 0.
func (w *arrowFile) put(to *fileColumn, c *resultColumn, at int64, rows int) error {
	to.missing += c.missing
	if c.missing == 0 {
		to.full = append(to.full, at)
	} else if _, err := w.file.WriteAt(c.valid, to.valid.at+at/8); err != nil {
		return err
	}
	if c.missing == rows {
		return nil
	}
	_, err := w.file.WriteAt(c.bytes(to.width), to.values.at+at*int64(to.width))
	return err
}

// end writes what is known once all rows are: how many values columns miss, and which are there if not all are.
func (w *arrowFile) end() error {
	file, ok := w.file.(io.ReaderAt)
	if !ok {
		return errors.ErrUnsupported
	}
	ones := bytes.Repeat([]byte{0xff}, pieceRows/8)
	for _, r := range w.records {
		var lengths, buffers [2][]byte // of all columns: rows and missing values; place and size of validity and values. As said, as they are
		pair := func(to *[]byte, a, b int64) {
			*to = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(*to, uint64(a)), uint64(b))
		}
		for i, c := range r.columns {
			pair(&lengths[0], int64(r.rows), unknown(i))
			pair(&lengths[1], int64(r.rows), int64(c.missing))
			valid := c.valid.size
			for k := range buffers {
				if k == 1 && c.missing == 0 {
					valid = 0
				}
				pair(&buffers[k], c.valid.at-r.columns[0].valid.at, valid)
				pair(&buffers[k], c.values.at-r.columns[0].valid.at, c.values.size)
			}
			for _, at := range c.full {
				if c.missing == 0 {
					break
				}
				if _, err := w.file.WriteAt(ones[:(min(pieceRows, int64(r.rows)-at)+7)/8], c.valid.at+at/8); err != nil {
					return err
				}
			}
		}
		meta, err := bytesAt(file, r.meta.at, r.meta.size)
		if err != nil {
			return err
		}
		for _, x := range [][2][]byte{lengths, buffers} {
			at := bytes.Index(meta, x[0])
			if at < 0 {
				return errInPlace
			}
			if _, err := w.file.WriteAt(x[1], r.meta.at+int64(at)); err != nil {
				return err
			}
		}
	}
	return nil
}
