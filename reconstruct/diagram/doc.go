// Package diagram draws the space-time diagram of a trace: a lane for each location over the time of the run, with
// the messages and collectives between them. It draws recorded and rebuilt events alike.
package diagram
