package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/stats/measurement"
)

const measurementUsage = "what measuring `costs`: photon, impulse, buffer, or costs such as event=1us,header=3.6us"

// Measurement takes costs of measurement: a name, if any, and costs that replace its own. Without a name costs are those of base.
func Measurement(base measurement.Costs) flags.Kind[measurement.Costs] {
	k := flags.Parsed(func(text string) (measurement.Costs, error) { return ParseCosts(text, base) })
	known, _ := measurement.Names()
	values := known
	for _, key := range measurement.Keys {
		values = append(values, key.Name+"=")
	}
	return k.Offering(values...)
}

// AddMeasurement adds the flag --measurement, whose costs are those of base until it is given.
func AddMeasurement(set *pflag.FlagSet, costs *measurement.Costs, base measurement.Costs) {
	*costs = base
	flags.Var(set, costs, Measurement(base), "measurement", "", measurementUsage)
}

// ParseCosts reads costs as the flag does.
func ParseCosts(text string, base measurement.Costs) (measurement.Costs, error) {
	c := base
	if text == "" {
		return c, nil
	}
	documented, full := true, c
	for i, part := range strings.Split(text, ",") {
		key, value, set := strings.Cut(part, "=")
		if !set && i == 0 {
			var ok bool
			if c, documented, ok = measurement.Named(key); !ok {
				return c, errors.New("want " + wantCosts())
			}
			full = c
			continue
		}
		if err := setCost(&c, key, value); err != nil {
			return c, err
		}
		documented = true
	}
	if !documented {
		return c, fmt.Errorf("what %s costs is not documented; measure it and add event=TIME", c.Model)
	}
	if c.Buffer != full.Buffer && c.Flush == full.Flush && full.Buffer > 0 { // as fast as before
		c.Flush *= float64(c.Buffer) / float64(full.Buffer)
	}
	return c, nil
}

// setCost sets one cost.
func setCost(c *measurement.Costs, key, value string) error {
	for _, k := range measurement.Keys {
		if k.Name != key {
			continue
		}
		switch k.Unit {
		case measurement.Time:
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 || d > time.Hour {
				return fmt.Errorf("want a time such as 1us for %s", key)
			}
			k.Set(c, float64(d))
		default:
			n, err := flags.ParseSize(strings.TrimSuffix(value, "/s"))
			if err != nil || n < 1 {
				return fmt.Errorf("want at least 1 byte for %s", key)
			}
			k.Set(c, float64(n))
		}
		return nil
	}
	return errors.New("want " + wantCosts())
}

// wantCosts says what costs look like.
func wantCosts() string {
	known, undocumented := measurement.Names()
	var keys []string
	for _, k := range measurement.Keys {
		keys = append(keys, k.Name)
	}
	return fmt.Sprintf("a name (%s, or a recorder: %s) and costs NAME=VALUE of %s, with commas between them", strings.Join(known, ", "),
		strings.Join(undocumented, ", "), strings.Join(keys, ", "))
}
