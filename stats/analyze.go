package stats

import (
	"context"
	"errors"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/doubt"
	"tracekit/document/training"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/distributed"
	"tracekit/stats/doubts"
	"tracekit/stats/scope"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// Analyze makes the whole document of a trace, and the tables behind it: what analysis.Analyze finds, what accelerators
// do, what is done to files and the causes if they are asked for. Errors are those of analysis.Analyze.
func Analyze(ctx context.Context, t *trace.Trace, opts analysis.Options, causes bool) (*analysis.Result, error) {
	from, to, err := scope.Window(t, scope.Selection{Ranks: opts.Ranks, From: opts.From, To: opts.To})
	if err != nil {
		return nil, err
	}
	found := distributed.NewFinders(t, opts.Ranks, from, to, opts.Jobs)
	opts.Observers = slices.Concat(found.Observers(), opts.Observers)
	a, err := analysis.Analyze(ctx, t, opts)
	if err != nil {
		return nil, err
	}
	a.Devices, a.DevicePath, a.Sampled, a.FileIO = found.Devices.Devices, found.Devices.Path, found.Devices.Counters, found.Files.Result
	a.Doubts = doubts.Find(t)
	diagnosis.DoubtRecords(a)
	if a.Selection == nil {
		if a.Training, a.Pipeline, err = ofTraining(ctx, t, opts.Jobs); err != nil {
			return nil, err
		}
	}
	switch left := leaveOut(t, a); {
	case !causes || left:
	case a.Selection != nil:
		err = diagnosePart(ctx, t, a, opts, from, to)
	default:
		err = diagnose(a, func() ([]cause.Cause, error) { return diagnosis.Find(ctx, t, a, opts.Jobs) })
		diagnosis.OfTraining(a)
	}
	shared := slices.ContainsFunc(a.Doubts, func(d doubt.Sign) bool { return d.Kind != doubt.LateRecords }) // cores
	for i := range a.Diagnosis {
		a.Diagnosis[i].Advise(shared)
	}
	return a, err
}

// ofTraining finds what a training job loses to slow workers, nil if the trace is none of such a job or its steps cannot be replayed.
func ofTraining(ctx context.Context, t *trace.Trace, jobs int) (*training.Job, *stragglers.Pipeline, error) {
	if !t.Defs.IsTraining() && !t.Communicates() {
		return nil, nil, nil // the steps of a profiled job are those of its communication
	}
	found, pipeline, err := stragglers.FindIn(ctx, t, jobs)
	var missing *stragglers.MissingError
	if errors.Is(err, stragglers.ErrNoJob) || errors.As(err, &missing) {
		return nil, nil, nil
	}
	return found, pipeline, err
}

// diagnose finds the causes of processes, as find says, of threads where nobody calls MPI, and of accelerators.
func diagnose(a *analysis.Result, find func() ([]cause.Cause, error)) (err error) {
	switch {
	case a.Efficiency != nil:
		a.Diagnosis, err = find()
	case a.Threads != nil:
		a.Diagnosis = diagnosis.OfThreads(a)
	}
	if err == nil && len(a.Devices) > 0 {
		a.Diagnosis = diagnosis.Join(a.Diagnosis, diagnosis.OfDevices(a))
	}
	return err
}
