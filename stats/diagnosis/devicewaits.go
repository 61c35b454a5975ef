package diagnosis

import (
	"fmt"
	"slices"

	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// explains is the share of a longer wait for a device from which on the longer work of that device is its reason.
const explains = 0.5

// deviceWaits judges calls that make others wait and do nothing but wait for an accelerator. Where ranks wait longer than others, all
// such calls of these ranks are one candidate, which is about their devices.
func (f *finder) deviceWaits(rows []waitstate.Delay) (out []candidate) {
	var longer [][]candidate // by the ranks that wait longer
	for _, row := range rows {
		for _, c := range f.computing(row) {
			i := slices.IndexFunc(longer, func(l []candidate) bool { return slices.Equal(l[0].cause.Ranks, c.cause.Ranks) })
			switch {
			case c.slow == nil:
				out = append(out, c)
			case i < 0:
				longer = append(longer, []candidate{c})
			default:
				longer[i] = append(longer[i], c)
			}
		}
	}
	for _, waits := range longer {
		out = append(out, f.waitingLonger(waits))
	}
	return out
}

// waitingLonger joins the places at which the same ranks wait longer for their devices than others do, and says whether the devices
// work longer.
func (f *finder) waitingLonger(waits []candidate) candidate {
	slices.SortStableFunc(waits, byBound)
	c, ranks := waits[0], waits[0].cause.Ranks
	host, caused := comparison{}, c.text
	for i, w := range waits {
		host.here, host.there = host.here+w.slow[0].here, host.there+w.slow[0].there
		if i > 0 {
			c.add(w)
		}
	}
	in := c.slow[0].where
	if n := len(waits) - 1; n > 0 {
		in += " and " + words.Plural(n, "other call", "other calls")
		caused = fmt.Sprintf("Other ranks wait %s for them.", words.Time(c.cause.WaitsCausedNs))
	}
	who, their := fewRanks(ranks), one(ranks, "its device", "their devices")
	work, kernel, name := f.deviceWork(ranks)
	part := 1.0 // of what the ranks wait longer
	if work != (comparison{}) {
		c.cause.Evidence["device_work_ns"], c.cause.Evidence["device_work_of_others_ns"] = work.here, work.there
	}
	switch {
	case work.excess() >= explains*host.excess() && kernel.excess() > 0:
		part = min(1, work.excess()/host.excess())
		c.most(part * float64(c.bound))
		c.cause.Evidence["kernel_ns"], c.cause.Evidence["kernel_of_others_ns"] = kernel.here, kernel.there
		c.cause.Headline = fmt.Sprintf("The %s of %s %s slow in %s", one(ranks, "device", "devices"), who, one(ranks, "is", "are"),
			words.KernelName(name))
		c.text = fmt.Sprintf("It takes %s. Hosts wait for it in %s: %s.", kernel, in, host)
		c.mended = fmt.Sprintf("If %s were as fast as those of other ranks", their)
	default:
		c.cause.Headline = fmt.Sprintf("%s %s long for %s", words.Capital(who), one(ranks, "waits", "wait"), their)
		c.text = fmt.Sprintf("In %s: %s. ", in, host)
		if work == (comparison{}) {
			c.text += fmt.Sprintf("Work of %s is not recorded.", their)
		} else {
			c.text += fmt.Sprintf("Kernels and copies of %s are not the reason (%s): the wait begins earlier, work later, or communication lasts "+
				"longer.", their, work)
		}
		c.mended = fmt.Sprintf("If %s waited as long as other ranks", who)
	}
	c.text += " " + caused
	c.changes = nil
	for _, w := range waits {
		s := w.slow[0]
		c.changes = append(c.changes, whatif.Scale(s.at, 1-part*(1-s.there/s.here), ranks...))
	}
	c.slow = nil
	return c
}

// A comparison has a time of some ranks and of the other ones, means in ns.
type comparison struct{ here, there float64 }

func (c comparison) excess() float64 { return c.here - c.there }

func (c comparison) String() string {
	text := fmt.Sprintf("%s, other ranks %s", words.Time(int64(c.here)), words.Time(int64(c.there)))
	if c.here > c.there && c.there > 0 {
		text += fmt.Sprintf(" (%s)", factor(c.here/c.there))
	}
	return text
}

// deviceWork compares what the devices of some ranks execute with that of other ranks: everything, and the kernel or copy with the most
// excess. Communication is left out, since it waits for others.
func (f *finder) deviceWork(ranks []uint32) (all, most comparison, name string) {
	others := f.others(ranks)
	byName := make(map[string]*comparison)
	for i := range f.a.Devices {
		d := &f.a.Devices[i]
		_, here := slices.BinarySearch(ranks, uint32(d.Rank))
		_, there := slices.BinarySearch(others, uint32(d.Rank))
		for _, k := range d.Kernels {
			if k.Kind == trace.DeviceCommunication.String() || !here && !there {
				continue
			}
			c := byName[k.Name]
			if c == nil {
				c = new(comparison)
				byName[k.Name] = c
			}
			if here {
				c.here += float64(k.TimeNs)
			} else {
				c.there += float64(k.TimeNs)
			}
		}
	}
	mean := func(sum comparison) comparison {
		return comparison{sum.here / float64(len(ranks)), sum.there / float64(max(1, len(others)))}
	}
	for n, sum := range byName { // of whole numbers, so that their order does not matter
		all.here, all.there = all.here+sum.here, all.there+sum.there
		if c := mean(*sum); name == "" || c.excess() > most.excess() || c.excess() == most.excess() && n < name {
			most, name = c, n
		}
	}
	return mean(all), most, name
}
