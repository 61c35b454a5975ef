package main

import (
	"os"

	"golang.org/x/sys/unix"
)

const defaultWidth = 120

// terminalWidth returns the width of the terminal on standard output, or a width that
// reads well in files and pipes.
func terminalWidth() int {
	ws, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col < 40 {
		return defaultWidth
	}
	return int(ws.Col)
}
