// Package hangs reads what PyTorch's flight recorder dumps when a job stands still, one file a rank. It finds which rank has not arrived at
// which operation.
//
// The recorder keeps the last operations of each process group: in what order a rank called them, and whether they have begun
// and completed. The format is that of torch.distributed (keys version, pg_config, entries), as pickle or JSON.
package hangs
