// Package devices says what accelerators do and why they idle (DEFINITIONS 2.9).
//
// It knows no format: the roles of regions tell what a location executes (trace.Defs.DeviceWorks). The attribute correlation tells what a
// call launches or, where a trace has none, flows do. The kernels of a device are merged in order of their begin, from all its streams.
// Everything follows from one pass over them and, for the causes of idleness, one pass back.
package devices
