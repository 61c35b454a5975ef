package prompt

import "testing"

// TestPromptCompletes states what Tab adds: what all names that begin alike have in common.
func TestPromptCompletes(t *testing.T) {
	names := []string{"wait_ns", "wait_state", "waits", "calls"}
	for text, want := range map[string]string{"select w": "ait", "select wait_n": "s", "CA": "lls", "select x": "", "": "",
		"a,b(wait_s": "tate"} {
		if got := completion(names, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
