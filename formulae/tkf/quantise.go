package tkf

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"tracekit/formulae/internal/pack"
)

// A TimeError says how far times may be from the recorded ones. The zero value means that
// they are exact.
type TimeError struct {
	// Absolute bounds |t' - t| for every event, in ns.
	Absolute int64

	// Relative bounds |d' - d| / d for every interval d between consecutive events of a
	// location. What is rounded off an interval is given to the following ones as far as
	// their own bounds allow.
	Relative float64
}

// ParseTimeError reads "1us", "250ns", "1%", "0.5%" or "0".
func ParseTimeError(s string) (TimeError, error) {
	if p, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || !(v >= 0 && v <= 50) {
			return TimeError{}, fmt.Errorf("time error %q: not a percentage from 0 to 50", s)
		}
		return TimeError{Relative: v / 100}, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return TimeError{}, fmt.Errorf("time error %q: neither a duration (1us) nor a percentage (1%%)", s)
	}
	return TimeError{Absolute: d.Nanoseconds()}, nil
}

// A quantiser rounds times. It is exact if unit is 1 and keep is 0.
type quantiser struct {
	unit uint64 // times lie this many ticks apart, an odd number
	keep uint   // steps keep so many bits; 0: all
	part uint64 // of a step, 1/part may be corrected
}

// quantise returns the quantiser for a bound at a clock's resolution.
func (e TimeError) quantise(resolution uint64) (quantiser, error) {
	q := quantiser{unit: 1}
	if e.Absolute > 0 && e.Relative > 0 {
		return q, errors.New("a time error is either absolute or relative")
	}
	if e.Absolute > 0 {
		ticks := new(big.Int).Mul(big.NewInt(e.Absolute), new(big.Int).SetUint64(resolution))
		if ticks.Quo(ticks, big.NewInt(1e9)); !ticks.IsInt64() || ticks.Int64() > 1<<40 {
			return q, errors.New("the time error is too large")
		}
		q.unit = 2*ticks.Uint64() + 1
	}
	if e.Relative > 0 {
		q.part = uint64(math.Ceil(2 / e.Relative))
		q.keep = uint(bits.Len64(q.part-1)) + 1
	}
	return q, q.check()
}

// check reports a quantiser that a file cannot have.
func (q quantiser) check() error {
	if q.unit%2 == 0 || q.unit > 1<<42 || q.keep > 48 || q.keep == 1 || q.keep > 0 && q.unit > 1 {
		return pack.ErrDamaged
	}
	return nil
}

// A roundedClock turns times into codes and back; the time after the last code is now, the
// recorded one is true.
type roundedClock struct {
	quantiser
	begun         bool
	now, recorded int64
	worst, sum    uint64 // errors in ticks
}

// encode returns the code of the next time and moves on to it.
func (r *roundedClock) encode(t int64) uint64 {
	var code uint64
	switch {
	case r.keep > 0:
		code = r.relative(t)
	case r.unit > 1:
		d := t - r.now + int64(r.unit/2)
		q := d / int64(r.unit)
		if d%int64(r.unit) < 0 {
			q--
		}
		code = uint64(q)
	default:
		code = uint64(t - r.now)
	}
	r.decode(code)
	r.recorded, r.begun = t, true
	e := uint64(max(t-r.now, r.now-t))
	r.worst, r.sum = max(r.worst, e), r.sum+e
	return code
}

// relative returns the code of a step that may be off by twice 1/part: one half for
// correcting the error so far, the other for rounding.
func (r *roundedClock) relative(t int64) uint64 {
	d := t - r.recorded
	if d < 0 || d > 1<<61 || !r.begun {
		return 1<<63 | uint64(t-r.now)
	}
	half := d / int64(r.part)
	v := uint64(d + min(max(r.recorded-r.now, -half), half))
	n := uint(bits.Len64(v))
	if n <= r.keep {
		return v
	}
	k := n - r.keep
	v = (v + 1<<(k-1)) >> k // may become one bit longer
	if v == 1<<r.keep {
		v, k = v>>1, k+1
	}
	return uint64(k)<<(r.keep-1) + v
}

// decode moves on to the time of a code and returns it.
func (r *roundedClock) decode(code uint64) int64 {
	switch {
	case r.keep == 0:
		r.now += int64(code * r.unit)
	case code>>63 != 0:
		r.now += int64(code<<1) >> 1
	default:
		if k := code >> (r.keep - 1); k > 1 {
			code = (code - (k-1)<<(r.keep-1)) << ((k - 1) & 63)
		}
		r.now += int64(code)
	}
	return r.now
}
