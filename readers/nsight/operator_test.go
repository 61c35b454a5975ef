package nsight

import "testing"

// TestOperator states what is cut from the names of ranges, as texts and as bytes.
func TestOperator(t *testing.T) {
	for name, want := range map[string]string{"": "", "aten::view": "aten::view", "aten::view, op_id = 314290": "aten::view",
		"aten::mm, seq = 7, op_id = 9, sizes = [[2, 3]]": "aten::mm", "f, sizes = [], seq = 1": "f", "a, b, op_id = 3": "a, b",
		"a, op_id": "a, op_id", "a,": "a,", ", op_id = 3": ", op_id = 3"} {
		if got := operator(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
		if got := string(operator([]byte(name))); got != want {
			t.Errorf("bytes of %q: %q, want %q", name, got, want)
		}
	}
}
