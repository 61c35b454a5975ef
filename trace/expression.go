package trace

import (
	"regexp"
	"sync"
)

// Expression returns what gives a regular expression, which it compiles when it is first asked for: those that tell the names of one
// format are of no use to the others, and to compile all takes a process as long as to read a small trace. It panics if there is none of
// that form.
func Expression(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}
