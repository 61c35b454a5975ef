package viewer

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tracekit/merge"
	"tracekit/page"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
)

func server(t *testing.T) *Server {
	t.Helper()
	ctx := context.Background()
	m := statstest.Generated(t, samples.Options{Program: "ring", Ranks: 3, Iterations: 5, Seed: 1})
	tr, a := statstest.Analyzed(t, m, merge.Options{}, analysis.Options{})
	index, _, err := page.NewIndex(ctx, tr, a, page.Bounds(page.DefaultSize), 1)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New([]byte("the page"), []*page.Index{index}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRequests: only who has the address gets an answer, and nobody can change anything.
func TestRequests(t *testing.T) {
	s := server(t)
	defer s.Close()
	host := s.listener.Addr().String()
	for _, c := range []struct {
		name, method, host, path string
		header                   [2]string
		want                     int
	}{
		{"the page", "GET", host, "/TOKEN/", [2]string{}, 200},
		{"through a tunnel", "GET", "localhost:9999", "/TOKEN/", [2]string{}, 200},
		{"from the page", "GET", host, "/TOKEN/tile?from=0&to=1000&steps=100", [2]string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"of the first run", "GET", host, "/TOKEN/0/tile?from=0&to=1000&steps=100", [2]string{}, 200},
		{"curves", "GET", host, "/TOKEN/curves?from=0&to=1000&steps=100&counter=0", [2]string{}, 200},
		{"of no counter", "GET", host, "/TOKEN/curves?from=0&to=1000&steps=100&counter=9223372036854775807", [2]string{}, 200},
		{"curves of what", "GET", host, "/TOKEN/curves?from=0&to=1000&steps=100", [2]string{}, 400},
		{"a run that is not there", "GET", host, "/TOKEN/1/tile?from=0&to=1000&steps=100", [2]string{}, 404},
		{"no run", "GET", host, "/TOKEN/-1/tile?from=0&to=1000&steps=100", [2]string{}, 404},
		{"no secret", "GET", host, "/", [2]string{}, 404},
		{"another secret", "GET", host, "/" + strings.Repeat("A", 24) + "/", [2]string{}, 404},
		{"half of it", "GET", host, "/" + s.token[:12] + "/", [2]string{}, 404},
		{"another file", "GET", host, "/TOKEN/../../etc/passwd", [2]string{}, 404},
		{"a name that points here", "GET", "rebound.example:80", "/TOKEN/", [2]string{}, 403},
		{"a name like ours", "GET", "localhost.example:80", "/TOKEN/", [2]string{}, 403},
		{"no host", "GET", "", "/TOKEN/", [2]string{}, 403},
		{"another site's page", "GET", host, "/TOKEN/", [2]string{"Origin", "http://example.com"}, 403},
		{"a page on disk", "GET", host, "/TOKEN/", [2]string{"Origin", "null"}, 403},
		{"another site's image", "GET", host, "/TOKEN/", [2]string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"writing", "POST", host, "/TOKEN/", [2]string{}, 405},
		{"deleting", "DELETE", host, "/TOKEN/", [2]string{}, 405},
		{"no stretch", "GET", host, "/TOKEN/tile", [2]string{}, 400},
		{"backwards", "GET", host, "/TOKEN/tile?from=9&to=3&steps=1", [2]string{}, 400},
		{"below zero", "GET", host, "/TOKEN/tile?from=-9&to=3&steps=1", [2]string{}, 400},
		{"too many steps", "GET", host, "/TOKEN/tile?from=0&to=3&steps=1000000000", [2]string{}, 400},
		{"behind the end", "GET", host, "/TOKEN/tile?from=9000000000000000000&to=9223372036854775807&steps=10", [2]string{}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, strings.Replace(c.path, "TOKEN", s.token, 1), nil)
			r.Host = c.host
			if c.header[0] != "" {
				r.Header.Set(c.header[0], c.header[1])
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("%d, want %d", w.Code, c.want)
			}
			if w.Code != 200 && strings.Contains(w.Body.String(), s.token) {
				t.Error("the answer has the secret")
			}
		})
	}
}

// TestServe: the server answers under its address until its context ends, and on no other
// interface than the loopback's.
func TestServe(t *testing.T) {
	s := server(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	answer, err := http.Get(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "the page" {
		t.Errorf("%q, %v", body, err)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("it listens on %s", s.listener.Addr())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestGreedy: who asks for many tiles and takes none of them keeps no more than a few of them in
// memory, and does not keep the server from ending.
func TestGreedy(t *testing.T) {
	s := server(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx) }()
	for range answersAtOnce {
		s.slots <- struct{}{} // as many are being sent
	}
	asked, stop := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(asked, http.MethodGet, s.URL()+"tile?from=0&to=1000&steps=10", nil)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			err = answer.Body.Close()
		}
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Errorf("one more tile was made: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	<-s.slots
	if err := <-answered; err != nil {
		t.Error(err)
	}
	stop()
	for range answersAtOnce - 1 {
		<-s.slots
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
