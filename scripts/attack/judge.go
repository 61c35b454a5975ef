package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tracekit/trace/tracetest/mutate"
)

// An outcome says what came of a run.
type outcome int

const (
	same      outcome = iota // the answer is that of the sound trace
	refused                  // the trace was refused with a reason
	announced                // the answer is another, and findings say so
	valued                   // the answer is another since values in records are
	natural                  // the answer is another, and the format cannot know
	bad
	outcomes
)

// String returns the column of the table.
func (o outcome) String() string {
	return [...]string{"same", "refused", "announced", "value", "by nature", "bad"}[o]
}

// The limits beyond those of a sound run.
const (
	leastHang   = 20 * time.Second
	leastMemory = 300 << 20 // bytes
	mostEnding  = 500 * time.Millisecond
)

// hang returns how much time of the processors a command may take that takes so much on the sound
// trace. Other programs on the machine do not count.
func hang(sound time.Duration) time.Duration { return max(leastHang, 20*sound+2*time.Second) }

// A judgement is all that is known of a run.
type judgement struct {
	campaign *campaign
	plan     plan
	dir      string
	baseline *baseline
	ending   ending
	files    []file // below out
	mutants  []mutant
}

// How the reasons begin that depend on how much a process has done before.
const (
	slow   = "hang: "
	memory = "memory: "
)

// crashes are words that a program writes that did not expect what it met.
var crashes = []string{"panic:", "runtime error", "fatal error:", "\ngoroutine ", "SIGSEGV"}

// judge returns the outcome, and the reason of a bad one.
func (j *judgement) judge(ctx context.Context) (outcome, string) {
	e := &j.ending
	for _, word := range crashes {
		if bytes.Contains(e.stderr, []byte(word)) || !j.plan.document && bytes.Contains(e.stdout, []byte(word)) {
			return bad, "crash: " + word
		}
	}
	if limit := hang(j.baseline.spent); e.killed || e.spent > limit {
		return bad, fmt.Sprintf("%s%v of the processors", slow, e.spent)
	}
	if limit := max(leastMemory, 2*j.baseline.peak); e.peak > limit {
		return bad, fmt.Sprintf("%s%d MB", memory, e.peak>>20)
	}
	documented := []int{0, 1, 3}
	if slices.Contains(j.plan.command.args, "--strict") {
		documented = append(documented, 4)
	}
	if slices.Contains([]string{"profile", "index"}, j.plan.sample.format) {
		documented = append(documented, 2) // it is the value of a flag
	}
	if e.wrong != "" {
		return bad, "answer: " + e.wrong
	}
	if e.ended > mostEnding {
		return bad, fmt.Sprintf("slow end: %v after the interrupt", e.ended)
	}
	if !slices.Contains(documented, e.code) && e.code != j.baseline.code {
		return bad, fmt.Sprintf("exit code %d", e.code)
	}
	for name, text := range map[string][]byte{"output": e.stdout, "errors": e.stderr} {
		if c := controlCharacter(text); c != "" {
			return bad, "control character in " + name + ": " + c
		}
	}
	if left, _ := os.ReadDir(filepath.Join(j.dir, "tmp")); len(left) > 0 {
		return bad, "left behind: tmp/" + left[0].Name()
	}
	if e.left != "" {
		return bad, "left behind: " + e.left
	}
	if e.code >= 1 && e.code <= 3 {
		if len(j.files) > 0 {
			return bad, "left behind: out/" + j.files[0].name
		}
		if len(e.stderr) == 0 {
			return bad, "refused without a word"
		}
		return refused, firstLine(e.stderr)
	}
	if !j.plan.document {
		return same, "" // documents are compared
	}
	return j.compare(ctx)
}

// compare judges an answer.
func (j *judgement) compare(ctx context.Context) (outcome, string) {
	a, err := readAnswer(j.ending.stdout, j.files)
	if err != nil {
		return bad, err.Error()
	}
	if a.sum == j.baseline.answer.sum {
		return same, ""
	}
	if _, codes := a.more(j.baseline.answer); len(codes) > 0 || j.ending.code == 4 {
		return announced, strings.Join(codes, " ")
	}
	explained := same
	for _, m := range j.mutants {
		o, why := j.explain(ctx, m)
		if o == bad {
			return bad, why
		}
		explained = max(explained, o)
	}
	return explained, ""
}

// explain says why a mutant may change the answer although no finding says so.
func (j *judgement) explain(ctx context.Context, m mutant) (outcome, string) {
	name := j.plan.sample.files[j.plan.file].name
	if j.plan.sample.left != nil && j.plan.file < j.plan.sample.made {
		return bad, "changed answer, without a word about " + name
	}
	if isRepeated(name) {
		return natural, "parts"
	}
	if j.plan.member == nil {
		whole, err := j.census(ctx, sound)
		if err != nil {
			return bad, err.Error()
		}
		found, err := j.census(ctx, m.dir)
		if err == nil && whole == found {
			return valued, ""
		}
		if err == nil && whole.events == found.events && filepath.Ext(name) == ".evt" {
			return natural, "OTF2"
		}
		if why := byNature(name, m.data, j.plan.mend); why != "" {
			return natural, why
		}
	} else if j.plan.member == replaced {
		if why := byNatureOf(name, j.plan.sample.files[j.plan.other].name); why != "" {
			return natural, why
		}
	} else if j.plan.member == &mutate.Files[0] && isProtobuf(name) {
		return natural, "protobuf"
	}
	return bad, "changed answer without a finding"
}

// counts are hashes of a census: of all of it, and of the numbers of events alone.
type counts struct{ kinds, events [sha256.Size]byte }

// census counts the records of the sample (sound) or of a mutant.
func (j *judgement) census(ctx context.Context, dir string) (counts, error) {
	find := func() (*baseline, error) {
		if dir == sound {
			if err := writeFiles(filepath.Join(j.dir, dir), j.plan.sample.files); err != nil {
				return nil, err
			}
		}
		e, err := j.campaign.self.run(ctx, j.dir, leastHang, under(dir, j.plan.sample.trace()), false, false)
		if err == nil && e.code != 0 {
			err = fmt.Errorf("counting the records of %s: %s", dir, e.stderr)
		}
		events := sha256.New()
		for line := range bytes.Lines(e.stdout) {
			number, _, _ := bytes.Cut(line, []byte(","))
			events.Write(number)
		}
		return &baseline{counts: counts{sha256.Sum256(e.stdout), [sha256.Size]byte(events.Sum(nil))}}, err
	}
	count := find
	if dir == sound {
		count = func() (*baseline, error) { return j.campaign.once(soundKey{j.plan.sample, "census", false}, find) }
	}
	b, err := count()
	if err != nil {
		return counts{}, err
	}
	return b.counts, nil
}

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(line)
}
