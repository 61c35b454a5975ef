package paraver

import (
	"io"
	"strconv"
	"strings"
)

// A rowFile holds the names of objects by level: CPU, NODE, THREAD, TASK, APPL …
type rowFile map[string][]string

// readRow reads a .row file: blocks of n names, which may be empty lines, in the order of the
// header's objects:
//
//	LEVEL TASK SIZE 2
//	rank 0
//	rank 1
//
// Levels come in any order, and n may differ from the number of objects.
func readRow(r io.Reader) (rowFile, error) {
	rows, level, left := make(rowFile), "", 0
	err := lines(r, func(line string) {
		if left > 0 {
			rows[level] = append(rows[level], line)
			left--
			return
		}
		f := strings.Fields(line)
		if len(f) == 4 && f[0] == "LEVEL" && f[2] == "SIZE" {
			if n, err := strconv.Atoi(f[3]); err == nil {
				level, left = f[1], n
			}
		}
	})
	return rows, err
}

// name returns the name of object i of a level, "" if there is none.
func (r rowFile) name(level string, i int) string {
	if names := r[level]; i >= 0 && i < len(names) {
		return names[i]
	}
	return ""
}
