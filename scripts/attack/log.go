package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// A log keeps the results of runs, a line of JSON each, so that a long campaign may be ended and taken
// up again. Runs that it has are not made a second time.
type log struct {
	file *os.File // nil: nothing is kept
	done map[int]result
}

// openLog opens a log with what it has; of an empty name it is one that keeps nothing. A last line that
// was not finished is a run that was not.
func openLog(name string) (*log, error) {
	l := &log{done: make(map[int]result)}
	if name == "" {
		return l, nil
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	l.file = f
	sound := int64(0)
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("%s: at %d: %w", name, sound, err)
		}
		l.done[r.Run] = r
		sound += int64(len(line))
	}
	_, err = f.Seek(sound, 0)
	return l, errors.Join(err, f.Truncate(sound))
}

// add notes a result, at once: a line is one write, and goroutines may call it.
func (l *log) add(r result) error {
	if l.file == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = l.file.Write(append(line, '\n'))
	return err
}

func (l *log) close() {
	if l.file != nil {
		l.file.Close() // every line was written at once
	}
}
