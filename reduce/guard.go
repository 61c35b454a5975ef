package reduce

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Rule files are not trusted. The language has no files, no network and no endless
// recursion, and counts steps; but one step can make a value as large as memory, or take
// longer than anyone waits: a product, a join, a comparison of lists of lists. So before a
// rule is compiled, what can do so is replaced by calls of functions of ours, which weigh
// their operands first. What remains takes time and memory in proportion to its steps.

// The limits of a rule. A weight of 1 is about 16 bytes.
const (
	mostSource = 64 << 10 // bytes of a rule file: the parser is recursive
	mostWeight = 64 << 10 // of one value that is copied, compared or printed
	mostSpent  = 4 << 20  // of all values that one call makes by copying
	mostState  = 1 << 20  // of what a rule keeps between calls, in each location
	mostStates = 16 << 20 // of that, in all locations together
	mostTexts  = 64 << 20 // bytes of what it says of all ranks
	mostSteps  = 1 << 20  // of one call of a rule
	stepsACall = 10_000   // that a call adds to what may be used later
	mostBits   = 4096     // of an integer
	mostItems  = 1 << 20  // of a range
	mostDepth  = 100      // of lists in lists
	mostDigits = 1024     // of a text that becomes a number
)

// guarded is the prefix of names that no rule can write.
const guarded = "·"

// safe are the functions of the language that a rule may use; true: once their arguments
// were weighed.
var safe = map[string]bool{
	"None": false, "True": false, "False": false, "abs": false, "bool": false, "chr": false, "float": true, "int": true, "len": false,
	"ord": false, "type": false, "any": true, "all": true, "dict": true, "enumerate": true, "fail": true, "list": true,
	"max": true, "min": true, "range": true, "reversed": true, "set": true, "sorted": true, "str": true, "tuple": true, "zip": true,
}

// methods are the names of all methods of values: they are called, and not kept.
func methods() []string {
	var all []string
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), new(starlark.List), new(starlark.Dict), new(starlark.Set)} {
		all = append(all, v.AttrNames()...)
	}
	return all
}

// A restriction replaces what cannot be left to a rule, and refuses what has no place in one.
type restriction struct {
	methods []string
	own     []string // names that stand for what we say, whatever they are in the language
	err     error
}

func restrict(f *syntax.File, own []string) error {
	r := &restriction{methods: methods(), own: own}
	r.stmts(f.Stmts)
	return r.err
}

func (r *restriction) refuse(at syntax.Position, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
	}
}

func (r *restriction) stmts(list []syntax.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			r.assign(s)
		case *syntax.DefStmt:
			r.target(s.Name)
			r.params(s.Params)
			r.stmts(s.Body)
		case *syntax.ExprStmt:
			s.X = r.expr(s.X)
		case *syntax.IfStmt:
			s.Cond = r.expr(s.Cond)
			r.stmts(s.True)
			r.stmts(s.False)
		case *syntax.ForStmt:
			s.Vars, s.X = r.target(s.Vars), r.expr(s.X)
			r.stmts(s.Body)
		case *syntax.WhileStmt:
			s.Cond = r.expr(s.Cond)
			r.stmts(s.Body)
		case *syntax.ReturnStmt:
			if s.Result != nil {
				s.Result = r.expr(s.Result)
			}
		case *syntax.LoadStmt:
			r.refuse(s.Load, "a rule cannot load files")
		}
	}
}

func (r *restriction) params(list []syntax.Expr) {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.Ident:
			r.target(p)
		case *syntax.BinaryExpr:
			p.X, p.Y = r.target(p.X), r.expr(p.Y)
		case *syntax.UnaryExpr:
			r.refuse(p.OpPos, "parameters with * have no place in a rule")
		}
	}
}

// target goes through what is assigned to.
func (r *restriction) target(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		if starlark.Universe.Has(e.Name) && !slices.Contains(r.own, e.Name) {
			r.refuse(e.NamePos, "%s is a word of the language: take another name", e.Name)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = r.target(e.List[i])
		}
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = r.target(e.List[i])
		}
	case *syntax.ParenExpr:
		e.X = r.target(e.X)
	case *syntax.DotExpr:
		r.refuse(e.Dot, "fields cannot be assigned")
	}
	return e
}

