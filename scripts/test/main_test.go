package main

import (
	"strings"
	"testing"
)

// TestSummarize: passing tests are silent, failing ones say what they printed, also when their process
// ends early, and skipped ones say why.
func TestSummarize(t *testing.T) {
	events := `
{"Action":"build-output","ImportPath":"x/c","Output":"c.go:1: undefined\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"    a_test.go:3: noise\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestTool/one","Output":"=== RUN   TestTool/one\n"}
{"Action":"output","Package":"x/a","Test":"TestTool/one","Output":"    a_test.go:7: needs a tool\n"}
{"Action":"output","Package":"x/a","Test":"TestTool/one","Output":"    --- SKIP: TestTool/one (0.00s)\n"}
{"Action":"skip","Package":"x/a","Test":"TestTool/one"}
{"Action":"output","Package":"x/a","Test":"TestTool/two","Output":"    a_test.go:9: needs a tool\n"}
{"Action":"skip","Package":"x/a","Test":"TestTool/two"}
{"Action":"pass","Package":"x/a","Test":"TestTool"}
{"Action":"output","Package":"x/a","Output":"PASS\n"}
{"Action":"output","Package":"x/a","Output":"ok  \tx/a\t0.1s\n"}
{"Action":"pass","Package":"x/a"}
{"Action":"output","Package":"x/b","Test":"TestBad","Output":"    b_test.go:4: wrong\n"}
{"Action":"output","Package":"x/b","Test":"TestBad","Output":"--- FAIL: TestBad (0.00s)\n"}
{"Action":"fail","Package":"x/b","Test":"TestBad"}
{"Action":"output","Package":"x/b","Test":"TestPanics","Output":"panic: oh\n"}
{"Action":"output","Package":"x/b","Output":"FAIL\tx/b\t0.1s\n"}
{"Action":"fail","Package":"x/b"}
{"Action":"output","Package":"x/d","Output":"?   \tx/d\t[no test files]\n"}
{"Action":"skip","Package":"x/d"}
`
	want := `
c.go:1: undefined
ok  	x/a	0.1s
    b_test.go:4: wrong
--- FAIL: TestBad (0.00s)
FAIL	x/b	0.1s
panic: oh
?   	x/d	[no test files]

Skipped, in whole or in part, and why:
  needs a tool
    x/a: TestTool
`
	var got strings.Builder
	if summarize(&got, strings.NewReader(events)); got.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
	}
}
