package tracetest

import (
	"math"
	"strconv"
	"strings"

	"tracekit/trace"
)

// events reads a line of events into a batch.
func (p *parser) events(b *trace.Batch, words []word) error {
	for len(words) > 0 {
		n := 0
		for n < len(words) && (words[n].value != separator || words[n].quoted) {
			n++
		}
		if n > 0 {
			if err := p.event(b, words[:n]); err != nil {
				return err
			}
		}
		words = words[min(n+1, len(words)):]
	}
	return nil
}

// event reads TIME KIND …
func (p *parser) event(b *trace.Batch, words []word) error {
	time, err := parseInt(words[0])
	if err != nil {
		return err
	}
	if len(words) < 2 {
		return words[0].errorf("an event has a time and a kind")
	}
	kind, err := parseKind(words[1])
	if err != nil {
		return err
	}
	args, err := p.attrs(b, words[2:])
	if err != nil {
		return err
	}
	switch kind.Table() {
	case trace.TableFlow:
		return p.flow(b, time, kind, words[1], args)
	case trace.TableP2P:
		return p.p2p(b, time, kind, args)
	case trace.TableColl:
		return p.coll(b, time, kind, args)
	case trace.TableMetric:
		return p.metric(b, time, words[1], args)
	}
	return p.other(b, time, kind, args)
}

func parseKind(w word) (trace.Kind, error) {
	if k, ok := trace.KindByName(w.value); ok {
		return k, nil
	}
	if n, ok := strings.CutPrefix(w.value, "Kind("); ok {
		if k, err := strconv.ParseUint(strings.TrimSuffix(n, ")"), 10, 8); err == nil {
			return trace.Kind(k), nil
		}
	}
	return 0, w.errorf("unknown event %q", w.value)
}

// attrs takes the attributes off an event that is about to be added.
func (p *parser) attrs(b *trace.Batch, words []word) ([]word, error) {
	var rest []word
	for _, w := range words {
		if w.key != "attr" {
			rest = append(rest, w)
			continue
		}
		id, value, ok := strings.Cut(w.value, ":")
		if !ok {
			return nil, w.errorf("%q is not ID:TYPE:VALUE", w.value)
		}
		var attribute trace.AttributeID
		if err := parseNumber(&attribute, word{column: w.column, value: id}, 32); err != nil {
			return nil, err
		}
		typ, bits, err := parseValue(word{column: w.column, value: value})
		if err != nil {
			return nil, err
		}
		b.AddAttr(attribute, typ, bits)
	}
	return rest, nil
}

// flow keeps the open regions of the location, because the short form of calling contexts
// needs the enclosing one, and its Leave the same context again.
func (p *parser) flow(b *trace.Batch, time int64, kind trace.Kind, keyword word, args []word) error {
	if len(args) == 0 || args[0].key != "" || args[0].value == "" {
		return keyword.errorf("%s needs a region", kind)
	}
	region, err := p.region(args[0])
	if err != nil {
		return err
	}
	stack := &p.stacks[b.Location]
	context, unwind, short := trace.CallingContextID(trace.None), uint32(0), false
	args = args[1:]
	if len(args) == 1 && args[0].key == "" && strings.HasPrefix(args[0].value, "@") && kind == trace.KindEnter {
		if context, err = p.context(args[0], region, innermost(stack)); err != nil {
			return err
		}
		kind, unwind, args, short = trace.KindCallingContextEnter, 1, nil, true
	}
	fields := []trace.Field{field("context", (*uint32)(&context), trace.None), field("unwind", &unwind, 0)}
	if err := p.set(fields, args); err != nil {
		return err
	}
	if kind.Enters() {
		stack.Enter(region, visit{context, short})
	} else if n := stack.Leave(region); n > 0 {
		for range n - 1 {
			stack.Pop()
		}
		if v := stack.Pop(); v.short && kind == trace.KindLeave && len(args) == 0 {
			kind, context = trace.KindCallingContextLeave, v.context
		}
	}
	if context == trace.None && unwind == 0 && kind <= trace.KindLeave {
		b.AddFlow(time, kind, region)
	} else {
		b.AddContext(time, kind, region, context, unwind)
	}
	return nil
}

// A visit is a region that is entered and not left.
type visit struct {
	context trace.CallingContextID
	short   bool // the short form made the context, so a plain Leave leaves it
}

// innermost returns the context of the innermost visit that has one.
func innermost(stack *trace.CallStack[visit]) trace.CallingContextID {
	for i := stack.Len() - 1; i >= 0; i-- {
		if context := stack.At(i).context; context != trace.None {
			return context
		}
	}
	return trace.None
}

