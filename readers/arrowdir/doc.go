// Package arrowdir reads and writes traces as directories of Arrow IPC or Parquet files. Other programs (DuckDB, pandas, Polars) read them,
// and tracekit reads them again without loss. It writes tables of results as Parquet files, for other programs only.
//
// # Layout
//
//	X/tracekit.json      what the trace is, which rows belong to which location, checksums
//	X/defs/KIND.EXT      definitions, one table for each kind, joined by id
//	X/events/TABLE.EXT   events: flow, p2p, coll, metric, other, attrs
//
// EXT is arrow or parquet. Each table of events has the columns of its trace.TableID and
// the column location. Rows of a location stand in order of seq, in row groups (Parquet) or
// records (Arrow) of at most MaxGroupRows rows; locations of few events share one. Parquet
// files are compressed with zstd.
//
// Another program may read a Parquet table and write it again with the same columns, rows and order: it is read,
// uncompressed or with snappy or zstd, in row groups of any size, also where columns are optional. The finding
// trace.CodeRewritten says so.
//
// A trace that several processes have written lies in parts, directories of this layout below one
// whose tracekit.json names their number: see PartName.
//
// Times are raw ticks; the clock's resolution and the measured offsets stand in the
// definitions.
package arrowdir
