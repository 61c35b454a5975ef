package paraver

import (
	"io"
	"strconv"
	"strings"
)

// A rowFile holds the names of objects by level: CPU, NODE, THREAD, TASK, APPL …
type rowFile map[string][]string

// readRow reads a .row file: blocks "LEVEL name SIZE n" and then n names, which may be
// empty lines.
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
