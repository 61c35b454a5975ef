package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// A row of the table sums the runs of a command on a format, or of all.
type row struct {
	format, command string
	runs            int
	codes           [5]int // exit codes 0 to 4
	outcomes        [outcomes]int
	spent           time.Duration // the longest
	peak            int64         // the largest
}

func (w *row) add(r result) {
	w.runs++
	if r.Code >= 0 && r.Code < len(w.codes) {
		w.codes[r.Code]++
	}
	w.outcomes[r.Outcome]++
	w.spent, w.peak = max(w.spent, r.Spent), max(w.peak, r.Peak)
}

// printTable prints the runs by format and command, and of each format and all in bold. It
// returns how many were bad.
func printTable(out io.Writer, results []result, seed uint64) int {
	all := map[[2]string]*row{}
	for _, r := range results {
		for _, key := range [][2]string{{r.Format, r.Command}, {r.Format, ""}, {"", ""}} {
			if all[key] == nil {
				all[key] = &row{format: key[0], command: key[1]}
			}
			all[key].add(r)
		}
	}
	var rows []*row
	for _, w := range all {
		rows = append(rows, w)
	}
	slices.SortFunc(rows, func(a, b *row) int {
		return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.command, b.command))
	})
	fmt.Fprintf(out, "%d runs, seed %d\n\n", len(results), seed)
	fmt.Fprintln(out, "| format | command | runs | exit 0 | 1 | 3 | 4 | refused | same | announced | value | by nature | bad | longest | "+
		"largest |")
	fmt.Fprintln(out, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, w := range rows {
		if w.command == "" {
			w.format, w.command = "**"+cmp.Or(w.format, "all")+"**", "**all**"
		}
		o := w.outcomes
		fmt.Fprintf(out, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f s | %d MB |\n", w.format, w.command,
			w.runs,
			w.codes[0], w.codes[1], w.codes[3], w.codes[4], o[refused], o[same], o[announced], o[valued], o[natural], o[bad],
			w.spent.Seconds(), w.peak/1e6)
	}
	if len(results) == 0 {
		return 0
	}
	return all[[2]string{}].outcomes[bad]
}
