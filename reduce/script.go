package reduce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/stats/measurement"
	"tracekit/trace"
)

// The limits of a rule. They end mistakes, such as endless loops and lists that grow for ever. They are no guard against hostile
// programs: a rule file is the user's own, as a makefile is, and one operation may take more memory than there is.
const (
	stepsACall       = 10_000    // that each call adds to the steps that may be taken
	mostSteps        = 1 << 20   // that may have been saved
	mostMemory       = 256 << 20 // bytes that the heap may have beyond twice of what it has before rules are applied,
	memoryOfLocation = 64 << 10  // and more for each location
	stepsAtOnce      = 16        // between two looks at the limits
	mostTexts        = 64 << 20  // bytes that a rule says of all ranks
)

// A Script is a rule in Starlark with some of the three functions
//
//	trace_event(id)      after each outermost call of an MPI function, whose name is id: keep it?
//	io_event(id)         after each call outside of MPI that works on a file: keep it?
//	output_trace(rank)   at the end, for each rank: keep the rank?
//	output_text()        at the end, for each rank: a text for the report, or None
//
// Each location has variables of its own, which stay from call to call. What trace_event
// can ask for is what had happened at that location by then.
type Script struct {
	name      string
	file      string
	program   *starlark.Program
	uses      map[string]bool // functions of ours that it names
	topology  Topology
	costs     measurement.Costs
	variables []string // of an expression: the parameters of trace_event, instead of id
	condition string   // the expression, whose values are True or False; "": it is a file

	locations []*located   // by location, while the rule is applied
	growth    uint64       // in place of mostMemory and memoryOfLocation, if not 0
	most      uint64       // bytes of the heap
	texts     []string     // by rank
	said      atomic.Int64 // bytes of them
}

// A Topology says where ranks are. Ranks in a row are as far apart as their numbers.
type Topology interface {
	Dimensions() []int
	Coordinates(rank uint32) []int // nil: not known
	Hops(a, b uint32) int
}

// A row is the topology of a trace of which no other is known.
type row struct{ ranks int }

func (r row) Dimensions() []int          { return []int{r.ranks} }
func (r row) Coordinates(k uint32) []int { return []int{int(k)} }
func (r row) Hops(a, b uint32) int {
	if a > b {
		a, b = b, a
	}
	return int(b - a)
}

// ScriptOptions says what rules are told beside the trace. The zero value is a row of ranks
// and what measurement.Assumed says.
type ScriptOptions struct {
	Topology Topology
	Costs    measurement.Costs
}

// NewScript reads a rule file. An error names the place in the file.
func NewScript(file string, source []byte, o ScriptOptions) (*Script, error) {
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
	f, err := options.Parse(file, source, 0)
	if err != nil {
		return nil, placed(err)
	}
	if err := uncalled(f); err != nil {
		return nil, err
	}
	s := newScript("rules "+filepath.Base(file), file, o)
	s.program, err = s.compile(f)
	return s, err
}

// hooks are the functions of a rule file that are called.
var hooks = []string{"trace_event", "io_event", "output_trace", "output_text"}

// uncalled refuses a function that nothing calls: most often a hook with a mistake in its name, without which the rule would keep
// everything.
func uncalled(f *syntax.File) error {
	used := slices.Clone(hooks)
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			for _, part := range n.Body {
				used = append(used, namesIn(part)...)
			}
			for _, p := range n.Params {
				if d, ok := p.(*syntax.BinaryExpr); ok {
					used = append(used, namesIn(d.Y)...)
				}
			}
			return false
		case *syntax.Ident:
			used = append(used, n.Name)
		}
		return true
	})
	for _, s := range f.Stmts {
		if d, ok := s.(*syntax.DefStmt); ok && !slices.Contains(used, d.Name.Name) {
			return fmt.Errorf("%s: nothing calls %s; did you mean %s?", d.Name.NamePos, d.Name.Name, nearest(d.Name.Name, hooks))
		}
	}
	return nil
}

