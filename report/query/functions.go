package query

import (
	"database/sql/driver"
	"errors"
	"math"
	"slices"

	"modernc.org/sqlite"
)

// functions adds statistics to a driver: median(x), percentile(x, p) with p from 0 to 100, interpolated, and stddev(x), that of a sample.
// They leave out NULL, and are NULL without values.
func functions(d *sqlite.Driver) error {
	var errs []error
	for name, f := range map[string]struct {
		arguments int32
		of        func([]float64, float64) (float64, bool)
	}{
		"median":     {1, func(x []float64, _ float64) (float64, bool) { return percentile(x, 50) }},
		"percentile": {2, percentile},
		"stddev":     {1, func(x []float64, _ float64) (float64, bool) { return stddev(x) }},
	} {
		errs = append(errs, d.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: f.arguments, Deterministic: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return &statistic{of: f.of}, nil }}))
	}
	return errors.Join(errs...)
}

// A statistic keeps the values that it is of.
type statistic struct {
	of     func(x []float64, p float64) (value float64, ok bool)
	values []float64
	p      float64
}

// number64 returns a value of SQLite as a number; ok is false of what is none.
func number64(v driver.Value) (f float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// Step implements sqlite.AggregateFunction.
func (s *statistic) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if len(args) > 1 {
		p, ok := number64(args[1])
		if !ok || p < 0 || p > 100 {
			return errors.New("percentile: the second argument is a number from 0 to 100")
		}
		s.p = p
	}
	if v, ok := number64(args[0]); ok {
		s.values = append(s.values, v)
	} else if args[0] != nil {
		return errors.New("median, percentile and stddev are of numbers")
	}
	return nil
}

// WindowInverse implements sqlite.AggregateFunction.
func (s *statistic) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if args[0] != nil {
		s.values = s.values[1:]
	}
	return nil
}

// WindowValue implements sqlite.AggregateFunction.
func (s *statistic) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	if v, ok := s.of(s.values, s.p); ok {
		return v, nil
	}
	return nil, nil
}

// Final implements sqlite.AggregateFunction.
func (s *statistic) Final(*sqlite.FunctionContext) {}

func percentile(x []float64, p float64) (float64, bool) {
	if len(x) == 0 {
		return 0, false
	}
	x = slices.Clone(x)
	slices.Sort(x)
	at := p / 100 * float64(len(x)-1)
	low := int(at)
	if part := at - float64(low); part > 0 {
		return x[low] + part*(x[low+1]-x[low]), true
	}
	return x[low], true
}

func stddev(x []float64) (float64, bool) {
	if len(x) < 2 {
		return 0, false
	}
	mean, squares := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(x)-1)), true
}