func (p *parser) p2p(b *trace.Batch, time int64, kind trace.Kind, args []word) error {
	r := trace.P2PRow{Time: time, Kind: kind, Peer: trace.None, Comm: defaultComm(namesMessage(kind))}
	args, err := p.comm(&r.Comm, args)
	if err != nil {
		return err
	}
	fields := []trace.Field{field(peerKey(kind), &r.Peer, trace.None), field("tag", &r.Tag, 0), field("bytes", &r.Bytes, 0),
		field("req", &r.Request, 0)}
	if err := p.set(fields, args); err != nil {
		return err
	}
	b.AddP2P(r)
	return nil
}

// comm takes the communicator off an event.
func (p *parser) comm(c *trace.CommID, args []word) ([]word, error) {
	var rest []word
	for _, w := range args {
		if w.key != "comm" {
			rest = append(rest, w)
			continue
		}
		byNumber := !w.quoted && (w.value == "none" || w.value != "" && w.value[0] >= '0' && w.value[0] <= '9')
		if id, ok := p.names.commIDs[strings.TrimPrefix(w.value, commPrefix)]; ok && !byNumber {
			*c = id
		} else if err := parseNumber(c, w, 32); err != nil {
			return nil, w.errorf("unknown communicator %q", w.value)
		}
	}
	return rest, nil
}

// coll: the operation is the first word, or op=NUMBER.
func (p *parser) coll(b *trace.Batch, time int64, kind trace.Kind, args []word) error {
	r := trace.CollRow{Time: time, Kind: kind, Comm: defaultComm(namesCollective(kind)), Root: trace.RootNone}
	args, err := p.comm(&r.Comm, args)
	if err != nil {
		return err
	}
	fields := []trace.Field{field("op", (*uint8)(&r.Op), 0), field("root", &r.Root, trace.None), field("sent", &r.Sent, 0),
		field("received", &r.Received, 0), field("req", &r.Request, 0)}
	for i := range args {
		switch w := &args[i]; {
		case w.key == "" && i == 0:
			if err := operation(w); err != nil {
				return err
			}
		case w.key == "root" && w.value == "self":
			w.value = strconv.Itoa(int(trace.RootSelf))
		case w.key == "root" && w.value == "thisgroup":
			w.value = strconv.Itoa(int(trace.RootThisGroup))
		}
	}
	if err := p.set(fields, args); err != nil {
		return err
	}
	b.AddColl(r)
	return nil
}

// operation replaces the name of a collective operation by op=number.
func operation(w *word) error {
	for op := range lastOp + 1 {
		if op.String() == w.value {
			w.key, w.value = "op", strconv.Itoa(int(op))
			return nil
		}
	}
	return w.errorf("unknown operation %q", w.value)
}

func (p *parser) metric(b *trace.Batch, time int64, keyword word, args []word) error {
	if len(args) < 2 || len(args) > 256 {
		return keyword.errorf("a metric event has a metric and 1 to 255 values")
	}
	var metric trace.MetricID
	if err := parseNumber(&metric, args[0], 32); err != nil {
		return err
	}
	var types []trace.ValueType
	var values []uint64
	for _, w := range args[1:] {
		t, v, err := parseValue(w)
		if err != nil {
			return err
		}
		types, values = append(types, t), append(values, v)
	}
	b.AddMetric(time, metric, types, values)
	return nil
}

// other: signed arguments are kept in two's complement, as in Other.
func (p *parser) other(b *trace.Batch, time int64, kind trace.Kind, args []word) error {
	values := make([]uint64, len(args))
	for i, w := range args {
		if n, err := strconv.ParseInt(w.value, 0, 64); err == nil && w.key == "" {
			values[i] = uint64(n)
		} else if w.key != "" {
			return w.errorf("unknown key %q", w.key)
		} else if values[i], err = strconv.ParseUint(w.value, 0, 64); err != nil {
			return w.errorf("%q is not a number", w.value)
		}
	}
	b.AddOther(time, kind, values...)
	return nil
}

// parseValue reads TYPE:VALUE.
func parseValue(w word) (trace.ValueType, uint64, error) {
	name, value, _ := strings.Cut(w.value, ":")
	t, err := parseType(name)
	if err != nil || w.key != "" {
		return 0, 0, w.errorf("%q is not TYPE:VALUE", w.value)
	}
	if bits, err := strconv.ParseUint(value, 0, 64); err == nil && (t != trace.TypeDouble || strings.HasPrefix(value, "0x")) {
		return t, bits, nil
	}
	if n, err := strconv.ParseInt(value, 10, 64); err == nil && t >= trace.TypeInt8 && t <= trace.TypeInt64 {
		return t, uint64(n), nil
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && t == trace.TypeDouble {
		return t, math.Float64bits(f), nil
	}
	return 0, 0, w.errorf("%q is no value of type %s", value, name)
}

func parseType(name string) (trace.ValueType, error) {
	for i, n := range typeNames {
		if n == name {
			return trace.ValueType(i), nil
		}
	}
	n, err := strconv.ParseUint(name, 10, 8)
	return trace.ValueType(n), err
}
