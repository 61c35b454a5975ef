// Package otf2 reads and writes archives of the Open Trace Format 2, without the
// reference library.
//
// The format is a table: records.go lists the fields of every record, and definitions,
// events, names and the writer follow it. Framing (files, chunks, records; frame.go) and
// decoding (cursor of fields; encoding.go) do not mix. The few kinds of event that make
// up nearly all of every trace have a decoder of their own (hot.go) which gives what the
// table would give.
//
// Identifiers in files may be sparse and are local to a location; Open makes them dense,
// and batches hold dense identifiers. The exceptions are Batch.Other.Args and the values
// of attributes whose type is a reference: they hold the file's global references.
package otf2
