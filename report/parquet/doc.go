// Package parquet makes the tables that a directory of reports holds: calls, messages, collectives, and the sums of the
// document that other programs read more easily as columns.
package parquet
