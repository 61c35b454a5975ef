// Package partial encodes partial results, so that another process, on another machine, may
// combine them.
//
// A stream begins with a line that says what it is and in which version, and goes on in packets:
//
//	length   uvarint, at most maxPacket
//	payload  length bytes
//	sum      4 bytes, CRC-32C of the payload, little-endian
//
// An empty packet is the end: a stream without it is cut off. A payload is values behind each
// other, none of which crosses a packet: numbers as varints, with a sign as zigzag; texts as
// length and bytes; tables by columns, 1024 rows at a time: 0 and each number as the
// difference to the one above it or, where that is always the same, 1, the first number and the
// difference.
//
// One description serves both directions (Coder): what is written first is read first. No length
// that a stream states is believed, and the first error sticks; what the numbers mean, and
// whether they can be so, is for the caller to check.
package partial
