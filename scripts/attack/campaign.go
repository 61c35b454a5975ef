package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tracekit/trace/tracetest/mutate"
)

// A campaign damages samples and judges what commands say about them.
type campaign struct {
	seed     uint64
	tracekit *program
	self     *program // which counts records
	work     string   // directory for the runs
	kept     string   // directory for the mutants of bad runs
	keepAll  bool
	samples  []*sample
	commands []command

	sound sync.Map // soundKey → func() (*baseline, error): what is said about samples
}

// A plan is what a run does; all of it follows from the seed and the number of the run.
type plan struct {
	sample   *sample
	command  command
	document bool             // --json
	jobs     string           // of the process
	member   *mutate.FileKind // replaced: another file of the trace
	file     int              // of the sample: which is mutated
	other    int              // another one, or the same if there is no other: what a file is replaced by
	content  []mutate.Kind
	mend     bool // checksums are made right again
	rand     *rand.Rand
}

// replaced is the damage that puts another file of the trace into a file's place.
var replaced = &mutate.FileKind{Name: "file replaced"}

// shares says how often samples of a format are taken, relative to others.
var shares = []struct {
	format string
	weight int
}{
	{"otf2", 16}, {"paraver", 14}, {"paraver.gz", 4}, {"json", 16}, {"json.gz", 4}, {"arrow", 8}, {"parquet", 8}, {"parts", 4},
	{"tkf lossless", 8}, {"tkf stat", 8}, {"nsight", 8}, {"rocpd", 8}, {"rocprofv3", 4},
	{"perfetto", 8}, {"xplane", 6}, {"spans", 6}, {"profile", 2}, {"shards", 4}, {"coded shards", 2}, {"event files", 2},
	{"tasks", 1}, {"profiles of tasks", 1}, {"index", 1}, // each run starts processes
}

// pick returns one of n items by weight.
func pick(r *rand.Rand, n int, weight func(i int) int) int {
	total := 0
	for i := range n {
		total += weight(i)
	}
	at := r.IntN(total)
	for i := range n {
		if at -= weight(i); at < 0 {
			return i
		}
	}
	return n - 1
}

// plan returns what run k does.
func (c *campaign) plan(k int) plan {
	r := rand.New(rand.NewPCG(c.seed, uint64(k)))
	format := shares[pick(r, len(shares), func(i int) int {
		if slices.ContainsFunc(c.samples, func(s *sample) bool { return s.format == shares[i].format }) {
			return shares[i].weight
		}
		return 0
	})].format
	p := plan{rand: r, document: r.IntN(6) > 0, jobs: strconv.Itoa(1 + r.IntN(3)/2)}
	p.sample = c.samples[pick(r, len(c.samples), func(i int) int {
		if c.samples[i].format == format {
			return c.samples[i].weight
		}
		return 0
	})]
	p.command = c.commands[pick(r, len(c.commands), func(i int) int {
		if c.commands[i].takes(p.sample) {
			return c.commands[i].weight
		}
		return 0
	})]
	files := p.sample.files
	p.file = p.sample.damaged(r)
	if members := 10; len(files) > 1 && r.IntN(members) == 0 || r.IntN(4*members) == 0 {
		p.other = (p.file + 1 + r.IntN(max(1, len(files)-1))) % len(files)
		p.member = replaced
		if i := r.IntN(len(mutate.Files) + min(1, len(files)-1)); i < len(mutate.Files) {
			p.member = &mutate.Files[i]
		}
		return p
	}
	p.mend = strings.HasSuffix(format, ".gz") || slices.Contains([]string{"arrow", "parquet", "tkf lossless", "tkf stat"}, format)
	p.mend = p.mend && r.IntN(2) == 0
	name := files[p.file].name
	if p.mend {
		name = strings.TrimSuffix(name, ".gz")
	}
	list := mutate.KindsOf(name)
	for range 1 + max(0, r.IntN(6)-3) {
		p.content = append(p.content, list[r.IntN(len(list))])
	}
	return p
}

// String says what was done to which file.
func (p plan) String() string {
	var names []string
	if p.member != nil {
		names = []string{p.member.Name}
	}
	for _, m := range p.content {
		names = append(names, m.Name)
	}
	if p.mend {
		names = append(names, "mended")
	}
	return fmt.Sprintf("%s, %s: %s", p.sample.name, p.sample.files[p.file].name, strings.Join(names, ", "))
}

