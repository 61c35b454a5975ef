package merge_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tracekit/merge"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

var update = flag.Bool("update", false, "write the goldens")

// Each file of testdata is a case: a comment that says what it shows and why the result
// must be so, a trace in text form, options if any, and what merging makes of it.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := make(map[string]string)
	for _, f := range archive.Files {
		section[f.Name] = string(f.Data)
	}
	src := tracetest.MustParse(t, section["trace"])
	opts := options(t, section["options"])
	got := ""
	for _, jobs := range []int{1, 4} {
		opts.Jobs = jobs
		merged, err := merge.Merge(t.Context(), src, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := tracetest.CheckTrace(merged); err != nil {
			t.Errorf("the merged trace is not sound: %v", err)
		}
		listed := list(merged)
		merged.Store.Close()
		if got != "" && got != listed {
			t.Errorf("result depends on the number of jobs:\n%s\n%s", got, listed)
		}
		got = listed
	}
	if got == section["want"] {
		return
	}
	if !*update {
		t.Errorf("%sgot:\n%s\nwant:\n%s", archive.Comment, got, section["want"])
		return
	}
	out := &txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		if f.Name != "want" {
			out.Files = append(out.Files, f)
		}
	}
	out.Files = append(out.Files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(file, txtar.Format(out), 0o666); err != nil {
		t.Fatal(err)
	}
}

// options reads the options of a case: lines "key value".
func options(t *testing.T, text string) (o merge.Options) {
	for line := range strings.Lines(text) {
		var mode string
		if n, _ := fmt.Sscanf(line, "clock %s", &mode); n == 1 {
			o.Clock = merge.ClockMode(mode)
			continue
		}
		if n, _ := fmt.Sscanf(line, "latency %d", &o.MinLatency); n == 1 {
			continue
		}
		t.Fatalf("option %q", line)
	}
	return o
}

// list writes a merged trace as text: what belongs together stands in one line. A call is
// named location/row.
func list(t *trace.Trace) string {
	var b strings.Builder
	for l := range t.Calls {
		for i := range t.Calls[l].Len() {
			listCall(&b, t, l, i)
		}
	}
	for l := range t.Sends {
		for i := range t.Sends[l].Len() {
			listSend(&b, t, l, i)
		}
	}
	for l := range t.Recvs {
		for i := range t.Recvs[l].Len() {
			listRecv(&b, t, l, i)
		}
	}
	for i := range t.Collectives.Len() {
		listCollective(&b, t, i)
	}
	listClock(&b, t)
	for _, f := range t.Findings {
		at := ""
		if f.First.Location != trace.None {
			at = fmt.Sprintf(" at %d:%d", f.First.Location, f.First.Seq)
		}
		fmt.Fprintf(&b, "%s %s %d%s: %s\n", f.Code.Severity(), f.Code, f.Count, at, f.Text)
	}
	return b.String()
}

func listCall(b *strings.Builder, t *trace.Trace, l, i int) {
	c := t.Calls[l].At(i)
	var path []string
	for _, r := range t.Tree.Regions(c.Path) {
		path = append(path, t.Defs.RegionName(r))
	}
	fmt.Fprintf(b, "call %d/%d %d..%d %s", l, i, c.Enter, c.Leave, strings.Join(path, ">"))
	if c.Coll != trace.None {
		fmt.Fprintf(b, " collective %d", c.Coll)
	}
	if c.Open {
		fmt.Fprint(b, " open")
	}
	fmt.Fprintln(b)
}

func id(n uint32) string {
	if n == trace.None {
		return "-"
	}
	return fmt.Sprint(n)
}

func listSend(b *strings.Builder, t *trace.Trace, l, i int) {
	s := t.Sends[l].At(i)
	fmt.Fprintf(b, "send %d:%d at %d to %s comm %s tag %d: call %s, done in %s", l, s.Seq(), s.Time, id(s.To(t.Rank)),
		id(uint32(s.Comm)), s.Tag, id(s.Call), id(s.Done))
	switch s.State {
	case trace.Matched:
		r := t.Recvs[s.RecvLoc].At(int(s.Recv))
		fmt.Fprintf(b, "; received by %d:%d", s.RecvLoc, r.Seq())
	default:
		fmt.Fprint(b, "; ", [...]string{"unmatched", "", "cancelled", "unusable"}[s.State])
	}
	fmt.Fprintln(b)
}

func listRecv(b *strings.Builder, t *trace.Trace, l, i int) {
	r := t.Recvs[l].At(i)
	fmt.Fprintf(b, "recv %d:%d at %d from %s comm %s tag %d: call %s, posted by %s at :%d", l, r.Seq(), r.Time, id(r.From(t.Rank)),
		id(uint32(r.Comm)), r.Tag, id(r.Call), id(r.Post), r.PostSeq)
	if r.State != trace.Matched {
		fmt.Fprint(b, "; ", [...]string{"unmatched", "", "cancelled", "unusable"}[r.State])
	}
	fmt.Fprintln(b)
}

func listCollective(b *strings.Builder, t *trace.Trace, i int) {
	c := t.Collectives.At(i)
	fmt.Fprintf(b, "collective %d %s comm %d root %s size %d:", i, c.Op, c.Comm, id(c.Root), c.Size)
	for k := range int(c.Count) {
		m := t.Members.At(int(c.First) + k)
		fmt.Fprintf(b, " %d=%d/%s", m.Rank, m.Location, id(m.Call))
		if m.Done != m.Call {
			fmt.Fprintf(b, "-%s", id(m.Done))
		}
		fmt.Fprintf(b, " (%d..%d)", m.Begin, m.End)
	}
	if c.Mismatch {
		fmt.Fprint(b, " mismatch")
	}
	fmt.Fprintln(b)
}

// listClock says nothing of a clock that is right as it is.
func listClock(b *strings.Builder, t *trace.Trace) {
	c := t.Clock
	if c.Method == trace.ClockNone && c.Messages == (trace.Violations{}) && c.Collectives == (trace.Violations{}) {
		return
	}
	fmt.Fprintf(b, "clock %s, messages %+v, collectives %+v, largest shift %d\n", c.Method, c.Messages, c.Collectives, c.MaxShift)
	for l := range c.Maps {
		for _, rows := range c.Maps[l].Knots.Rows {
			for _, k := range rows {
				fmt.Fprintf(b, "clock of %d: at %d + %d\n", l, k.Time, k.Shift)
			}
		}
	}
}
