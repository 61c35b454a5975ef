package page

import (
	"context"
	"errors"
	"testing"
)

// A countedContext ends when it has been asked a number of times, and counts how often it was.
type countedContext struct {
	context.Context
	asked, ends int
}

func (c *countedContext) Err() error {
	if c.asked++; c.asked > c.ends {
		return context.Canceled
	}
	return nil
}

// TestPackEndsWithContext: data are not packed to their end when nobody waits for them.
func TestPackEndsWithContext(t *testing.T) {
	data := make([]byte, 1<<20)
	whole := &countedContext{t.Context(), 0, 1 << 20}
	if _, err := newPacker(whole).pack(data); err != nil || whole.asked < 16 {
		t.Errorf("asked %d times for 1 MiB, %v", whole.asked, err)
	}
	ended := &countedContext{t.Context(), 0, 3}
	if _, err := newPacker(ended).pack(data); !errors.Is(err, context.Canceled) || ended.asked != 4 {
		t.Errorf("asked %d times after its end, %v", ended.asked-3, err)
	}
}