// assign makes x = x + y of x += y where y may be large.
func (r *restriction) assign(s *syntax.AssignStmt) {
	name, isName := s.LHS.(*syntax.Ident)
	s.LHS, s.RHS = r.target(s.LHS), r.expr(s.RHS)
	ops := map[syntax.Token]syntax.Token{syntax.PLUS_EQ: syntax.PLUS, syntax.STAR_EQ: syntax.STAR, syntax.PERCENT_EQ: syntax.PERCENT,
		syntax.PIPE_EQ: syntax.PIPE, syntax.LTLT_EQ: syntax.LTLT}
	op, large := ops[s.Op]
	switch {
	case !large || isNumber(s.RHS) && op != syntax.STAR && op != syntax.LTLT:
	case isName && op == syntax.PLUS:
		s.Op, s.RHS = syntax.EQ, call(s.OpPos, "+=", &syntax.Ident{NamePos: name.NamePos, Name: name.Name}, s.RHS)
	case isName:
		s.Op, s.RHS = syntax.EQ, call(s.OpPos, op.String(), &syntax.Ident{NamePos: name.NamePos, Name: name.Name}, s.RHS)
	case op == syntax.PLUS:
		s.RHS = call(s.OpPos, "number", s.RHS)
	default:
		r.refuse(s.OpPos, "%s wants a plain name on its left", s.Op)
	}
}

// call returns the call of a function of ours. Errors in it name the place of what it
// replaces.
func call(at syntax.Position, name string, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: guarded + name}, Lparen: at, Args: args, Rparen: at}
}

func isNumber(e syntax.Expr) bool {
	l, ok := e.(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

// isSmall reports whether a value is written down in the rule.
func isSmall(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Literal:
		return true
	case *syntax.Ident:
		return e.Name == "None" || e.Name == "True" || e.Name == "False"
	case *syntax.ListExpr:
		return !slices.ContainsFunc(e.List, func(x syntax.Expr) bool { return !isSmall(x) })
	case *syntax.TupleExpr:
		return !slices.ContainsFunc(e.List, func(x syntax.Expr) bool { return !isSmall(x) })
	case *syntax.ParenExpr:
		return isSmall(e.X)
	}
	return false
}

func (r *restriction) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.BinaryExpr:
		return r.binary(e)
	case *syntax.CallExpr:
		return r.call(e)
	case *syntax.Comprehension:
		e.Body = r.expr(e.Body)
		for _, c := range e.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.Vars, c.X = r.target(c.Vars), r.expr(c.X)
			case *syntax.IfClause:
				c.Cond = r.expr(c.Cond)
			}
		}
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = r.expr(e.Cond), r.expr(e.True), r.expr(e.False)
	case *syntax.DictEntry:
		e.Key, e.Value = r.expr(e.Key), r.expr(e.Value)
	case *syntax.DictExpr:
		for i := range e.List {
			e.List[i] = r.expr(e.List[i])
		}
	case *syntax.DotExpr:
		if slices.Contains(r.methods, e.Name.Name) {
			r.refuse(e.Dot, "the method %s is to be called where it is named", e.Name.Name)
		}
		e.X = r.expr(e.X)
	case *syntax.Ident:
		return r.name(e)
	case *syntax.Literal:
		if n, ok := e.Value.(*big.Int); ok && n.BitLen() > mostBits {
			r.refuse(e.TokenPos, "%s", errBits)
		}
	case *syntax.IndexExpr:
		e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	case *syntax.LambdaExpr:
		r.params(e.Params)
		e.Body = r.expr(e.Body)
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = r.expr(e.List[i])
		}
	case *syntax.ParenExpr:
		e.X = r.expr(e.X)
	case *syntax.SliceExpr:
		e.X = r.expr(e.X)
		for _, bound := range []*syntax.Expr{&e.Lo, &e.Hi, &e.Step} {
			if *bound != nil {
				*bound = r.expr(*bound)
			}
		}
		return call(e.Lbrack, "slice", e)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = r.expr(e.List[i])
		}
		if !isSmall(e) {
			return call(syntax.Start(e), "pair", e)
		}
	case *syntax.UnaryExpr:
		if e.X != nil {
			e.X = r.expr(e.X)
		}
	}
	return e
}

func (r *restriction) name(e *syntax.Ident) syntax.Expr {
	weighed, ok := safe[e.Name]
	if weighed {
		return &syntax.Ident{NamePos: e.NamePos, Name: guarded + e.Name}
	}
	if !ok && starlark.Universe.Has(e.Name) && !slices.Contains(r.own, e.Name) {
		r.refuse(e.NamePos, "%s has no place in a rule", e.Name)
	}
	return e
}

func (r *restriction) binary(e *syntax.BinaryExpr) syntax.Expr {
	e.X, e.Y = r.expr(e.X), r.expr(e.Y)
	small := isNumber(e.X) || isNumber(e.Y)
	switch e.Op {
	case syntax.PLUS, syntax.PERCENT:
		if small {
			return e
		}
	case syntax.STAR, syntax.LTLT, syntax.PIPE:
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		if isSmall(e.X) || isSmall(e.Y) {
			return e
		}
	case syntax.IN, syntax.NOT_IN:
		if isSmall(e.Y) {
			return e
		}
	default:
		return e
	}
	return call(e.OpPos, e.Op.String(), e.X, e.Y)
}

