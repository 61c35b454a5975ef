// Package rules_test keeps the rules of the code base that no compiler knows.
package rules_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracekit/trace/tracetest"
)

const module = "tracekit/"

// A pkg is one folder with Go files that are not tests.
type pkg struct {
	dir   string // relative to the module
	files []*ast.File
	fset  *token.FileSet
}

func packages(t *testing.T) []pkg {
	t.Helper()
	byDir := map[string]*pkg{}
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || e.Name() == "testdata") {
			return filepath.SkipDir
		}
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		if byDir[dir] == nil {
			byDir[dir] = &pkg{dir: dir, fset: token.NewFileSet()}
		}
		f, err := parser.ParseFile(byDir[dir].fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		byDir[dir].files = append(byDir[dir].files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []pkg
	for _, p := range byDir {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b pkg) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// imports returns the packages of this module that p imports.
func (p pkg) imports() []string {
	var out []string
	for _, f := range p.files {
		for _, i := range f.Imports {
			name, _ := strconv.Unquote(i.Path.Value)
			if rest, ok := strings.CutPrefix(name, module); ok && !slices.Contains(out, rest) {
				out = append(out, rest)
			}
		}
	}
	return out
}

// layers are the packages from the ground up: each imports packages of lower layers only, never one of its own layer.
var layers = [][]string{
	{"tempfile"},
	{"spill", "plots", "scripts/attack/worker", "formulae/internal/coder", "formulae/sequence", "readers/internal/wire", "readers/internal/output",
		"readers/internal/protobuf", "readers/internal/protobuf/protobuftest", "stats/fit",
		"trace/tracetest/mutate"},
	{"trace", "codec", "readers/internal/sqlite"},
	{"document/field", "engine", "codec/model", "codec/codectest", "samples", "trace/tracetest", "readers/arrowdir",
		"formulae/internal/pack",
		"stats/threads", "stats/causal", "stats/numbers"},
	{"document/words", "document/cause", "document/waitstate", "document/accelerator", "document/training", "document/doubt", "document/counter", "document/sample", "formulae/partners", "merge", "shards", "readers/internal/spool",
		"stats/phases", "topology",
		"samples/oracle", "readers/otf2"},
	{"document", "document/gate", "document/palette", "report/text", "report/unit", "readers/internal/nest", "readers/paraver", "formulae"},
	{"stats/scope", "stats/measurement", "stats/stragglers", "stats/hangs", "report", "reconstruct", "formulae/internal/symbols", "readers/jsontrace", "readers/internal/recording"},
	{"stats/waits", "reduce", "formulae/tkf", "readers/nsight", "readers/rocpd", "readers/perfetto", "readers/xplane", "readers/spans",
		"readers/internal/recording/recordingtest"},
	{"stats/profile", "readers"},
	{"stats/critical", "stats/overhead", "stats/replay", "stats/devices", "stats/fileio"},
	{"stats/delays", "stats/distributed"},
	{"stats/analysis"},
	{"stats/whatif", "stats/studies/headers", "stats/studies/sampling", "stats/scaling", "stats/compare", "stats/statstest",
		"reconstruct/difference"},
	{"stats/diagnosis", "stats/doubts", "reduce/pattern", "page"},
	{"document/outcome"},
	{"report/figure"},
	{"stats", "report/parquet", "report/show", "reconstruct/diagram", "viewer", "agent", "cmd/tracekit/internal/flags"},
	{"report/query", "cmd/tracekit/internal/cli", "cmd/tracekit/internal/prompt"},
	{"scripts/attack", "scripts/test", "scripts/notice", "cmd/tracekit", "beam"},
}

// layerOf returns the number of a package's layer, -1 if it has none.
func layerOf(dir string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, dir) })
}

// TestLayers states that imports lead down.
func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		at := layerOf(p.dir)
		if at < 0 {
			t.Errorf("%s has no layer: add it to the list above", p.dir)
		}
		for _, dep := range p.imports() {
			if to := layerOf(dep); to >= at {
				t.Errorf("%s imports %s, which is not below it (layers %d and %d)", p.dir, dep, at, to)
			}
		}
	}
}

