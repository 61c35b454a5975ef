// Package plots draws diagrams, matrices, histograms, fits as PNG, SVG and
// HTML. Imports nothing of ours but through small interfaces.
//
// Every drawing is made in two steps: plain data go in, a [Figure] comes out;
// the figure is then written as PNG or SVG (SVG can stand inside an HTML page
// as it is). The same data give the same bytes.
//
//	fig, err := plots.Histogram(plots.HistogramData{…})
//	err = fig.Save("send.svg")
//
// # The space-time diagram
//
// A [Timeline] is fed while a trace is read and never keeps the events
// themselves: memory is (pixel rows × pixel columns), whatever the length of
// the trace. What a pixel shows is defined, not left to the order of drawing:
//
//   - a column of pixels stands for a stretch of time of a bar,
//   - it has the colors of the stretch's three heaviest categories, and above them that of wait-state time, by their shares from bottom
//     to top; other categories count with the heaviest one,
//   - the ground shows by the share in which nothing was recorded,
//   - bars too thin to stack have the mean of these colors.
//
// Where few segments were fed they are drawn one by one on top, as vectors
// with their names, so that an SVG can be magnified. Messages are lines while
// they are few, else a density behind the bars.
//
// # Colors
//
// Callers give categories their colors; without one, a category has that of
// the curve with its index. Colors never depend on what a picture shows of a
// category. Sequential scales run from pale to dark, never turn back, and
// label their ends.
//
// # Bad data
//
// NaN, infinities, lengths that disagree and times out of order are errors of
// the constructors. Empty data are not: the figure then says so in words.
package plots
