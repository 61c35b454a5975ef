package report

import (
	"fmt"
	"testing"
)

// TestShrunkBlock states that a block that loses items says how many.
func TestShrunkBlock(t *testing.T) {
	b := &block{least: 1, items: [][]string{{"a", "more"}, {"b", "more"}, {"c"}}, ending: func(items int) []string {
		return []string{fmt.Sprintf("%d more", 3-items)}
	}}
	for b.shrink() {
	}
	if len(b.items) != 1 || len(b.items[0]) != 2 || b.tail[0] != "2 more" {
		t.Errorf("%q, %q", b.items, b.tail)
	}
}
