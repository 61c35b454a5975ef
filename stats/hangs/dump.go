package hangs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tracekit/document"
	"tracekit/trace"
)

// A dump is what one rank has recorded.
type dump struct {
	rank    int
	cut     bool              // there may be more of it
	groups  map[string]*group // by name
	entries []*entry          // as they were called
}

// A group is a process group.
type group struct {
	name, about string
	ranks       []int // by rank in the group; nil: not recorded
}

// String names a group: by its number, and by what its maker said of it.
func (g *group) String() string {
	if g.about == "" || g.about == "undefined" {
		return "group " + g.name
	}
	return fmt.Sprintf("group %s (%s)", g.name, g.about)
}

// An entry is an operation that a rank has called.
type entry struct {
	record   int64
	group    string
	about    string
	seq, p2p int64 // of a group's collectives and messages; several that are made at once have the same
	op       string
	peer     int  // rank in the group that a message is sent to or received from
	message  bool // it is a message: op is send or recv
	state    state
	over     bool  // its rank no longer waits; gloo does not record what became of it
	created  int64 // ns since 1970
	in, out  tensors
	frames   any // of its rank's last entry: where it was called
}

// tensors are what an operation is called with.
type tensors struct{ sizes, types any }

type state uint8

const (
	scheduled state = iota // its host has called it
	started
	completed
)

var states = map[string]state{"scheduled": scheduled, "started": started, "completed": completed}

// largest is how many bytes a dump may have.
const largest = 1 << 30

var (
	rankOf     = trace.Expression(`(\d+)$`)
	messageOf  = trace.Expression(`^(send|recv) (\d+)(?:->|<-)(\d+)$`)
	errNoDump  = errors.New("it is no dump of a flight recorder: it has no entries")
	errNeither = errors.New("it is neither a pickle nor JSON")
	errNoRank  = errors.New("its name does not end in the number of a rank")
)

// Sniff reports whether a file, or one in a directory, looks like a dump of a flight recorder.
func Sniff(path string) bool {
	for _, name := range files(path) {
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() { // a pipe may wait for its writer forever
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		head := make([]byte, 1<<16)
		n, _ := io.ReadFull(f, head)
		f.Close()
		head = bytes.TrimLeft(head[:n], " \n\t")
		plain := bytes.HasPrefix(head, []byte("{")) || bytes.HasPrefix(head, []byte{0x80})
		if plain && (bytes.Contains(head, []byte("pg_config")) || bytes.Contains(head, []byte("collective_seq_id"))) {
			return true
		}
	}
	return false
}

// files returns the files of a directory in order of their names, or the file itself.
func files(path string) []string {
	entries, err := os.ReadDir(path)
	if err != nil {
		return []string{path}
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	return out
}

// finding says something about a file.
func finding(code trace.Code, file string, what any) document.Finding {
	return document.Finding{Code: string(code), Severity: code.Severity().String(), Count: 1,
		Text: fmt.Sprintf("%s: %v", filepath.Base(file), what)}
}

// read reads the dumps of files and directories, by rank. What cannot be read is a finding; an error is that nothing could be.
func read(paths []string) (dumps []*dump, findings []document.Finding, err error) {
	byRank := make(map[int]*dump)
	findings = []document.Finding{}
	var first error
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return nil, nil, err
		}
		for _, name := range files(path) {
			d, found, err := readFile(name)
			findings = append(findings, found...)
			switch {
			case err != nil:
				if first == nil || errors.Is(first, errNoRank) { // of a file that has the name of a dump there is more to say
					first = fmt.Errorf("%s: %w", filepath.Base(name), err)
				}
				findings = append(findings, finding(trace.CodeMissingFile, name, err))
			case byRank[d.rank] != nil:
				findings = append(findings, finding(trace.CodeDuplicateDefinition, name,
					fmt.Sprintf("another file is of rank %d too; the first one is used", d.rank)))
			default:
				byRank[d.rank] = d
				dumps = append(dumps, d)
			}
		}
	}
	if len(dumps) == 0 {
		return nil, nil, noDump(paths, first)
	}
	slices.SortFunc(dumps, func(a, b *dump) int { return cmp.Compare(a.rank, b.rank) })
	return dumps, findings, nil
}

// noDump says what a dump looks like, and what is wrong with the first file that has the name of one.
func noDump(paths []string, first error) error {
	const none, looks = "no dump of PyTorch's flight recorder",
		"a dump has one file per rank (pickle or JSON), whose name ends in the rank, such as nccl_trace_rank_0"
	where := strings.Join(paths, ", ")
	if first == nil || errors.Is(first, errNoRank) {
		return fmt.Errorf("%s: %s; %s", where, none, looks)
	}
	return fmt.Errorf("%s: %s (%w); %s", where, none, first, looks)
}

