// Command tracekit-beam analyses, compresses or converts a trace with the workers of an Apache Beam runner: Flink, Spark,
// Dataflow, or Beam's own on this machine.
//
//	tracekit-beam [flags of the runner] analyze|compress|convert TRACE... [-- flags of 'tracekit combine']
//
// An element of a pipeline is a shard of the trace: some of its locations, never an event. A
// worker goes through its shard and leaves the partial results (package shards) in a directory
// that all machines see; then 'tracekit combine' joins them where this command was started. For
// the second pass that an analysis makes over the events it starts this command again, which makes it with a second pipeline
// (package stats/distributed); then it ends the analysis.
//
// What has an address in an object store is fetched into mirrors, by each process what it needs, and put there
// from them (objects.go). Nothing else knows of stores.
// What is distributed, and what is not, stands in docs/internals/CLUSTER.md.
//
// It is a module of its own, so that the plain command does not grow by what Beam needs.
package main
