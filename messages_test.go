package rules_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/trace"
)

var update = flag.Bool("update", false, "write "+messagesFile+" anew")

const messagesFile = "docs/internals/messages.md"

// notShown are packages whose messages users do not read.
var notShown = regexp.MustCompile(`^(scripts|samples/oracle|trace/tracetest|stats/statstest)(/|$)|test$`)

// TestMessages: docs/internals/messages.md lists what the program says of traces, causes and errors, and no error is written twice.
func TestMessages(t *testing.T) {
	m := collect(t)
	got := m.document()
	if *update {
		if err := os.WriteFile(messagesFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(messagesFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale: go test . -run TestMessages -update", messagesFile)
	}
	for _, text := range slices.Sorted(maps.Keys(m.times)) {
		if n := m.times[text]; n > 1 && len(strings.Fields(strings.ReplaceAll(text, "…", " "))) >= 5 {
			t.Errorf("an error is written in %d places: %s", n, text)
		}
	}
}

// Messages are what the code says.
type messages struct {
	errors                                map[string][]string // by package
	headlines, evidence, advice, verdicts []string
	details                               map[string][]string // of findings, by the name of their constant
	codes                                 map[string]string   // by the same name
	times                                 map[string]int      // how often an error stands in the code
}

// refusers make errors without returning them.
var refusers = []string{"Refuse", "resync", "errorf"}

func collect(t *testing.T) *messages {
	m := &messages{errors: make(map[string][]string), details: make(map[string][]string), codes: make(map[string]string),
		times: make(map[string]int)}
	shown := slices.DeleteFunc(packages(t), func(p pkg) bool { return notShown.MatchString(p.dir) })
	makers := makersOf(shown)
	for _, p := range shown {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					m.call(p.dir, n, makers)
				case *ast.FuncDecl:
					if n.Name.Name == "Error" && n.Recv != nil {
						m.errors[p.dir] = append(m.errors[p.dir], literals(n.Body)...)
					}
				case *ast.ValueSpec:
					if len(n.Values) == 1 && p.dir == "trace" && strings.HasPrefix(n.Names[0].Name, "Code") {
						m.codes[n.Names[0].Name], _ = literal(n.Values[0])
					}
				case *ast.AssignStmt:
					if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && to.Sel.Name == "Headline" {
						m.headlines = append(m.headlines, literals(n.Rhs[0])...)
					}
				}
				return true
			})
			switch p.dir {
			case "stats/diagnosis":
				m.evidence = append(m.evidence, literals(f)...)
			case "document/cause":
				m.advice = append(m.advice, literals(f)...)
			case "report":
				switch path.Base(p.fset.Position(f.Pos()).Filename) {
				case "doubts.go", "unclassified.go", "fileio.go", "overview.go":
					m.verdicts = append(m.verdicts, literals(f)...)
				}
			}
		}
	}
	m.evidence = slices.DeleteFunc(m.evidence, func(text string) bool { return slices.Contains(m.headlines, text) })
	return m
}

// call notes what a call says: an error, or the details of a finding.
func (m *messages) call(dir string, c *ast.CallExpr, makers map[string][]string) {
	code, texts := "", []string(nil)
	for _, arg := range c.Args {
		if s, ok := arg.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Code") {
			code = s.Sel.Name
		}
		if text, ok := literal(arg); ok {
			texts = append(texts, text)
		} else if inner, ok := arg.(*ast.CallExpr); ok && nameOf(inner.Fun) == "fmt.Sprintf" && len(inner.Args) > 0 {
			if text, ok := literal(inner.Args[0]); ok {
				texts = append(texts, text)
			}
		}
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return !sentence.MatchString(text) })
	name := nameOf(c.Fun)
	_, last, _ := strings.Cut(name, ".")
	switch {
	case code != "":
		m.details[code] = append(m.details[code], texts...)
	case name == "fmt.Errorf" || name == "errors.New" || slices.Contains(refusers, last) || slices.Contains(makers[cmp.Or(last, name)], dir) ||
		ast.IsExported(last) && len(makers[last]) > 0:
		m.errors[dir] = append(m.errors[dir], texts...)
		for _, text := range texts {
			m.times[text]++
		}
	}
}

