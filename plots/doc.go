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
//   - its hue is the category with the largest share of the pixel's code,
//   - white is mixed in by the exact share of wait-state time,
//   - a hatch by the share of blocking that no wait state explains,
//   - the ground shows through by the share in which nothing was recorded.
//
// Where few segments were fed they are drawn one by one on top, as vectors
// with their names, so that an SVG can be magnified.
//
// # Colors
//
// User code is blue and green, MPI red and pink, as people know from other
// trace viewers; threads yellow and orange, accelerators violet, files brown.
// Within a group the heaviest category gets the first color. The first
// colors of each group differ in lightness as well as in hue, so that
// color-blind readers and gray printers can tell them apart. Sequential
// scales run from pale to dark and never turn back.
//
// # Bad data
//
// NaN, infinities, lengths that disagree and times out of order are errors of
// the constructors. Empty data are not: the figure then says so in words.
package plots
