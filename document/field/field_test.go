package field

import (
	"encoding/json"
	"testing"
)

// TestNames: a name is the text that it is as a string, and null where it is empty.
func TestNames(t *testing.T) {
	for _, n := range []string{"MPI_Send", `a "b" \c`, "<a>&", "é\u2028\x1b\x7f", "\xff", " ~"} {
		want, _ := json.Marshal(n)
		if got, err := Name(n).MarshalJSON(); string(got) != string(want) || err != nil {
			t.Errorf("%q: got %s, %v, want %s", n, got, err, want)
		}
	}
	if got, _ := Name("").MarshalJSON(); string(got) != "null" {
		t.Errorf("no name is %s", got)
	}
}