// A mutant is a damaged copy of a sample.
type mutant struct {
	dir  string
	data []byte // of the file that was changed; nil if it was replaced
}

// mutate damages the copy of the trace that lies in dir, and returns the content of the file that
// was changed.
func (p plan) mutate(dir string) ([]byte, error) {
	files := slices.Clone(p.sample.files)
	f := &files[p.file]
	path := filepath.Join(dir, filepath.FromSlash(f.name))
	if p.member == replaced {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(files[p.other].name)))
		return nil, errors.Join(err, os.Remove(path), os.WriteFile(path, data, 0o666))
	} else if p.member != nil {
		return nil, p.member.Replace(path)
	}
	var err error
	if f.data, err = os.ReadFile(path); err != nil {
		return nil, err
	}
	for _, k := range p.content {
		var data []byte
		if p.mend {
			data = beneath(p.rand, f.name, f.data, k)
		} else {
			data = k.Apply(p.rand, f.data)
		}
		if data != nil {
			f.data = data
		}
	}
	if p.mend {
		if err := mendManifest(files); err != nil {
			return nil, err
		}
	}
	unchanged := func(f file) bool {
		return slices.ContainsFunc(p.sample.files, func(s file) bool { return s.name == f.name && bytes.Equal(s.data, f.data) })
	}
	return f.data, writeFiles(dir, slices.DeleteFunc(slices.Clone(files), unchanged))
}

// A baseline is what a command says about the sound sample.
type baseline struct {
	ending
	answer answer
	counts counts // of a census
}

type soundKey struct {
	sample   *sample
	command  string
	document bool
}

// once returns what is to be said about a sound sample; it is found out once.
func (c *campaign) once(key soundKey, find func() (*baseline, error)) (*baseline, error) {
	f, _ := c.sound.LoadOrStore(key, sync.OnceValues(find))
	return f.(func() (*baseline, error))()
}

// baseline runs a plan's command on the sound sample.
func (c *campaign) baseline(ctx context.Context, p plan) (*baseline, error) {
	return c.once(soundKey{p.sample, p.command.name, p.document}, func() (*baseline, error) {
		dir, err := os.MkdirTemp(c.work, "sound-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		for _, name := range p.command.traces() {
			if err := c.lay(ctx, p.sample, dir, name); err != nil {
				return nil, err
			}
		}
		e, files, err := c.call(ctx, dir, p, mostWait, false)
		// the limits of others follow from it
		if err == nil && !startsProcesses(p.command.args) && (2*e.peak > leastMemory || hang(e.spent) > leastHang) {
			e, files, err = c.call(ctx, dir, p, mostWait, true)
		}
		if err != nil {
			return nil, err
		}
		b := &baseline{ending: e}
		if p.document && e.code != 2 {
			if b.answer, err = readAnswer(e.stdout, files); err != nil && e.code == 0 {
				return nil, fmt.Errorf("sound %s, %s: %w", p.sample.name, p.command.name, err)
			}
		}
		b.stdout, b.stderr = nil, nil
		return b, nil
	})
}

// lay lays a copy of a sample below a run's directory, with what commands have left behind beside it.
func (c *campaign) lay(ctx context.Context, s *sample, dir, name string) error {
	files := s.files
	if s.left != nil {
		files = s.left
	}
	if err := errors.Join(writeFiles(filepath.Join(dir, name), files), os.MkdirAll(filepath.Join(dir, "tmp"), 0o777)); err != nil {
		return err
	}
	for _, m := range s.makers {
		e, err := c.tracekit.run(ctx, dir, mostWait, append(slices.Clone(m.args), "--quiet"), m.serves, false)
		if err != nil {
			return err
		}
		if e.code != 0 || e.wrong != "" {
			return fmt.Errorf("%s: %s: exit code %d, %s%s", s.name, strings.Join(m.args, " "), e.code, e.wrong, e.stderr)
		}
	}
	return nil
}

