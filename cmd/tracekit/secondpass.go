package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"tracekit/shards"
	"tracekit/stats/distributed"
)

// A secondPass is made by other processes.
type secondPass struct{ command string }

// workers returns who makes the second pass: the processes that the command starts.
func (p *secondPass) workers(s *streams, dir string, h shards.Header) *distributed.Workers {
	return distributed.NewWorkers(dir, h, func(ctx context.Context) error {
		command := exec.CommandContext(ctx, "sh", "-c", p.command)
		command.Stdout, command.Stderr = s.Err, s.Err
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		command.WaitDelay = 10 * time.Second
		if err := command.Run(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("the second pass %q failed: %w", p.command, err)
		}
		return ctx.Err()
	})
}

// share makes a share of the second pass.
func (p *secondPass) share(c *cobra.Command, s *streams, o *analyzeOptions, dir string) error {
	if err := o.shard.parse(); err != nil {
		return err
	}
	if err := onlyFlags(c.Flags(), "--%s is for the combine that waits for the shares", "shard", "jobs", "memory", "quiet",
		"mirror"); err != nil {
		return err
	}
	if err := o.readFlags.validate(); err != nil {
		return err
	}
	task, err := distributed.Open(dir, o.shard.number, o.shard.of)
	if err != nil {
		return unreadable(fmt.Errorf("running a share of the second pass: %w", err))
	}
	if task.AlignStart {
		o.align = "start"
	}
	src, err := o.readFlags.open(c.Context(), task.Paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	bar := startProgress(s, o.quiet, "analyzing")
	defer bar.done()
	return task.Do(c.Context(), src, src.store, o.jobs, &bar.Progress)
}
