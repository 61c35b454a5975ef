// Package codec codes values in memory, or as a stream that another process, on another machine,
// may read.
//
// A stream begins with a line that says what it is and in which version, and goes on in packets:
//
//	length   uvarint, at most maxPacket
//	payload  length bytes
//	sum      4 bytes, CRC-32C of the payload, little-endian
//
// An empty packet is the end: a stream without it is cut off. A payload is values behind each other, none of which crosses a packet; in
// memory there is nothing but values. Numbers are varints, with a sign as zigzag; texts length and bytes; tables lie by columns, 1024 rows
// at a time: 0 and each number as the difference to the one above it. Where that is always the same: 1, the first number and the
// difference.
//
// One description serves both directions (Coder): what is written first is read first. It says of each
// field and column what its numbers may be (Bound); what is read and cannot be is refused. No length
// that is stated is believed, and the first error sticks. What several numbers together mean, and
// whether that can be so, is for the caller to check.
package codec
