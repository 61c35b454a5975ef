package sequence_test

import (
	"fmt"

	"tracekit/formulae/sequence"
)

func ExampleLearner() {
	l := sequence.NewLearner(sequence.DefaultTerms)
	for range 1000 {
		for _, v := range []uint64{7, 7, 3} {
			l.Add(v)
		}
	}
	f := l.Formula()
	fmt.Println(f.Kind, f.Body, f.Count)
	// Output: cycle [{7 2} {3 1}] 3000
}
