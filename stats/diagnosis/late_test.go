package diagnosis

import (
	"strings"
	"testing"
)

// TestLateRanks: the records of rank 1 begin 3000 after those of rank 2, and nothing is recorded of rank 3.
func TestLateRanks(t *testing.T) {
	f := finderOf(t, `
location 0 rank=0
  2000 Enter main ; 9000 Leave main
location 1 rank=1
  4000 Enter main ; 9000 Leave main
location 2 rank=2
  1000 Enter main ; 9000 Leave main
location 3 rank=3
`)
	const want = " The records of rank 1 start last, 3.00 µs after those of rank 2."
	if text := f.late()[0].text; !strings.HasSuffix(text, want) {
		t.Errorf("got %q, want it to end in %q", text, want)
	}
}