// call makes of the call of a method one that weighs.
func (r *restriction) call(e *syntax.CallExpr) syntax.Expr {
	for i, a := range e.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ { // name=value
				a.Y = r.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				r.refuse(a.OpPos, "arguments with * have no place in a rule")
			}
		}
		e.Args[i] = r.expr(a)
	}
	dot, ok := e.Fn.(*syntax.DotExpr)
	if !ok || !slices.Contains(r.methods, dot.Name.Name) {
		e.Fn = r.expr(e.Fn)
		return e
	}
	name := &syntax.Literal{Token: syntax.STRING, TokenPos: dot.NamePos, Raw: dot.Name.Name, Value: dot.Name.Name}
	args := append([]syntax.Expr{r.expr(dot.X), name}, e.Args...)
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: dot.Dot, Name: guarded + "method"}, Lparen: e.Lparen, Args: args, Rparen: e.Rparen}
}

// A scale weighs the values of one call of a rule.
type scale struct{ spent int }

var (
	errLarge = errors.New("a value is too large for a rule: more than 65,536 elements, or 1 MiB of text")
	errSpent = errors.New("the rule copies too much in one call: more than 64 MiB")
	errBits  = errors.New("an integer has more than 4,096 bits")
)

// weigh subtracts the weight of a value, with all that it holds, from a budget; the result
// is below zero if it is not enough.
func weigh(v starlark.Value, budget int) int { return weighIn(v, budget, 0) }

func weighIn(v starlark.Value, budget, depth int) int {
	if budget--; depth > mostDepth {
		return -1
	}
	switch v := v.(type) {
	case starlark.Int:
		if _, small := v.Int64(); !small {
			budget -= v.BigInt().BitLen() / 128
		}
	case starlark.String:
		budget -= len(v) / 16
	case *starlark.Dict:
		for k, x := range v.Entries() {
			if budget = weighIn(x, weighIn(k, budget, depth+1), depth+1); budget < 0 {
				break
			}
		}
	case starlark.Sequence:
		if n := v.Len(); n > budget { // also of a range, which holds nothing
			return -1
		}
		return weighAll(v, budget, depth)
	case starlark.Iterable:
		return weighAll(v, budget, depth)
	}
	return budget
}

func weighAll(v starlark.Iterable, budget, depth int) int {
	for x := range starlark.Elements(v) {
		if budget = weighIn(x, budget, depth+1); budget < 0 {
			break
		}
	}
	return budget
}

// admit weighs values that are about to be copied, compared or printed.
func (s *scale) admit(values ...starlark.Value) error {
	budget := mostWeight
	for _, v := range values {
		if budget = weigh(v, budget); budget < 0 {
			return errLarge
		}
	}
	if s.spent += mostWeight - budget; s.spent > mostSpent {
		return errSpent
	}
	return nil
}

// plain reports whether a value has no parts, and is small.
func plain(v starlark.Value) bool {
	switch v := v.(type) {
	case starlark.Int:
		_, ok := v.Int64()
		return ok
	case starlark.Float, starlark.Bool, starlark.NoneType:
		return true
	case starlark.String:
		return len(v) < 256
	}
	return false
}

// functions returns what replaces operators, methods and functions.
func (s *scale) functions() starlark.StringDict {
	out := starlark.StringDict{}
	add := func(name string, f func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) {
		out[guarded+name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			return f(thread, args, kwargs)
		})
	}
	for _, op := range []syntax.Token{syntax.PLUS, syntax.STAR, syntax.PERCENT, syntax.PIPE, syntax.LTLT, syntax.IN, syntax.NOT_IN} {
		add(op.String(), func(_ *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return s.binary(op, args[0], args[1])
		})
	}
	for _, op := range []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE} {
		add(op.String(), func(_ *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			if !plain(args[0]) || !plain(args[1]) {
				if err := s.admit(args[0], args[1]); err != nil {
					return nil, err
				}
			}
			ok, err := starlark.Compare(op, args[0], args[1])
			return starlark.Bool(ok), err
		})
	}
	add("+=", func(_ *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		return s.extend(args[0], args[1])
	})
	add("number", func(_ *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		switch args[0].(type) {
		case starlark.Int, starlark.Float:
			return args[0], nil
		}
		return nil, fmt.Errorf("+= adds numbers to an element, not a %s", args[0].Type())
	})
	for _, name := range []string{"slice", "pair"} {
		add(name, func(_ *starlark.Thread, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
			return args[0], s.admit(args[0])
		})
	}
	add("method", s.method)
	for name, weighed := range safe {
		if f := starlark.Universe[name]; weighed {
			add(name, func(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
				return s.universal(thread, name, f, args, kwargs)
			})
		}
	}
	return out
}