// readFile reads one dump. Its name ends in the rank.
func readFile(name string) (*dump, []document.Finding, error) {
	base := filepath.Base(name)
	for _, extension := range []string{".json", ".pickle", ".pkl", ".pt"} {
		base = strings.TrimSuffix(base, extension)
	}
	rank, err := strconv.Atoi(rankOf().FindString(base))
	if err != nil {
		return nil, nil, errNoRank
	}
	data, err := content(name)
	if err != nil {
		return nil, nil, err
	}
	d, left, broken := parse(data)
	if d == nil {
		return nil, nil, cmp.Or(broken, errNoDump)
	}
	d.rank = rank
	var findings []document.Finding
	if broken != nil {
		code := trace.CodeCorrupt
		if errors.Is(broken, errCut) {
			code = trace.CodeTruncated
		}
		findings = append(findings, finding(code, name, broken))
	}
	if left > 0 {
		f := finding(trace.CodeBadValue, name, "an operation has no name, group or number; it was left out")
		f.Count = left
		findings = append(findings, f)
	}
	return d, findings, nil
}

// content reads a file, which is not a pipe or a device that may never end.
func content(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("it is a directory, pipe or device: write its content into a file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(data) > largest {
		err = fmt.Errorf("it has more than %d bytes", largest)
	}
	return data, err
}

// parse returns the dump in a file, how many operations were left out, and what is wrong with the file.
func parse(data []byte) (d *dump, left uint64, broken error) {
	decode := unpickle
	if bytes.HasPrefix(bytes.TrimLeft(data, " \n\t\r"), []byte("{")) {
		decode = unjson
	}
	root, broken := decode(data)
	top, _ := root.(dict)
	entries, ok := top["entries"].(*list)
	if !ok {
		if start := bytes.TrimLeft(data, " \n\t\r"); !bytes.HasPrefix(start, []byte("{")) && !bytes.HasPrefix(data, []byte{0x80}) {
			broken = errNeither // as the first instruction of a pickle would tell
		}
		return nil, 0, broken
	}
	d = &dump{groups: make(map[string]*group), cut: broken != nil}
	groups, _ := top["pg_config"].(dict)
	for name, x := range groups {
		if x, ok := x.(dict); ok {
			about, _ := x["desc"].(string)
			d.groups[name] = &group{name, about, ranks(x["ranks"])}
		}
	}
	for i, x := range entries.items {
		e := newEntry(x)
		if e == nil {
			if !d.cut || i+1 < len(entries.items) {
				left++
			}
			continue
		}
		d.entries = append(d.entries, e)
	}
	slices.SortStableFunc(d.entries, func(a, b *entry) int { return cmp.Compare(a.record, b.record) })
	d.entries = coalesce(d.entries)
	for _, e := range d.entries[:max(0, len(d.entries)-1)] {
		e.frames = nil
	}
	return d, left, broken
}

// ranks reads the ranks of a group: a list, or a text such as [0, 1].
func ranks(x any) (out []int) {
	if text, ok := x.(string); ok {
		for _, part := range strings.Split(strings.Trim(text, "[]"), ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
			if err != nil || n < 0 {
				return nil
			}
			out = append(out, int(n))
		}
		return out
	}
	l, _ := x.(*list)
	if l == nil {
		return nil
	}
	for _, item := range l.items {
		n, ok := item.(int64)
		if !ok || n < 0 || n > 1<<31 {
			return nil
		}
		out = append(out, int(n))
	}
	return out
}

// newEntry reads an operation; nil if it lacks what it needs.
func newEntry(x any) *entry {
	m, _ := x.(dict)
	name, ok := m["profiling_name"].(string)
	if !ok {
		return nil
	}
	e := &entry{in: tensors{m["input_sizes"], m["input_dtypes"]}, out: tensors{m["output_sizes"], m["output_dtypes"]}, frames: m["frames"]}
	if _, e.op, ok = strings.Cut(name, ":"); !ok {
		e.op = name
	}
	switch g := m["process_group"].(type) {
	case *list:
		if len(g.items) > 0 {
			e.group, _ = g.items[0].(string)
		}
		if len(g.items) > 1 {
			e.about, _ = g.items[1].(string)
		}
	case string:
		e.group = g
	}
	text, _ := m["state"].(string)
	if e.state, ok = states[text]; !ok || e.group == "" {
		return nil
	}
	retired, _ := m["retired"].(bool)
	e.over = retired && e.state == scheduled && strings.HasPrefix(name, "gloo:")
	numbers := 0
	for key, to := range map[string]*int64{"record_id": &e.record, "collective_seq_id": &e.seq, "p2p_seq_id": &e.p2p,
		"time_created_ns": &e.created} {
		if n, ok := m[key].(int64); ok {
			*to = n
			numbers++
		}
	}
	if numbers < 3 {
		return nil
	}
	if part := messageOf().FindStringSubmatch(e.op); part != nil {
		peer, err := strconv.ParseInt(part[3], 10, 32)
		if err != nil {
			return nil
		}
		e.op, e.peer, e.message = part[1], int(peer), true
	}
	return e
}

// coalesced is the operation that ends several ones that are made at once.
const coalesced = "coalesced"

// coalesce gives operations that are made at once the state of the one that ends them, and leaves that out.
func coalesce(entries []*entry) (out []*entry) {
	parts := make(map[string][]*entry) // by group
	for _, e := range entries {
		if e.op != coalesced {
			out, parts[e.group] = append(out, e), append(parts[e.group], e)
			continue
		}
		for _, part := range slices.Backward(parts[e.group]) {
			if part.seq != e.seq || part.p2p != e.p2p || part.state >= e.state {
				break
			}
			part.state = e.state
		}
	}
	return out
}