// TestFormats states that no stage knows a format, so that no product file imports both a format and an analysis.
func TestFormats(t *testing.T) {
	stages := regexp.MustCompile("^(merge|stats|formulae|reconstruct|reduce)(/|$)")
	formats := regexp.MustCompile("^readers(/|$)")
	for _, p := range packages(t) {
		for _, dep := range p.imports() {
			if stages.MatchString(p.dir) && formats.MatchString(dep) || formats.MatchString(p.dir) && strings.HasPrefix(dep, "stats") {
				t.Errorf("%s imports %s: no stage knows a format, no format an analysis", p.dir, dep)
			}
		}
	}
}

// TestLeaves states which packages know none of ours but those named, and which are for tests alone.
func TestLeaves(t *testing.T) {
	only := map[string][]string{"plots": nil, "spill": nil, "stats/fit": nil, "trace": {"spill"}, "codec": {"spill"}}
	const sources = "readers/internal/recording/recordingtest"
	forTests := map[string][]string{"readers/internal/protobuf/protobuftest": nil,
		"trace/tracetest": {"samples/oracle", sources}, "stats/statstest": {"samples/oracle"}, sources: nil,
		"scripts/attack/worker":  {"scripts/attack", "cmd/tracekit"},             // of the latter what is built with the tag attack
		"trace/tracetest/mutate": {"codec/codectest", "scripts/attack", sources}} // and tools that are tests themselves
	for _, p := range packages(t) {
		allowed, leaf := only[p.dir]
		for _, dep := range p.imports() {
			if leaf && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s: of ours it knows only %q", p.dir, dep, allowed)
			}
			if tools, ok := forTests[dep]; ok && !slices.Contains(tools, p.dir) {
				t.Errorf("%s imports %s, which is for tests", p.dir, dep)
			}
		}
	}
}

// TestGoroutines states where concurrency may live: the engine, the readers, the viewer, which
// answers requests, and the command's progress display.
func TestGoroutines(t *testing.T) {
	for _, p := range packages(t) {
		if p.dir == "engine" || p.dir == "viewer" || strings.HasPrefix(p.dir, "readers") {
			continue
		}
		for _, f := range p.files {
			for _, n := range goroutines(f) {
				if at := p.fset.Position(n.Pos()); filepath.ToSlash(at.Filename) != "cmd/tracekit/internal/cli/progress.go" {
					t.Errorf("%s: a goroutine outside engine, readers and viewer", at)
				}
			}
		}
	}
}

// goroutines returns what starts goroutines in a file: go statements, and the methods and
// functions of the standard library and its neighbours that do, called or passed on.
func goroutines(f *ast.File) []ast.Node {
	var out []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			out = append(out, n)
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Go", "TryGo", "AfterFunc"}, n.Sel.Name) {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// TestGoroutinesAreSeen states which statements TestGoroutines counts.
func TestGoroutinesAreSeen(t *testing.T) {
	for statements, want := range map[string]int{
		"f()":                             0,
		"go f()":                          1,
		"defer func() { go f() }()":       1,
		"var wg sync.WaitGroup; wg.Go(f)": 1,
		"new(sync.WaitGroup).Go(f)":       1,
		"p.done.Go(f); p.done.Wait()":     1,
		"g, _ := errgroup.WithContext(ctx); g.Go(f); g.TryGo(f)": 2,
		"start := g.Go; start(f)":                                1,
		"time.AfterFunc(time.Second, f)":                         1,
		"context.AfterFunc(ctx, f)":                              1,
		"for range 3 { wg.Go(func() { go f() }) }":               2,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() { "+statements+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(goroutines(f)); got != want {
			t.Errorf("%s: %d goroutines, want %d", statements, got, want)
		}
	}
}

// TestStart states that the program compiles no regular expression before it needs it: trace.Expression waits.
func TestStart(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files {
			for _, d := range f.Decls {
				variables, ok := d.(*ast.GenDecl)
				if !ok || strings.HasPrefix(p.dir, "scripts") {
					continue
				}
				ast.Inspect(variables, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "MustCompile" {
						t.Errorf("%s: each start of the program compiles it", p.fset.Position(n.Pos()))
					}
					return true
				})
			}
		}
	}
}

