package otf2

import (
	"fmt"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// careful decodes one record of any kind by its table, and sees to what is no record: the
// ends of chunks and of the file, and damage. It adds at most one event.
func (t *stream) careful() {
	if t.pos == len(t.data) {
		t.nextChunk()
		return
	}
	id, offset := t.data[t.pos], t.base+int64(t.pos)
	c := wire.Cursor{Data: t.data, Pos: t.pos + 1, BigEndian: t.bigEndian}
	switch id {
	case idEndOfChunk:
		c.Pos = len(t.data)
	case idEndOfFile, idEndOfBuffer:
		t.end()
	case idHeader:
		t.stop(&damage{trace.CodeCorrupt, offset, "", errHeaderHere})
	case idTimestamp:
		now := int64(c.Uint64())
		if c.Err == nil {
			if now < t.time && t.batch.First+uint64(t.events) > 0 {
				t.decreases(t.pos)
			}
			t.time = now
		}
	default:
		t.decode(id, offset, &c)
	}
	if c.Err != nil {
		t.short(id, offset, c.Err)
		return
	}
	t.pos = c.Pos
}

// end ends the location at the end-of-file mark at pos.
func (t *stream) end() {
	t.done, t.ended = true, true
	c := chunk{data: t.data, base: t.base}
	if at := c.trailing(t.pos); at >= 0 {
		t.note(trace.CodeTrailingData, at, "")
	}
}

// short ends the location at a record that its chunk does not hold or that does not hold
// its fields.
func (t *stream) short(id uint8, offset int64, err error) {
	d := &damage{trace.CodeCorrupt, offset, eventName(id), err}
	if !t.full && err == wire.ErrShort {
		d.code = trace.CodeTruncated
	}
	t.stop(d)
}

func eventName(id uint8) string {
	switch id {
	case idTimestamp:
		return "Timestamp"
	case idAttributes:
		return "AttributeList"
	}
	return eventRecords().recordName(id)
}

// decode decodes an event or an attribute list. Errors of the cursor are its caller's.
func (t *stream) decode(id uint8, offset int64, c *wire.Cursor) {
	layout := &t.layouts[id]
	if layout.noLength {
		layout.decode(c, &t.record)
		if c.Err == nil {
			t.add(trace.Kind(id), offset)
		}
		return
	}
	payload := prefixed(c)
	if c.Err != nil {
		return
	}
	inner := wire.Cursor{Data: payload, BigEndian: c.BigEndian}
	switch {
	case id == idAttributes:
		t.attributes(&inner, offset)
	case layout.name == "":
		t.note(trace.CodeUnknownRecord, offset, eventName(id))
		t.batch.Order = t.batch.Order[:t.events]
		t.batch.AddOther(t.time, trace.KindUnknown, uint64(id))
		t.events++
	default:
		if layout.decode(&inner, &t.record); inner.Err == nil {
			t.add(trace.Kind(id), offset)
		}
	}
	if inner.Err != nil {
		c.Fail(fmt.Errorf("%w", inner.Err)) // of the record, not of the chunk: never "truncated"
	}
}

// ref resolves a local reference to the dense identifier.
func (t *stream) ref(s space, local uint64, offset int64) uint32 {
	global := t.local.maps[s].get(local)
	id := t.source.ids[s].get(global)
	if id == trace.None && global != undefined {
		t.note(trace.CodeDanglingReference, offset, fmt.Sprintf("%s %d is not defined", spaceNames[s], global))
	}
	return id
}

// attributes reads an attribute list (section 3.2 of the format), which belongs to the
// event that follows.
func (t *stream) attributes(c *wire.Cursor, offset int64) {
	t.batch.Order = t.batch.Order[:t.events]
	for range c.Count(compressed(c, 4), 2) {
		attribute := compressed(c, 4)
		typ := trace.ValueType(c.Uint8())
		value := scalar(c, encAttr, uint64(typ))
		if c.Err != nil {
			return
		}
		if s := typeSpace(typ); s != noSpace {
			value = t.local.maps[s].get(value)
		}
		t.batch.AddAttr(trace.AttributeID(t.ref(spaceAttribute, attribute, offset)), typ, value)
	}
}

// add appends the decoded record to the batch.
func (t *stream) add(kind trace.Kind, offset int64) {
	t.batch.Order = t.batch.Order[:t.events]
	switch kind.Table() {
	case trace.TableFlow:
		t.publish()
		t.addFlow(kind, offset)
		t.flowRows++
	case trace.TableP2P:
		if t.p2p == nil {
			t.p2p = new(p2pColumns)
		}
		t.publish()
		t.addP2P(kind, offset)
		t.p2pRows++
	case trace.TableColl:
		if t.coll == nil {
			t.coll = new(collColumns)
		}
		t.publish()
		t.addColl(kind, offset)
		t.collRows++
	case trace.TableMetric:
		t.addMetric(offset)
	default:
		t.addOther(kind)
	}
	t.events++
}

func (t *stream) addFlow(kind trace.Kind, offset int64) {
	v := t.record.values
	if kind == trace.KindEnter || kind == trace.KindLeave {
		t.batch.AddFlow(t.time, kind, trace.RegionID(t.ref(spaceRegion, v[0], offset)))
		return
	}
	context := trace.CallingContextID(t.ref(spaceCallingContext, v[0], offset))
	region := trace.RegionID(trace.None)
	if context != trace.None {
		region = t.source.defs.CallingContexts[context].Region
	}
	t.batch.AddContext(t.time, kind, region, context, uint32(t.record.opt(1, 0)))
}

func (t *stream) addP2P(kind trace.Kind, offset int64) {
	v := t.record.values
	if len(v) == 1 {
		t.batch.AddRequest(t.time, kind, v[0])
		return
	}
	t.batch.AddP2P(trace.P2PRow{Time: t.time, Kind: kind, Peer: uint32(v[0]),
		Comm: trace.CommID(t.ref(spaceComm, v[1], offset)), Tag: uint32(v[2]), Bytes: v[3], Request: t.record.opt(4, 0)})
}

func (t *stream) addColl(kind trace.Kind, offset int64) {
	v := t.record.values
	row := trace.CollRow{Time: t.time, Kind: kind, Comm: trace.None, Root: trace.None}
	switch kind {
	case trace.KindNonBlockingCollectiveRequest:
		row.Request = v[0]
	case trace.KindCollectiveEnd, trace.KindNonBlockingCollectiveComplete:
		row.Op, row.Comm = trace.CollectiveOp(v[0]), trace.CommID(t.ref(spaceComm, v[1], offset))
		row.Root, row.Sent, row.Received, row.Request = uint32(v[2]), v[3], v[4], t.record.opt(5, 0)
	}
	t.batch.AddColl(row)
}

// addMetric appends the values straight to the columns: there may be one such event, with
// several values, beside every Enter and Leave. An event without values has one row of
// TypeNone, for every event of a batch is in a table.
func (t *stream) addMetric(offset int64) {
	metric := trace.MetricID(t.ref(spaceMetric, t.record.values[0], offset))
	t.order[t.events] = trace.TableMetric
	seq, m := t.batch.First+uint64(t.events), &t.batch.Metric
	list := t.record.list
	if len(list) == 0 {
		list = append(list, uint64(trace.TypeNone), 0)
	}
	for i := 0; i+1 < len(list); i += 2 {
		m.Seq = append(m.Seq, seq)
		m.Time = append(m.Time, t.time)
		m.Metric = append(m.Metric, metric)
		m.Member = append(m.Member, uint8(i/2))
		m.Type = append(m.Type, trace.ValueType(list[i]))
		m.Value = append(m.Value, list[i+1])
	}
}

// addOther appends an event whose arguments keep the file's identifiers, made global.
func (t *stream) addOther(kind trace.Kind) {
	r := &t.record
	for _, ref := range t.layouts[kind].refs {
		global := t.local.maps[ref.space]
		if ref.group {
			for j := range r.list {
				r.list[j] = global.get(r.list[j])
			}
		} else {
			r.values[ref.field] = global.get(r.values[ref.field])
		}
	}
	r.values = append(r.values, r.list...)
	if kind != trace.KindParameterString || !t.addInstant(r.values) {
		t.batch.AddOther(t.time, kind, r.values...)
	}
}
