package rules_test

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

// longestComment is the number of words that a sentence of a doc comment has at most.
const longestComment = 25

var (
	endOfSentence = regexp.MustCompile(`[.;:!?]\s+|\n\s*\n|\n\s+- `)
	codeLines     = regexp.MustCompile(`(?m)^\t.*$`)
	wordOfComment = regexp.MustCompile(`[\pL\pN]`)
)

// TestCommentSentences states that doc comments of packages, exported names and their fields have no long sentence.
func TestCommentSentences(t *testing.T) {
	for _, p := range packages(t) {
		check := func(comments ...*ast.CommentGroup) {
			for _, c := range comments {
				for _, s := range endOfSentence.Split(codeLines.ReplaceAllString(c.Text(), ""), -1) {
					words := 0
					for _, w := range strings.Fields(s) {
						if wordOfComment.MatchString(w) {
							words++
						}
					}
					if words > longestComment {
						t.Errorf("%s: %d words: %s", p.fset.Position(c.Pos()), words, strings.Join(strings.Fields(s), " "))
					}
				}
			}
		}
		for _, f := range p.files {
			check(f.Doc)
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if d.Name.IsExported() && exportedReceiver(d) {
						check(d.Doc)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						checkSpec(d, s, check)
					}
				}
			}
		}
	}
}

// checkSpec checks the comments of a type with its fields or methods, or those of a constant or variable.
func checkSpec(d *ast.GenDecl, s ast.Spec, check func(...*ast.CommentGroup)) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		if s.Names[0].IsExported() {
			check(d.Doc, s.Doc, s.Comment)
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		check(d.Doc, s.Doc, s.Comment)
		fields := &ast.FieldList{}
		switch t := s.Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		}
		for _, f := range fields.List {
			if len(f.Names) == 0 || f.Names[0].IsExported() {
				check(f.Doc, f.Comment)
			}
		}
	}
}