// TestFolders states that the table of folders in CONTRIBUTING is what the folders are:
// every package lies in a folder of the table, and every folder of the table is there.
func TestFolders(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)/` \\|").FindAllSubmatch(text, -1) {
		folders = append(folders, string(row[1]))
	}
	for _, dir := range folders {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			t.Errorf("CONTRIBUTING has a row for %s, which is no folder", dir)
		}
	}
	for _, p := range packages(t) {
		if !slices.ContainsFunc(folders, func(dir string) bool { return p.dir == dir || strings.HasPrefix(p.dir, dir+"/") }) {
			t.Errorf("CONTRIBUTING has no row for %s", p.dir)
		}
	}
}

// TestDocumented states that every exported name has a doc comment and every package
// says what it is for, and that no package has an init function.
func TestDocumented(t *testing.T) {
	for _, p := range packages(t) {
		documented := false
		for _, f := range p.files {
			documented = documented || f.Doc != nil
			for _, d := range f.Decls {
				checkDocumented(t, p.fset, d)
			}
		}
		if !documented {
			t.Errorf("%s: the package has no doc comment", path.Clean(p.dir))
		}
	}
}

func checkDocumented(t *testing.T, fset *token.FileSet, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.Name == "init" && d.Recv == nil {
			t.Errorf("%s: an init function", fset.Position(d.Pos()))
		}
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !isStandard(d.Name.Name) {
			t.Errorf("%s: %s has no doc comment", fset.Position(d.Pos()), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: %s has no doc comment", fset.Position(s.Pos()), s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					t.Errorf("%s: %s has no doc comment", fset.Position(s.Pos()), s.Names[0].Name)
				}
			}
		}
	}
}

// mostExports is how many exported names a package may have, trace aside, whose model all others share.
const mostExports = 60

// TestExports states that a package is one idea: functions, types, constants and variables that it exports, methods and fields aside.
func TestExports(t *testing.T) {
	for _, p := range packages(t) {
		exported := 0
		for _, f := range p.files {
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Recv == nil && d.Name.IsExported() {
						exported++
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							if s.Name.IsExported() {
								exported++
							}
						case *ast.ValueSpec:
							for _, name := range s.Names {
								if name.IsExported() {
									exported++
								}
							}
						}
					}
				}
			}
		}
		if exported > mostExports && p.dir != "trace" {
			t.Errorf("%s exports %d names, of at most %d: what in it is an idea of its own?", p.dir, exported, mostExports)
		}
	}
}

// isStandard tells methods whose meaning the standard library fixes.
func isStandard(name string) bool {
	return slices.Contains([]string{"Error", "Unwrap", "Len", "Less", "Swap", "Write", "Read", "Close"}, name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

// TestSentences states where sentences for people and titles of tables stand: in the documents, the report, what draws, the findings, the
// help of commands, and the two packages of the analysis whose documents are sentences: causes and doubts.
func TestSentences(t *testing.T) {
	speaks := regexp.MustCompile("^(cmd|agent|document|report|page|viewer|plots|trace|samples|scripts|beam|reconstruct/diagram|stats/diagnosis|stats/doubts|stats/hangs)(/|$)")
	sentence := regexp.MustCompile(`^[A-Z≈][^.]* [^.]* [^.]*\.$|[a-z)]\. [A-Z][a-z]`)
	title := regexp.MustCompile(`^[A-Z≈][a-z]+,?( [a-z]+,?)+$`)
	for _, p := range packages(t) {
		if speaks.MatchString(p.dir) {
			continue
		}
		for _, dep := range p.imports() {
			if dep == "report" || strings.HasPrefix(dep, "report/") {
				t.Errorf("%s imports %s: what is computed knows nothing of how it is shown", p.dir, dep)
			}
		}
		formats := strings.HasPrefix(p.dir, "readers") // whose names of things are sentences to nobody
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				l, ok := n.(*ast.BasicLit)
				if !ok || l.Kind != token.STRING {
					return true
				}
				if s, err := strconv.Unquote(l.Value); err == nil && (sentence.MatchString(s) || !formats && title.MatchString(s)) {
					t.Errorf("%s: a sentence or a title: %q", p.fset.Position(l.Pos()), s)
				}
				return true
			})
		}
	}
}

// TestEnglishDecidesNothing states that no text for people is compared with another to decide anything. What recorders write is:
// formats and the model know its words.
func TestEnglishDecidesNothing(t *testing.T) {
	english := regexp.MustCompile(`^[A-Za-z]+,?( [a-z]+,?)+$`)
	check := func(p pkg, list ...ast.Expr) {
		for _, e := range list {
			if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, _ := strconv.Unquote(l.Value); english.MatchString(s) {
					t.Errorf("%s: something is compared with the text %q", p.fset.Position(l.Pos()), s)
				}
			}
		}
	}
	for _, p := range packages(t) {
		if p.dir == "trace" || strings.HasPrefix(p.dir, "readers") {
			continue
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if n.Op == token.EQL || n.Op == token.NEQ {
						check(p, n.X, n.Y)
					}
				case *ast.CaseClause:
					check(p, n.List...)
				}
				return true
			})
		}
	}
}

// TestLines states that lines have at most 140 characters, a tab for one of them. Texts do not count: where one is longer, to break it
// makes it harder to find.
func TestLines(t *testing.T) {
	const most = 140
	for _, file := range tracked(t) {
		if path.Ext(file) != ".go" {
			continue
		}
		src, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) { // it is removed, and that is not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		width := make([]int, 1, bytes.Count(src, []byte("\n"))+1)
		for _, c := range string(withoutTexts(src)) {
			width[len(width)-1]++
			if c == '\n' {
				width[len(width)-1]--
				width = append(width, 0)
			}
		}
		for i, n := range width {
			if n > most {
				t.Errorf("%s:%d: %d characters, more than %d", file, i+1, n, most)
			}
		}
	}
}

// withoutTexts returns Go source with the content of its strings left out, but for ends of lines.
func withoutTexts(src []byte) []byte {
	var out []byte
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	at := 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return append(out, src[at:]...)
		}
		if tok == token.STRING {
			begin := file.Offset(pos)
			out = append(out, src[at:begin]...)
			out = append(out, strings.Repeat("\n", strings.Count(text, "\n"))...)
			at = begin + len(text)
		}
	}
}

// tracked returns the files that the repository keeps.
func tracked(t *testing.T) []string {
	t.Helper()
	_, _ = os.Stat(filepath.Join(".git", "index")) // so that a result from before it changed is not used again
	list, err := exec.Command(tracetest.Program(t, "git", "git"), "ls-files", "-z").Output()
	if err != nil {
		tracetest.Need(t, "a clone of the repository")
	}
	return slices.DeleteFunc(strings.Split(string(list), "\x00"), func(name string) bool { return name == "" })
}

// executable returns the format of a built program by its first bytes, "" of another file.
func executable(head []byte) string {
	for start, format := range map[string]string{
		"\x7fELF": "ELF", "MZ\x90\x00": "PE",
		"\xfe\xed\xfa\xce": "Mach-O", "\xfe\xed\xfa\xcf": "Mach-O", "\xce\xfa\xed\xfe": "Mach-O", "\xcf\xfa\xed\xfe": "Mach-O", "\xca\xfe\xba\xbe": "Mach-O",
	} {
		if bytes.HasPrefix(head, []byte(start)) {
			return format
		}
	}
	return ""
}

// TestNothingBuilt states that no tracked file is a built program, or so large that only one can be meant.
func TestNothingBuilt(t *testing.T) {
	const mostBytes = 2 << 20
	seen := 0
	for _, name := range tracked(t) {
		info, err := os.Lstat(name)
		if err != nil || !info.Mode().IsRegular() { // it is removed, and that is not committed yet
			continue
		}
		seen++
		if info.Size() > mostBytes {
			t.Errorf("%s has %d bytes, more than %d", name, info.Size(), mostBytes)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 4)
		n, _ := f.Read(head)
		f.Close()
		if format := executable(head[:n]); format != "" {
			t.Errorf("%s is a built program (%s)", name, format)
		}
	}
	if seen < 1000 {
		t.Errorf("%d tracked files, want 1000 or more", seen)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil || executable(self) == "" {
		t.Errorf("the built program %s is not recognized: %v", os.Args[0], err)
	}
}
