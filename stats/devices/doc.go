// Package devices says what accelerators do and why they idle (DEFINITIONS 2.9).
//
// It knows no format: what a location executes is told by the roles of regions
// (trace.Defs.DeviceWorks), what a call launches by the attribute correlation or, where a trace
// has none, by flows. The kernels of a device are merged in order of their begin, from all its
// streams, and everything follows from one pass over them and, for the causes of idleness, one
// pass back.
package devices
