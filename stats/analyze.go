package stats

import (
	"context"
	"errors"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/doubt"
	"tracekit/document/training"
	"tracekit/stats/analysis"
	"tracekit/stats/delays"
	"tracekit/stats/diagnosis"
	"tracekit/stats/distributed"
	"tracekit/stats/doubts"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/stats/stragglers"
	"tracekit/trace"
)

// Analyze makes the whole document of a trace, and the tables behind it: what analysis.Analyze finds, what accelerators
// do, what is done to files and the causes if they are asked for. Errors are those of analysis.Analyze.
func Analyze(ctx context.Context, t *trace.Trace, opts analysis.Options, causes bool) (*analysis.Result, error) {
	part, err := scope.New(t, scope.Selection{Ranks: opts.Ranks, From: opts.From, To: opts.To})
	if err != nil {
		return nil, err
	}
	var job *training.Job
	var pipeline *stragglers.Pipeline
	if part.All() {
		if job, pipeline, err = ofTraining(ctx, t, opts.Jobs); err != nil {
			return nil, err
		}
		opts.Steps = steps(t, job)
	}
	found := distributed.NewFinders(t, opts.Ranks, part.From, part.To, opts.Jobs)
	opts.Observers = slices.Concat(found.Observers(), opts.Observers)
	a, err := analysis.Analyze(ctx, t, opts)
	if err != nil {
		return nil, err
	}
	a.Training, a.Pipeline = job, pipeline
	a.Devices, a.DevicePath, a.Sampled, a.FileIO = found.Devices.Devices, found.Devices.Path, found.Devices.Counters, found.Files.Result
	if a.Doubts, err = doubts.Find(ctx, t, opts.Jobs); err != nil {
		return nil, err
	}
	diagnosis.DoubtRecords(t, a)
	switch left := leaveOut(t, a); {
	case !causes || left:
	case a.Selection != nil:
		err = diagnosePart(ctx, t, a, opts, part.From, part.To)
	default:
		err = diagnose(t, a, func() ([]cause.Cause, error) { return diagnosis.Find(ctx, t, a, opts.Jobs) })
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

// steps returns the steps of a training job; nil if there is no job.
func steps(t *trace.Trace, job *training.Job) *delays.Steps {
	if job == nil {
		return nil
	}
	clock := numbers.Rate{Resolution: t.Defs.Clock.Resolution}
	at := func(ns int64) int64 { return t.Defs.Clock.GlobalOffset + clock.Ticks(ns) }
	var within [][2]int64
	for _, s := range job.ByStep {
		within = append(within, [2]int64{at(s.FromNs), at(s.ToNs)})
	}
	var slow []uint32
	for i := range job.ByWorker {
		if w := &job.ByWorker[i]; w.Pattern != "" || w.OftenLongest {
			slow = append(slow, uint32(w.Rank))
		}
	}
	return delays.NewSteps(t, within, slow)
}

// diagnose finds the causes of processes, as find says, of threads where nobody calls MPI, and of accelerators; of others that they
// wait for input.
func diagnose(t *trace.Trace, a *analysis.Result, find func() ([]cause.Cause, error)) (err error) {
	switch {
	case a.Efficiency != nil:
		a.Diagnosis, err = find()
	case a.Threads != nil:
		a.Diagnosis = diagnosis.OfThreads(a)
	}
	switch {
	case err != nil:
	case len(a.Devices) > 0:
		a.Diagnosis = diagnosis.Join(a.Diagnosis, diagnosis.OfDevices(a))
	default:
		if loading := diagnosis.OfLoading(t, a); len(loading) > 0 {
			a.Diagnosis = diagnosis.Join(a.Diagnosis, loading)
		}
	}
	return err
}
