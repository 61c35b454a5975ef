package samples

import (
	"fmt"
	"math"
	"slices"
)

// Options says what is to be generated.
type Options struct {
	Program    string   // one of Programs
	Ranks      int      // at least 2
	Iterations int      // of the program's main loop, at least 1
	Seed       uint64   // of the variation of compute times; the same seed gives the same trace
	Threads    int      // per rank; 0 or 1: none but the master
	Compute    int64    // ticks of a computation; 0: 10,000
	Bytes      int64    // of a message; 0: 1,024. More than 8,192 make a send wait for its receiver
	Growth     Growth   // of Compute with the number of ranks
	Steady     bool     // all computations take equally long; else they vary by up to a tenth
	Network    *Network // nil: latency 1,500 ticks, 4 bytes per tick
	Plant      Plant
}

// A Growth is a law by which every computation grows with the number p of ranks: Compute is what
// it takes times the law's value.
type Growth string

// The laws. The zero value is GrowthConstant.
const (
	GrowthConstant Growth = ""       // 1
	GrowthLog      Growth = "log"    // log2(p)
	GrowthSqrt     Growth = "sqrt"   // p^(1/2)
	GrowthLinear   Growth = "linear" // p
	GrowthNLogN    Growth = "nlogn"  // p·log2(p)
)

// at returns the value of the law; ok is false if there is no such law.
func (g Growth) at(ranks int) (factor float64, ok bool) {
	p := float64(ranks)
	switch g {
	case GrowthConstant:
		return 1, true
	case GrowthLog:
		return math.Log2(p), true
	case GrowthSqrt:
		return math.Sqrt(p), true
	case GrowthLinear:
		return p, true
	case GrowthNLogN:
		return p * math.Log2(p), true
	}
	return 0, false
}

// A Network says how long messages are on their way.
type Network struct {
	Latency      int64 // ticks
	BytesPerTick int64 // 0: bytes take no time
}

// Plant says what goes wrong. In every iteration, each planted wait is an episode of its
// own after a barrier, between ranks that change with the iteration; amounts are in ticks.
type Plant struct {
	LateSender    int64 // a receiver waits that long
	LateReceiver  int64 // a synchronous sender waits that long
	WrongOrder    int64 // a receiver waits that long for the second of two messages; needs 3 ranks
	EarlyReduce   int64 // the root of a Reduce waits that long
	LateBroadcast int64 // all but the root of a Bcast wait that long
	Imbalance     int64 // the last rank computes that much longer in each computation
	Record        int64 // a record of a process costs that much before it is made; not the first, and not what threads fork
	CriticalPath  int64 // one rank after another computes that long while all wait at a barrier

	Odd     int   // iteration, from 1, in which rank 0 sends a message more to rank 1; 0: none
	Lost    int   // in all: messages without a receive, and as many receives without a send
	Skew    int64 // clocks differ by up to that many ticks
	Drift   int64 // clocks run fast by up to that many parts per million
	Offsets OffsetMode
}

// An OffsetMode says which clock offsets are recorded.
type OffsetMode string

// The modes. The zero value is OffsetsRight.
const (
	OffsetsRight OffsetMode = ""      // they make the true time of every local time
	OffsetsNone  OffsetMode = "none"  // there are none
	OffsetsWrong OffsetMode = "wrong" // those of another process
)

// The limits of options.
const (
	maxRanks   = 1 << 20
	maxTicks   = 1 << 40
	maxSkew    = 900_000_000 // so that local times are positive
	maxLost    = 1_000_000   // so that their tags differ
	eagerLimit = 8192
)

// withDefaults replaces the zeros that stand for defaults.
func (o Options) withDefaults() Options {
	if o.Compute == 0 {
		o.Compute = 10_000
	}
	if o.Bytes == 0 {
		o.Bytes = 1024
	}
	if o.Network == nil {
		o.Network = &Network{Latency: 1500, BytesPerTick: 4}
	}
	o.Threads = max(o.Threads, 1)
	return o
}

// check reports the first option that makes no sense.
func (o Options) check() error {
	if !slices.ContainsFunc(Programs(), func(p Program) bool { return p.Name == o.Program }) {
		return fmt.Errorf("unknown program %q; 'tracekit generate --help' lists them", o.Program)
	}
	if o.Ranks < 2 || o.Ranks > maxRanks {
		return fmt.Errorf("%d ranks: there must be 2 to %d", o.Ranks, maxRanks)
	}
	if o.Iterations < 1 {
		return fmt.Errorf("%d iterations: there must be at least 1", o.Iterations)
	}
	if o.Threads < 1 || o.Threads > 1024 {
		return fmt.Errorf("%d threads: there may be 1 to 1024", o.Threads)
	}
	switch factor, ok := o.Growth.at(o.Ranks); {
	case !ok:
		return fmt.Errorf("unknown growth %q", o.Growth)
	case factor*float64(o.Compute) > maxTicks:
		return fmt.Errorf("compute is %d on %d ranks with growth %s: together it may be %d", o.Compute, o.Ranks, o.Growth, int64(maxTicks))
	}
	p := o.Plant
	for _, a := range []struct {
		name  string
		value int64
	}{{"compute", o.Compute}, {"bytes", o.Bytes}, {"late sender", p.LateSender}, {"late receiver", p.LateReceiver},
		{"wrong order", p.WrongOrder}, {"early reduce", p.EarlyReduce}, {"late broadcast", p.LateBroadcast},
		{"latency", o.Network.Latency}, {"bytes per tick", o.Network.BytesPerTick}, {"imbalance", p.Imbalance},
		{"record", p.Record}, {"critical path", p.CriticalPath}, {"lost", int64(p.Lost)}, {"skew", p.Skew}} {
		if a.value < 0 || a.value > maxTicks {
			return fmt.Errorf("%s is %d: it may be 0 to %d", a.name, a.value, int64(maxTicks))
		}
	}
	switch {
	case p.WrongOrder > 0 && o.Ranks < 3:
		return fmt.Errorf("wrong order needs 3 ranks")
	case p.Skew > maxSkew || p.Lost > maxLost:
		return fmt.Errorf("skew is %d, lost is %d: they may be %d and %d", p.Skew, p.Lost, maxSkew, maxLost)
	case p.Odd < 0 || p.Odd > o.Iterations:
		return fmt.Errorf("the odd iteration is %d: there are %d", p.Odd, o.Iterations)
	case p.Drift < 0 || p.Drift > 100_000:
		return fmt.Errorf("drift is %d: it may be 0 to 100000 parts per million", p.Drift)
	case p.Offsets != OffsetsRight && p.Offsets != OffsetsNone && p.Offsets != OffsetsWrong:
		return fmt.Errorf("unknown offsets %q", p.Offsets)
	}
	return nil
}
