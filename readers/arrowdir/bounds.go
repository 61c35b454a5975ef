package arrowdir

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// A checksum tells damage, not malice: who writes a file on purpose writes its checksum,
// too. Therefore tables must have exactly the columns that a writer makes, sizes must fit
// the file, and what the libraries allocate is bounded; the library's own goroutines, whose
// panics nobody could catch, are not used. A Parquet page that decompresses to more than it
// announces is refused only when that has happened: the library decompresses it whole.

// bounded is an allocator that refuses, by a panic, what is larger than any sound file of
// that size needs.
type bounded struct {
	memory.Allocator
	limit int64
}

func newBounded(limit int64) bounded { return bounded{memory.NewGoAllocator(), limit} }

func (b bounded) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b bounded) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

func (b bounded) check(size int) {
	if size < 0 || int64(size) > b.limit {
		panic(fmt.Sprintf("it asks for %d bytes of memory, %d are plausible", size, b.limit))
	}
}

// checkSchema states that a table has the columns that its writer makes.
func checkSchema(got, want *arrow.Schema) error {
	if got.NumFields() != want.NumFields() {
		return fmt.Errorf("%d columns, want %d", got.NumFields(), want.NumFields())
	}
	for i, w := range want.Fields() {
		if g := got.Field(i); g.Name != w.Name || !sameType(g.Type, w.Type) {
			return fmt.Errorf("column %d is %q of type %s, want %q of type %s", i, g.Name, g.Type, w.Name, w.Type)
		}
	}
	return nil
}
