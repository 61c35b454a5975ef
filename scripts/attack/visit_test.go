package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAsk: one answer that should not be is enough.
func TestAsk(t *testing.T) {
	right := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.Method != http.MethodGet || r.Header.Get("Origin") != "" || r.Header.Get("X") != "" ||
			r.URL.Path != "/secret/" && (q.Get("to") == "100" || q.Get("from") == "NaN" || q.Get("steps") == "" || len(q.Get("to")) > 19) {
			w.WriteHeader(http.StatusBadRequest)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		wrong   string
	}{
		"as it should be": {right, ""},
		"all is given":    {func(http.ResponseWriter, *http.Request) {}, `"GET tile?from=0&to=100&steps=16385" is answered with 200`},
		"nothing":         {http.NotFound, `"GET " is answered with 404`},
		"fails":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"raw": {func(w http.ResponseWriter, r *http.Request) {
			right(w, r)
			_, _ = w.Write([]byte("\x1b[2J"))
		}, "control character"},
	} {
		s := httptest.NewServer(c.handler)
		files, wrong := ask(t.Context(), s.URL+"/secret/")
		s.Close()
		if c.wrong == "" && (wrong != "" || len(files) != 6) || !strings.Contains(wrong, c.wrong) {
			t.Errorf("%s: %q, %d files", name, wrong, len(files))
		}
	}
}

// TestVisit: what serves is interrupted, what ends without an address is not visited.
func TestVisit(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	for script, want := range map[string]int{"exit 3": 3, "trap 'exit 5' INT; echo " + s.URL + "/secret/; while :; do sleep 0.01; done": 5} {
		var text strings.Builder
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Stderr = os.Stderr
		v, _ := visit(t.Context(), cmd, &text)
		if code := cmd.ProcessState.ExitCode(); code != want || (v.wrong != "") != strings.Contains(text.String(), s.URL) {
			t.Errorf("%s: exit code %d, %q, %q", script, code, v.wrong, text.String())
		}
	}
}
