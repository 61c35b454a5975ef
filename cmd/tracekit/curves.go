package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/plots"
	"tracekit/report/figure"
	"tracekit/stats/whatif"
)

// curves are the flags of curves of the run time over the network.
type curves struct {
	latency, bandwidth far
	format             plots.Format
}

// A far says how far a curve goes.
type far struct {
	asked bool
	to    float64 // ns that a message or a byte takes longer; 0: until the run is a tenth longer
}

// untilSlower is the value of a curve that ends where the run is a tenth longer.
const untilSlower = "auto"

func (c *curves) add(set *pflag.FlagSet) {
	flags.Var(set, &c.latency, farLatency(), "latency-curve", "", "run time by how much longer messages take, up to this `time` "+
		"(default: until the run is 10 % longer)")
	flags.Var(set, &c.bandwidth, farBandwidth(), "bandwidth-curve", "", "run time by how much longer each byte takes, down to this "+
		"`bandwidth` (default: likewise)")
	for _, name := range []string{"latency-curve", "bandwidth-curve"} {
		set.Lookup(name).NoOptDefVal = untilSlower
	}
}

func farLatency() flags.Kind[far] {
	return flags.Parsed(func(text string) (far, error) {
		d, err := time.ParseDuration(text)
		if text != untilSlower && (err != nil || d <= 0 || d > time.Hour) {
			return far{}, errors.New("want a time from 1ns to 1h")
		}
		return far{true, float64(d.Nanoseconds())}, nil
	})
}

func farBandwidth() flags.Kind[far] {
	return flags.Parsed(func(text string) (far, error) {
		if text == untilSlower {
			return far{asked: true}, nil
		}
		n, err := flags.ParseSize(strings.TrimSuffix(text, "/s"))
		if err != nil || n < 1 {
			return far{}, errors.New("want a size per second such as 1GB")
		}
		return far{true, 1e9 / float64(n)}, nil
	})
}

func (c *curves) asked() bool { return c.latency.asked || c.bandwidth.asked }

// check refuses what does not go together, and finds out whether -o is a picture of the curve.
func (c *curves) check(paths []string, out *cli.OutFlags) error {
	if _, err := os.Stat(paths[0]); c.asked() && len(paths) > 1 && err != nil {
		if _, err := time.ParseDuration(paths[0]); err == nil {
			return cli.Usagef("%s: no such trace; to end the curve there, write --latency-curve=%s", paths[0], paths[0])
		}
	}
	format, err := plots.FormatOf(out.Out)
	if err != nil {
		return nil
	}
	if c.latency.asked == c.bandwidth.asked {
		return cli.Usagef("-o %s draws one curve: give --latency-curve or --bandwidth-curve", out.Out)
	}
	c.format = format
	return picture(out).Validate()
}

// picture is the file of a picture, where that is what -o names.
func picture(out *cli.OutFlags) *cli.FileFlags {
	return &cli.FileFlags{Output: out.Out, Force: out.Force, Extensions: []string{"png", "svg"}}
}

// find finds the curves that are asked for, and draws one if -o asks for it.
func (c *curves) find(ctx context.Context, m, other *whatif.Model, changes []whatif.Change, doc *outcome.Whatif,
	out *cli.OutFlags) (err error) {
	if c.latency.asked {
		if doc.Latency, err = m.LatencyCurve(ctx, c.latency.to, changes...); err != nil {
			return err
		}
	}
	if c.bandwidth.asked {
		if doc.Bandwidth, err = m.BandwidthCurve(ctx, c.bandwidth.to, changes...); err != nil {
			return err
		}
	}
	if err := otherwise(ctx, doc, other, changes); err != nil {
		return err
	}
	return c.draw(ctx, doc, out)
}

// draw draws the curve that was found if -o asks for it.
func (c *curves) draw(ctx context.Context, doc *outcome.Whatif, out *cli.OutFlags) error {
	if c.format == "" {
		return nil
	}
	f, err := figure.Curve(doc)
	if err != nil {
		return err
	}
	doc.Picture = out.Out
	return picture(out).Draw(ctx, f)
}

// otherwise notes how long the run is at the ends of the curves if sends of which it does not tell behave the other way.
func otherwise(ctx context.Context, doc *outcome.Whatif, other *whatif.Model, changes []whatif.Change) error {
	for _, end := range []struct {
		curve            *whatif.Curve
		latency, perByte float64 // of one ns more
	}{{doc.Latency, 1, 0}, {doc.Bandwidth, 0, 1}} {
		c := end.curve
		if c == nil || other == nil {
			continue
		}
		p, err := other.Predict(ctx, append(slices.Clone(changes), other.Slower(c.To*end.latency, c.To*end.perByte))...)
		if err != nil {
			return err
		}
		c.Otherwise = &p.RunTime
	}
	return nil
}

// A slowdown is by how much each message, and each of its bytes, takes longer, in ns.
type slowdown struct{ latency, perByte float64 }

// parseSlowdown reads latency=+TIME, byte=+TIME or both.
func parseSlowdown(value string) (s slowdown, err error) {
	for _, part := range strings.Split(value, ",") {
		key, text, _ := strings.Cut(part, "=+")
		to := map[string]*float64{"latency": &s.latency, "byte": &s.perByte}[key]
		ns, err := parseNanoseconds(text)
		if to == nil || err != nil {
			return slowdown{}, errors.New("want latency=+TIME, byte=+TIME or both, with a comma between them, such as latency=+1us,byte=+0.1ns")
		}
		*to = ns
	}
	return s, nil
}

// parseNanoseconds reads a time that may be less than 1 ns, at most an hour.
func parseNanoseconds(text string) (float64, error) {
	for _, u := range []struct {
		suffix string
		ns     float64
	}{{"ps", 1e-3}, {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}} {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err == nil && !(v >= 0 && v*u.ns <= float64(time.Hour)) || math.IsNaN(v) {
			err = fmt.Errorf("%s is not valid", text)
		}
		return v * u.ns, err
	}
	return 0, errors.New("no unit")
}
