// Package viewer serves a page of a trace on this machine, with the timeline at full
// resolution, to the one person who has its address. It knows the index of a timeline, and no
// format.
package viewer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tracekit/page"
)

// A Server serves one page and the tiles of its timelines. It answers GET requests alone, and only those whose address has the server's
// secret in it. They must come under the names of this machine's own interface, so that no other site's name can be made to point here. It
// answers none that another site's page makes.
type Server struct {
	listener net.Listener
	token    string
	page     []byte
	indexes  []*page.Index // by run
	slots    chan struct{} // one for each answer from an index that is being made or sent
}

// answersAtOnce bounds the memory of answers, whoever asks for how many and takes them how slowly.
const answersAtOnce = 4

// New listens on a port of the loopback interface; 0 takes a free one. There is an index for each
// run of the page.
func New(p []byte, indexes []*page.Index, port int) (*Server, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	secret := make([]byte, 18)
	_, _ = rand.Read(secret) // it never fails
	return &Server{listener: listener, token: base64.RawURLEncoding.EncodeToString(secret), page: p, indexes: indexes,
		slots: make(chan struct{}, answersAtOnce)}, nil
}

// URL returns the address of the page, with the secret.
func (s *Server) URL() string { return fmt.Sprintf("http://%s/%s/", s.listener.Addr(), s.token) }

// Port returns the port that is listened on.
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// Close gives the port back, of a server that is not to serve.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers requests until the context ends. Afterwards nothing asks the index any more.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 1 << 14,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	err := server.Serve(s.listener)
	for range cap(s.slots) { // what is being answered sees that nobody waits for it
		s.slots <- struct{}{}
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.local(r.Host) || !s.ours(r.Header.Get("Origin")) || foreign(r.Header.Get("Sec-Fetch-Site")) {
		http.Error(w, "this address is for the browser of this machine", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "read only", http.StatusMethodNotAllowed)
		return
	}
	token, path, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		http.Error(w, "the address is not whole: take the one that tracekit printed", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	run := uint64(0)
	if number, rest, several := strings.Cut(path, "/"); several { // those of the first run are asked for without a number
		var err error
		if run, err = strconv.ParseUint(number, 10, 16); err != nil || run >= uint64(len(s.indexes)) {
			http.NotFound(w, r)
			return
		}
		path = rest
	}
	index := s.indexes[run]
	switch path {
	case "":
		h.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(s.page) // a browser that goes away is no error
	case "tile":
		s.numbers(w, r, func(at []int64) ([]byte, error) { return index.Tile(r.Context(), at[0], at[1], int(at[2])) })
	case "curves":
		s.numbers(w, r, func(at []int64) ([]byte, error) {
			return index.Curves(r.Context(), int(min(at[3], math.MaxInt32)), at[0], at[1], int(at[2]))
		}, "counter")
	default:
		http.NotFound(w, r)
	}
}

// local reports whether a request is for this machine by its own name.
func (s *Server) local(host string) bool {
	name, port, err := net.SplitHostPort(host)
	// Through a tunnel the port is another one.
	return err == nil && port != "" && (name == "127.0.0.1" || name == "localhost")
}

// ours reports whether an Origin, if there is one, is a page of this server.
func (s *Server) ours(origin string) bool {
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && s.local(u.Host)
}

// foreign reports whether a browser says that another site asks.
func foreign(site string) bool { return site == "cross-site" || site == "same-site" }

// mostSteps is how many steps a tile has at most: a screen has fewer pixels.
const mostSteps = 16384

// numbers answers with what is found from one time to another, at so many steps. More names
// the further numbers of the request.
func (s *Server) numbers(w http.ResponseWriter, r *http.Request, find func(at []int64) ([]byte, error), more ...string) {
	var at []int64
	names := append([]string{"from", "to", "steps"}, more...)
	for _, name := range names {
		n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
		if err != nil || n < 0 {
			http.Error(w, "want the numbers "+strings.Join(names, ", "), http.StatusBadRequest)
			return
		}
		at = append(at, n)
	}
	if at[1] <= at[0] || at[2] == 0 || at[2] > mostSteps {
		http.Error(w, "nothing lies there", http.StatusBadRequest)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return
	}
	data, err := find(at)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data)
}
