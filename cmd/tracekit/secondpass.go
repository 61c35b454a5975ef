package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/engine"
	"tracekit/shards"
	"tracekit/stats/distributed"
)

// A secondPass is made by other processes.
type secondPass struct{ command string }

// workers returns who makes the second pass: the processes that the command starts.
func (p *secondPass) workers(s *cli.Streams, dir string, h shards.Header) *distributed.Workers {
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
func (p *secondPass) share(ctx context.Context, s *cli.Streams, o *analyzeOptions, dir string) error {
	if err := o.ShardFlag.Parse(); err != nil {
		return err
	}
	if err := cli.OnlyFlags(o.Set, "--%s is for the combine that waits for the shares", "shard", "jobs", "memory", "quiet",
		"mirror"); err != nil {
		return err
	}
	if err := o.ReadFlags.Validate(); err != nil {
		return err
	}
	task, err := distributed.Open(dir, o.ShardFlag.Number, o.ShardFlag.Of)
	if err != nil {
		return cli.Unreadable(fmt.Errorf("running a share of the second pass: %w", err))
	}
	if task.AlignStart {
		o.Align = "start"
	}
	src, err := o.ReadFlags.Open(ctx, task.Paths...)
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = cli.Watch(s, o.Quiet, "analyzing", func(p *engine.Progress) (any, error) {
		return nil, task.Do(ctx, src, src.Store, o.Jobs, p)
	})
	return err
}
