package arrowdir

import (
	"context"
	"errors"
	"testing"
)

// A lateContext ends when it has been asked a number of times.
type lateContext struct {
	context.Context
	asked int
}

func (c *lateContext) Err() error {
	if c.asked--; c.asked < 0 {
		return context.Canceled
	}
	return nil
}

// TestTableEndsWithContext: a table is given up within a group of rows, of which a large table
// has few.
func TestTableEndsWithContext(t *testing.T) {
	for asked, want := range map[int]error{1: context.Canceled, 1000: nil} {
		ctx := &lateContext{t.Context(), asked}
		err := WriteParquet(ctx, t.TempDir(), 1, Table{Name: "x",
			Columns: []TableColumn{{Name: "a"}, {Name: "b"}, {Name: "c"}},
			Fill:    func(r *Rows) { r.Int(1).Int(2).Int(3).End() }})
		if !errors.Is(err, want) {
			t.Errorf("asked %d times: %v, want %v", asked, err, want)
		}
	}
}
