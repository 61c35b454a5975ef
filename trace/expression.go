package trace

import (
	"regexp"
	"sync"
)

// Expression returns what gives a regular expression, which it compiles when it is first asked for. Most tell the names of one format and
// are of no use to the others. To compile all takes a process as long as to open a trace. It panics where a form is none.
func Expression(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}