// binary applies an operator to operands that it can deal with in a moment.
func (s *scale) binary(op syntax.Token, x, y starlark.Value) (starlark.Value, error) {
	a, isInt := x.(starlark.Int)
	if b, ok := y.(starlark.Int); isInt && ok {
		bits := a.BigInt().BitLen() + b.BigInt().BitLen()
		if op == syntax.LTLT {
			n, _ := b.Int64()
			bits = a.BigInt().BitLen() + int(min(max(n, 0), mostBits))
		}
		if bits > mostBits {
			return nil, errBits
		}
		return starlark.Binary(op, x, y)
	}
	if op == syntax.STAR { // text or a list so many times
		n, ok := y.(starlark.Int)
		v := x
		if !ok {
			n, ok = x.(starlark.Int)
			v = y
		}
		if _, isFloat := v.(starlark.Float); ok && !isFloat {
			times, err := starlark.AsInt32(n)
			times = max(times, 0)
			weight := (mostWeight - weigh(v, mostWeight)) * 16
			if text, ok := v.(starlark.String); ok {
				weight = len(text)
			}
			if err != nil || weight > 16*mostWeight/max(times, 1) {
				return nil, errLarge
			}
			s.spent += weight * times / 16
		}
	}
	if !plain(x) || !plain(y) {
		if err := s.admit(x, y); err != nil {
			return nil, err
		}
	}
	return starlark.Binary(op, x, y)
}

// extend does what x += y does.
func (s *scale) extend(x, y starlark.Value) (starlark.Value, error) {
	list, ok := x.(*starlark.List)
	if !ok {
		return s.binary(syntax.PLUS, x, y)
	}
	if err := s.admit(y); err != nil {
		return nil, err
	}
	more, ok := y.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("a %s cannot be added to a list", y.Type())
	}
	var values []starlark.Value // first, for y may be x
	for v := range starlark.Elements(more) {
		values = append(values, v)
	}
	for _, v := range values {
		if err := list.Append(v); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// method calls the method args[1] of args[0].
func (s *scale) method(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	receiver, name := args[0], string(args[1].(starlark.String))
	if d, ok := receiver.(*starlark.Dict); ok && name == "get" && len(args) == 4 && len(kwargs) == 0 { // what rules do most
		if v, found, err := d.Get(args[2]); found || err != nil {
			return v, err
		}
		return args[3], nil
	}
	v, ok := receiver.(starlark.HasAttrs)
	if !ok {
		return nil, fmt.Errorf("a %s has no method %s", receiver.Type(), name)
	}
	f, err := v.Attr(name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("a %s has no method %s", receiver.Type(), name)
	}
	switch name {
	case "append", "get", "setdefault", "add", "pop", "clear": // move single values
	default:
		if err := s.admit(args...); err != nil {
			return nil, err
		}
		if text, ok := receiver.(starlark.String); ok {
			if err := s.text(string(text), name, args[2:]); err != nil {
				return nil, err
			}
		}
	}
	return starlark.Call(thread, f, args[2:], kwargs)
}

// text weighs what a method of texts will make.
func (s *scale) text(text, name string, args starlark.Tuple) error {
	weight := 0
	for _, a := range args {
		weight += mostWeight - weigh(a, mostWeight)
	}
	switch name {
	case "join":
		if n, ok := args[0].(starlark.Sequence); ok && len(args) == 1 {
			weight += n.Len() * (len(text)/16 + 1)
		}
	case "replace", "format": // each place takes the largest argument
		weight *= len(text) + 1
	default:
		return nil
	}
	if weight > mostWeight {
		return errLarge
	}
	s.spent += weight
	return nil
}

// universal calls a function of the language.
func (s *scale) universal(thread *starlark.Thread, name string, f starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return starlark.Call(thread, f, args, kwargs)
	}
	if !(name == "max" || name == "min") || len(args) != 2 || !plain(args[0]) || !plain(args[1]) {
		if err := s.admit(args...); err != nil {
			return nil, err
		}
	}
	if name == "int" || name == "float" {
		if text, ok := args[0].(starlark.String); ok && len(text) > mostDigits {
			return nil, errBits
		}
	}
	v, err := starlark.Call(thread, f, args, kwargs)
	if r, ok := v.(starlark.Sequence); ok && name == "range" && r.Len() > mostItems {
		return nil, fmt.Errorf("a range of %d numbers is too long for a rule: at most %d", r.Len(), mostItems)
	}
	return v, err
}