// makersOf returns the packages of the functions that return an error and are given texts, by name.
func makersOf(of []pkg) map[string][]string {
	makers := make(map[string][]string)
	for _, p := range of {
		for _, f := range p.files {
			for _, d := range f.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || d.Type.Results == nil {
					continue
				}
				is := func(of *ast.FieldList, what string) bool {
					return slices.ContainsFunc(of.List, func(f *ast.Field) bool {
						id, ok := f.Type.(*ast.Ident)
						return ok && strings.HasSuffix(id.Name, what)
					})
				}
				if is(d.Type.Params, "string") && (is(d.Type.Results, "error") || is(d.Type.Results, "Error")) {
					makers[d.Name.Name] = append(makers[d.Name.Name], p.dir)
				}
			}
		}
	}
	return makers
}

// nameOf returns what is called: "f", or "x.f".
func nameOf(e ast.Expr) string {
	switch f := e.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}

// sentence is what a text has that says something: two words.
var sentence = regexp.MustCompile(`\pL{2,}[^ ]* .*\pL{2,}`)

var verb = regexp.MustCompile(`%[-+#0]*(\[[0-9]+\])?[0-9.*]*[a-zA-Z%]`)

// literal returns a text that is written in the code, with … for what is put into it.
func literal(e ast.Expr) (string, bool) {
	switch x := e.(type) {
	case *ast.BasicLit:
		if x.Kind == token.STRING {
			text, err := strconv.Unquote(x.Value)
			return verb.ReplaceAllStringFunc(text, func(v string) string {
				if v == "%%" {
					return "%"
				}
				return "…"
			}), err == nil
		}
	case *ast.BinaryExpr:
		a, left := literal(x.X)
		b, right := literal(x.Y)
		switch {
		case x.Op != token.ADD || !left && !right:
			return "", false
		case !left:
			a = "…"
		case !right:
			b = "…"
		}
		return a + b, true
	}
	return "", false
}

// literals returns the sentences that are written below a node.
func literals(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if _, is := n.(*ast.ImportSpec); is {
			return false
		}
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := literal(e)
		if ok && sentence.MatchString(text) {
			out = append(out, strings.TrimSpace(text))
		}
		return !ok
	})
	return out
}

// document writes the list.
func (m *messages) document() []byte {
	var b bytes.Buffer
	b.WriteString("# Messages\n\nAll that the program says of traces, causes and errors, in the order of the alphabet. \"…\" is a name or a " +
		"number. " +
		"A test writes this list\nfrom the code: `go test . -run TestMessages -update`.\n")
	list := func(texts []string) {
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			fmt.Fprintf(&b, "* %s\n", strings.ReplaceAll(text, "\n", " "))
		}
	}
	b.WriteString("\n## Findings\n\n| code | severity | text | try |\n|---|---|---|---|\n")
	for _, c := range trace.Codes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.Code, c.Severity, c.Text, c.Try)
	}
	b.WriteString("\nDetails of the first occurrence:\n\n")
	for _, c := range trace.Codes() {
		for name, code := range m.codes {
			if code == string(c.Code) && len(m.details[name]) > 0 {
				slices.Sort(m.details[name])
				fmt.Fprintf(&b, "* `%s`: %s\n", code, strings.Join(slices.Compact(m.details[name]), " | "))
			}
		}
	}
	for _, part := range []struct {
		title string
		texts []string
	}{{"Headlines of causes", m.headlines}, {"Evidence of causes", m.evidence}, {"Advice", m.advice}, {"Doubts and verdicts", m.verdicts}} {
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		list(part.texts)
	}
	b.WriteString("\n## Errors\n")
	for _, dir := range slices.Sorted(maps.Keys(m.errors)) {
		if len(m.errors[dir]) > 0 {
			fmt.Fprintf(&b, "\n`%s`\n\n", dir)
			list(m.errors[dir])
		}
	}
	return b.Bytes()
}