// nearest returns the name, of at least one, that is nearest to another one. Of equal ones it is the first.
func nearest(to string, names []string) string {
	to = to[:min(len(to), mostName)]
	distance := func(name string) int { return words.Distance(to, name[:min(len(name), mostName)]) }
	return slices.MinFunc(names, func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
}

// mostName bounds the bytes of names that are compared.
const mostName = 100

func newScript(name, file string, o ScriptOptions) *Script {
	if o.Costs == (measurement.Costs{}) {
		o.Costs = measurement.Assumed()
	}
	return &Script{name: name, file: file, uses: make(map[string]bool), topology: o.Topology, costs: o.Costs}
}

// compile compiles a file, and notes what it uses.
func (s *Script) compile(f *syntax.File) (*starlark.Program, error) {
	p, err := starlark.FileProgram(f, func(name string) bool {
		if slices.Contains(utilityNames, name) {
			s.uses[name] = true
		}
		return s.uses[name] || name == "ranks" && s.condition != ""
	})
	return p, placed(err)
}

// placed makes an error that begins with its place of the first that the language has.
func placed(err error) error {
	var list resolve.ErrorList
	if errors.As(err, &list) {
		return fmt.Errorf("%s: %s", list[0].Pos, list[0].Msg)
	}
	return err
}

// Name implements Rule.
func (s *Script) Name() string { return s.name }

// begin implements beginner.
func (s *Script) begin(locations int) {
	s.locations = make([]*located, locations)
	s.said.Store(0)
	runtime.GC()
	s.most = 2*heap(liveObjects) + cmp.Or(s.growth, mostMemory+uint64(locations)*memoryOfLocation)
}

// What heap tells the size of.
const (
	allObjects  = "/memory/classes/heap/objects:bytes"
	liveObjects = "/gc/heap/live:bytes" // when garbage was collected last
)

func heap(of string) uint64 {
	size := []metrics.Sample{{Name: of}}
	metrics.Read(size)
	return size[0].Value.Uint64()
}

// Judge implements CallRule.
func (s *Script) Judge(t *trace.Trace, l trace.LocationID) (Judge, error) {
	x, err := s.locate(t, l)
	if err != nil || x.event == nil && x.io == nil && len(s.uses) == 0 {
		return nil, err
	}
	return x, nil
}

// A located is a rule at a location, with the variables that it has there.
type located struct {
	*Script
	t        *trace.Trace
	location trace.LocationID
	thread   *starlark.Thread
	bank     uint64    // steps that may be used
	last     uint64    // step that may be taken
	looked   time.Time // at the heap

	event, io, trace, text *starlark.Function // nil: not defined
	args                   starlark.Tuple
	observed
}

// locate begins the rule at a location.
func (s *Script) locate(t *trace.Trace, l trace.LocationID) (*located, error) {
	x := &located{Script: s, t: t, location: l, thread: &starlark.Thread{Name: s.file},
		args: make(starlark.Tuple, max(1, len(s.variables)))}
	x.thread.OnMaxSteps = x.pause
	x.thread.SetMaxExecutionSteps(stepsAtOnce)
	x.thread.Print = func(thread *starlark.Thread, _ string) {
		thread.Cancel("print has no place in a rule: output_text returns what the report says")
	}
	x.thread.Load = func(*starlark.Thread, string) (starlark.StringDict, error) {
		return nil, errors.New("a rule cannot load files")
	}
	x.observe()
	x.grant(mostSteps)
	globals, err := s.program.Init(x.thread, x.predeclared())
	if err != nil {
		return nil, x.fault(err)
	}
	for _, f := range []struct {
		name string
		fn   **starlark.Function
		args int
	}{{"trace_event", &x.event, len(x.args)}, {"io_event", &x.io, 1}, {"output_trace", &x.trace, 1}, {"output_text", &x.text, 0}} {
		v, ok := globals[f.name]
		if !ok {
			continue
		}
		if *f.fn, ok = v.(*starlark.Function); !ok {
			return nil, fmt.Errorf("%s: %s is a %s, not a function", s.file, f.name, v.Type())
		}
		if n := (*f.fn).NumParams(); n != f.args {
			return nil, fmt.Errorf("%s: %s has %d parameters, want %d", (*f.fn).Position(), f.name, n, f.args)
		}
	}
	if x.event == nil && x.io == nil && x.trace == nil && x.text == nil {
		return nil, fmt.Errorf("%s: it defines none of trace_event, io_event, output_trace and output_text", s.file)
	}
	s.locations[l] = x
	return x, nil
}

// grant allows so many more steps.
func (x *located) grant(steps uint64) {
	x.bank = min(x.bank+steps, mostSteps)
	x.last = x.thread.ExecutionSteps() + x.bank
}

// pause is called after a few steps, in which a value can double a few times at most. It ends what takes too long or too much memory.
func (x *located) pause(thread *starlark.Thread) {
	steps := thread.ExecutionSteps()
	thread.SetMaxExecutionSteps(steps + stepsAtOnce)
	if steps >= x.last {
		thread.Cancel(fmt.Sprintf("it takes too long: a rule has %d steps for each call, and %d at once if it has saved them",
			stepsACall, mostSteps))
	}
	if time.Since(x.looked) < time.Millisecond { // no time to fill much
		return
	}
	if heap(allObjects) > x.most {
		if runtime.GC(); heap(liveObjects) > x.most {
			thread.Cancel(fmt.Sprintf("it takes too much memory: more than %d MiB", x.most>>20))
		}
	}
	x.looked = time.Now()
}

// run calls a function of the rule.
func (x *located) run(f *starlark.Function, args starlark.Tuple) (starlark.Value, error) {
	before := x.thread.ExecutionSteps()
	x.grant(stepsACall)
	v, err := starlark.Call(x.thread, f, args, nil)
	if err != nil {
		return nil, x.fault(err)
	}
	x.bank -= min(x.bank, x.thread.ExecutionSteps()-before)
	return v, nil
}

// fault makes of an error of the language one that begins with its place in the file.
func (x *located) fault(err error) error {
	var e *starlark.EvalError
	if !errors.As(err, &e) {
		return placed(err)
	}
	at := x.file
	for i := len(e.CallStack) - 1; i >= 0; i-- {
		if pos := e.CallStack[i].Pos; pos.Line > 0 && pos.Filename() == x.file {
			at = pos.String()
			break
		}
	}
	return fmt.Errorf("%s: %s", at, strings.TrimPrefix(e.Msg, "Starlark computation cancelled: "))
}

// Cut implements Judge.
func (x *located) Cut(c *Call) (bool, error) {
	if !c.MPI && !c.File {
		return false, nil
	}
	x.note(c)
	hook, args, id := x.event, x.args, x.current
	if c.File {
		hook, args, id = x.io, make(starlark.Tuple, 1), x.files.current
	}
	switch {
	case hook == nil:
		return false, nil
	case c.File || x.variables == nil:
		args[0] = id.name
	default:
		for i, name := range x.variables {
			args[i] = x.variable(name)
		}
	}
	v, err := x.run(hook, args)
	if err != nil {
		return false, err
	}
	if err := x.conditional(v); err != nil {
		return false, err
	}
	if v == starlark.None {
		return false, fmt.Errorf("%s: %s returns None for %s: want True or False", hook.Position(), hook.Name(), string(id.name))
	}
	cut := !bool(v.Truth())
	if cut {
		x.cut += c.Last - c.First + 1
	}
	return cut, nil
}

// conditional refuses the value of an expression that is no condition: 'rank', say, would keep all ranks but one.
func (s *Script) conditional(v starlark.Value) error {
	if _, ok := v.(starlark.Bool); ok || s.condition == "" {
		return nil
	}
	return fmt.Errorf("--keep %q: the value has type %s, not True or False; write a condition such as 'rank < 32'", s.condition,
		v.Type())
}

// finish asks for the ranks and for the texts.
func (s *Script) finish(ctx context.Context, t *trace.Trace, jobs int) ([]bool, error) {
	keep := make([]bool, len(t.World))
	s.texts = make([]string, len(t.World))
	all := s.allResults(t)
	_, err := engine.Map(ctx, jobs, len(t.World), func(_ context.Context, rank int) (_ struct{}, err error) {
		keep[rank] = true
		l := t.World[rank]
		if int(l) >= len(s.locations) {
			return struct{}{}, nil
		}
		x := s.locations[l]
		if x == nil {
			if x, err = s.locate(t, l); err != nil {
				return struct{}{}, err
			}
		}
		x.all = all
		if x.trace != nil {
			v, err := x.run(x.trace, starlark.Tuple{starlark.MakeInt(rank)})
			if err != nil {
				return struct{}{}, err
			}
			if err := x.conditional(v); err != nil {
				return struct{}{}, err
			}
			if v == starlark.None {
				return struct{}{}, fmt.Errorf("%s: output_trace returns None: want True or False", x.trace.Position())
			}
			keep[rank] = bool(v.Truth())
		}
		if x.text != nil {
			v, err := x.run(x.text, nil)
			if err != nil {
				return struct{}{}, err
			}
			if text, ok := v.(starlark.String); ok {
				if s.said.Add(int64(len(text))) > mostTexts {
					return struct{}{}, fmt.Errorf("%s: output_text returns more than %d MiB for all ranks together", x.text.Position(),
						mostTexts>>20)
				}
				s.texts[rank] = string(text)
			} else if v != starlark.None {
				return struct{}{}, fmt.Errorf("%s: output_text returns a %s: want a text or None", x.text.Position(), v.Type())
			}
		}
		return struct{}{}, nil
	})
	s.locations = nil
	return keep, err
}

// Texts returns what output_text has returned, by world rank; "" for nothing.
func (s *Script) Texts() []string { return s.texts }

// variableNames are the names that an expression can use.
var variableNames = []string{"rank", "ranks", "mpi", "bytes", "seconds", "time", "count", "caller", "file", "line"}

// NewExpression makes a rule of an expression such as
//
//	rank < 32 and mpi != "MPI_Iprobe"
//
// which is true of the calls that are kept. Parts that are joined by and and speak of the
// rank alone decide about whole ranks.
func NewExpression(text string, o ScriptOptions) (*Script, error) {
	const file = "--keep"
	options := &syntax.FileOptions{Set: true}
	e, err := options.ParseExpr(file, text, 0)
	if err != nil {
		return nil, unreadable(text, err)
	}
	s := newScript("keep "+text, file, o)
	s.condition = text
	var calls, ranks syntax.Expr
	var used []string
	for _, part := range conjuncts(e) {
		names := namesIn(part)
		for _, name := range names {
			if !slices.Contains(variableNames, name) && (!starlark.Universe.Has(name) || name == "print") {
				return nil, fmt.Errorf("%s %q: unknown name %s; names are "+
					"%s", file, text, name, strings.Join(variableNames, ", "))
			}
		}
		into := &calls
		if !slices.ContainsFunc(names, func(n string) bool { return n != "rank" && n != "ranks" && slices.Contains(variableNames, n) }) {
			into = &ranks
		} else {
			used = append(used, names...)
		}
		if *into == nil {
			*into = part
		} else {
			*into = &syntax.BinaryExpr{X: *into, OpPos: syntax.Start(part), Op: syntax.AND, Y: part}
		}
	}
	var body []syntax.Stmt
	if calls != nil {
		slices.Sort(used)
		used = slices.DeleteFunc(slices.Compact(used), func(n string) bool { return !slices.Contains(variableNames, n) })
		s.variables = used
		body = append(body, define("trace_event", used, calls))
	}
	if ranks != nil {
		body = append(body, define("output_trace", []string{"rank"}, ranks))
	}
	f := &syntax.File{Path: file, Stmts: body, Options: options}
	s.program, err = s.compile(f)
	return s, err
}

// operators has for those of other languages what an expression has instead.
var operators = map[string]string{"&": "and", "|": "or", "!": "not", "=": "=="}

// lastToken is the end of a text that the parser has read as one word or sign.
var lastToken = trace.Expression(`(\w+|\W)\s*$`)

// unreadable says where an expression has a mistake, by the error of the parser.
func unreadable(text string, err error) error {
	var e syntax.Error
	if !errors.As(err, &e) {
		return placed(err)
	}
	lines := strings.Split(text, "\n")
	line := []rune(lines[min(max(1, int(e.Pos.Line)), len(lines))-1])
	at := min(max(0, int(e.Pos.Col)-1), len(line))
	if strings.Contains(e.Msg, "after expression") { // the place is behind what was read last
		at = len([]rune(string(line[:at])[:lastToken().FindStringIndex(string(line[:at]) + " ")[0]]))
	}
	rest := strings.TrimSpace(string(line[at:]))
	advice := "write a condition such as 'rank < 32'"
	if rest == "" {
		return fmt.Errorf("--keep %q: the expression ends too early; %s", text, advice)
	}
	if ours := operators[rest[:1]]; ours != "" {
		advice = fmt.Sprintf("instead of %s write %s", rest[:1], ours)
	}
	return fmt.Errorf("--keep %q: %q (character %d) is not understood; %s", text, rest, at+1, advice)
}

// conjuncts returns the parts of an expression that are joined by and.
func conjuncts(e syntax.Expr) []syntax.Expr {
	switch x := e.(type) {
	case *syntax.BinaryExpr:
		if x.Op == syntax.AND {
			return append(conjuncts(x.X), conjuncts(x.Y)...)
		}
	case *syntax.ParenExpr:
		return conjuncts(x.X)
	}
	return []syntax.Expr{e}
}

// namesIn returns the names in an expression, each once.
func namesIn(e syntax.Node) (names []string) {
	syntax.Walk(e, func(n syntax.Node) bool {
		if i, ok := n.(*syntax.Ident); ok {
			names = append(names, i.Name)
		}
		return true
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// define returns the function that returns an expression.
func define(name string, params []string, e syntax.Expr) syntax.Stmt {
	at := syntax.Start(e)
	d := &syntax.DefStmt{Def: at, Name: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Rparen: at,
		Body: []syntax.Stmt{&syntax.ReturnStmt{Return: at, Result: e}}}
	for _, p := range params {
		d.Params = append(d.Params, &syntax.Ident{NamePos: at, Name: p})
	}
	return d
}
