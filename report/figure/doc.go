// Package figure draws what documents hold.
package figure

import "tracekit/plots"

// Add takes a figure under its name in a directory.
type Add func(name string, f *plots.Figure)