// call runs a plan's command in a directory whose t is the trace, in a process of its own if it is to be alone, and returns what it wrote.
func (c *campaign) call(ctx context.Context, dir string, p plan, limit time.Duration, alone bool) (ending, []file, error) {
	for _, name := range []string{"out", "tmp"} {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.RemoveAll(name), os.Mkdir(name, 0o777)); err != nil {
			return ending{}, nil, err
		}
	}
	e, err := c.tracekit.run(ctx, dir, limit, p.command.line(p.sample, p.document, p.jobs), p.command.serves, alone)
	if err != nil {
		return e, nil, err
	}
	files, err := readFiles(filepath.Join(dir, "out"))
	return e, append(files, e.answers...), err
}

// A result is what came of a run.
type result struct {
	Run     int           `json:"run"`
	Format  string        `json:"format"`
	Command string        `json:"command"`
	Code    int           `json:"code"`
	Outcome outcome       `json:"outcome"`
	Spent   time.Duration `json:"spent_ns"`
	Peak    int64         `json:"peak"`
}

// mostAlone is how many runs there are to one that always has a process of its own.
const mostAlone = 50

// run makes run k. A bad one is kept and told at once.
func (c *campaign) run(ctx context.Context, k int) (result, error) {
	p := c.plan(k)
	b, err := c.baseline(ctx, p)
	if err != nil {
		return result{}, err
	}
	dir := filepath.Join(c.work, strconv.Itoa(k))
	defer os.RemoveAll(dir)
	if err := os.Mkdir(dir, 0o777); err != nil {
		return result{}, err
	}
	var mutants []mutant
	for _, name := range p.command.traces() {
		if err = c.lay(ctx, p.sample, dir, name); err == nil && name != sound {
			m := mutant{dir: name}
			m.data, err = p.mutate(filepath.Join(dir, name))
			mutants = append(mutants, m)
		}
		if err != nil {
			return result{}, fmt.Errorf("run %d: %w", k, err)
		}
	}
	var e ending
	judged := func(alone bool) (outcome, string, error) {
		var files []file
		e, files, err = c.call(ctx, dir, p, hang(b.spent)+5*time.Second, alone)
		for again := 0; err == nil && e.ended > mostEnding && again < 2; again++ {
			e, files, err = c.call(ctx, dir, p, hang(b.spent)+5*time.Second, alone) // the machine may have been busy
		}
		if err != nil {
			return bad, "", err
		}
		j := judgement{campaign: c, plan: p, dir: dir, baseline: b, ending: e, files: files, mutants: mutants}
		verdict, why := j.judge(ctx)
		return verdict, why, nil
	}
	alone := c.keepAll || k%mostAlone == 0 || startsProcesses(p.command.args)
	verdict, why, err := judged(alone)
	if err == nil && verdict == bad && !alone {
		shared := why
		if verdict, why, err = judged(true); verdict != bad && !strings.HasPrefix(shared, memory) && !strings.HasPrefix(shared, slow) {
			verdict, why = bad, "behind other commands in one process: "+shared
		}
	}
	if err != nil {
		return result{}, err
	}
	if verdict == bad || c.keepAll {
		fmt.Fprintf(os.Stderr, "run %d: %s: %s; %s; %s\n", k, verdict, p.command.name, p, why)
		if err := c.keep(k, dir, p, e); err != nil {
			return result{}, err
		}
	}
	return result{k, p.sample.format, p.command.name, e.code, verdict, e.spent, e.peak}, ctx.Err()
}

// keep moves a run's directory to where it is found, with the sound trace beside the mutant.
func (c *campaign) keep(k int, dir string, p plan, e ending) error {
	kept := filepath.Join(c.kept, strconv.Itoa(k))
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\n# %s\n# again: scripts/attack.sh --seed %d --run %d\nrm -rf out && mkdir out && tracekit '%s'\n",
		p, c.seed, k, strings.Join(p.command.line(p.sample, p.document, p.jobs), "' '"))
	if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
		// A FIFO, a loop or a device cannot be copied: the run can be repeated.
		script += "# not all files of it could be kept: " + strings.ReplaceAll(err.Error(), "\n", " ") + "\n"
	}
	if err := os.MkdirAll(filepath.Join(kept, sound), 0o777); err != nil {
		return err
	}
	for _, f := range []file{{"command.sh", []byte(script)}, {"stdout", e.stdout}, {"stderr", e.stderr}} {
		if err := os.WriteFile(filepath.Join(kept, f.name), f.data, 0o666); err != nil {
			return err
		}
	}
	return writeFiles(filepath.Join(kept, sound), p.sample.files)
}
