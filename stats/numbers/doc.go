// Package numbers has the exact arithmetic of the analyses: ticks to nanoseconds, sums that do not overflow, ratios that may
// not be defined, and histograms whose quantiles lie within 1 per cent. It also sorts and searches lists that nearly are in order.
package numbers
