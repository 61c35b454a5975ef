package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// What is served is visited as a browser would, and as nobody should; then it is interrupted, as
// by Ctrl-C, while one request is half sent and one answer is not read.

// A query is asked of what serves a page.
type query struct {
	name   string // of the file that the answer is kept as; "": it is not kept
	method string
	path   string // below the address
	header [2]string
	codes  string // first digits of the codes that may be answered
}

// queries are asked of every page. The answers that are kept belong to the answer of the run.
var queries = []query{
	{name: "page.html", codes: "2"},
	{name: "tile-whole", path: "tile?from=0&to=9223372036854775807&steps=700", codes: "2"},
	{name: "tile-coarse", path: "tile?from=0&to=4611686018427387904&steps=1", codes: "2"},
	{name: "tile-begin", path: "tile?from=0&to=100000&steps=16384", codes: "2"},
	{name: "tile-one", path: "tile?from=1&to=2&steps=1", codes: "2"},
	{name: "tile-behind", path: "tile?from=9223372036854775806&to=9223372036854775807&steps=1", codes: "2"},
	{path: "tile?from=0&to=100&steps=16385", codes: "4"},
	{path: "tile?from=0&to=18446744073709551616&steps=9", codes: "4"},
	{path: "tile?from=-1&to=100&steps=9", codes: "4"},
	{path: "tile?from=NaN&to=1e9&steps=%00", codes: "4"},
	{path: "tile?from=0;to=9&steps=%zz", codes: "4"},
	{path: "tile", codes: "4"},
	{path: "..%2f..%2f..%2fetc%2fpasswd", codes: "4"},
	{path: strings.Repeat("x", 1<<15), codes: "4"},
	{path: "../", codes: "34"}, // without the secret
	{method: http.MethodPost, codes: "4"},
	{header: [2]string{"Origin", "http://example.com"}, codes: "4"},
	{header: [2]string{"X", strings.Repeat("x", 1<<15)}, codes: "4"},
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/[^/"\s]+/`)

// visited is what a visit found out.
type visited struct {
	answers []file
	wrong   string        // an answer that should not be
	ended   time.Duration // from the interrupt to the end
}

// visit starts a command, waits for the address that it prints, asks, and interrupts it. What ends
// without an address is not visited.
func visit(ctx context.Context, cmd *exec.Cmd, stdout io.Writer) (v visited, err error) {
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return v, err
	}
	if err := cmd.Start(); err != nil {
		return v, err
	}
	at := ""
	for r := bufio.NewReader(io.TeeReader(pipe, stdout)); at == ""; {
		line, err := r.ReadString('\n')
		if at = address.FindString(line); err != nil {
			break // it has ended, or has been killed
		}
	}
	var begin time.Time
	if at != "" {
		if v.answers, v.wrong = ask(ctx, at); v.wrong == "" {
			idle, err := linger(at)
			if err != nil {
				v.wrong = err.Error()
			}
			defer idle()
		}
		begin = time.Now()
		if err := cmd.Process.Signal(os.Interrupt); err != nil && v.wrong == "" {
			v.wrong = "it has ended by itself"
		}
	}
	_, _ = io.Copy(stdout, pipe) // what could not be read is no JSON
	err = cmd.Wait()
	if at != "" {
		v.ended = time.Since(begin)
	}
	return v, err
}

// ask returns the answers to all queries that are kept, and which one is not as it should be.
func ask(ctx context.Context, at string) (files []file, wrong string) {
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{Transport: transport, Timeout: mostWait, CheckRedirect: func(*http.Request,
		[]*http.Request) error {
		return http.ErrUseLastResponse
	}}
	defer transport.CloseIdleConnections()
	for _, q := range queries {
		data, code, err := q.ask(ctx, client, at)
		name := fmt.Sprintf("%.40q", cmp.Or(q.method, http.MethodGet)+" "+q.path)
		if err != nil {
			return files, fmt.Sprintf("%s: %v", name, err)
		}
		if !strings.Contains(q.codes, strconv.Itoa(code)[:1]) {
			return files, fmt.Sprintf("%s is answered with %d: %.80q", name, code, data)
		}
		if c := controlCharacter(data); c != "" && (code != http.StatusOK || q.path == "") {
			return files, fmt.Sprintf("%s is answered with a control character: %s", name, c)
		}
		if q.name != "" {
			files = append(files, file{q.name, data})
		}
	}
	return files, ""
}

func (q query) ask(ctx context.Context, client *http.Client, at string) (data []byte, code int, err error) {
	r, err := http.NewRequestWithContext(ctx, q.method, at, nil)
	if err != nil {
		return nil, 0, err
	}
	// As it stands: what is no address at all is asked for too.
	path, parameters, _ := strings.Cut(q.path, "?")
	r.URL = &url.URL{Scheme: "http", Host: r.URL.Host, Opaque: r.URL.Path + path, RawQuery: parameters}
	if q.header[0] != "" {
		r.Header.Set(q.header[0], q.header[1])
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	data, err = io.ReadAll(answer.Body)
	return data, answer.StatusCode, err
}

// linger leaves connections open: one has sent half a request, one does not read what it asked for.
func linger(at string) (end func(), err error) {
	u, err := url.Parse(at)
	var open []net.Conn
	end = func() {
		for _, c := range open {
			c.Close()
		}
	}
	for _, text := range []string{"GET " + u.Path + " HTTP/1.1\r\nHost: ", "GET " + u.Path + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"} {
		c, err := net.Dial("tcp", u.Host)
		if err != nil {
			return end, err
		}
		open = append(open, c)
		if _, err := io.Copy(c, bytes.NewBufferString(text)); err != nil {
			return end, err
		}
	}
	return end, err
}
